//===- DSV4Attrs.td - Records, formats, policies -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_ATTRS_TD
#define DSV4_ATTRS_TD

include "DSV4Dialect.td"
include "DSV4ScheduleAttrs.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class DSV4_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<DSV4_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

def DSV4_Placement : I32EnumAttr<"Placement", "where a field of a record is stored", [
    I32EnumAttrCase<"Row", 0, "row">,
    I32EnumAttrCase<"Tail", 1, "tail">,
    I32EnumAttrCase<"Array", 2, "array">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_FieldAttr : DSV4_Attr<"Field", "field"> {
  let summary = "one stored field of a record";
  let description = [{
    `extent` elements of type `element`, stored

    * `in row`: with the other row fields of the entry, entries one after another
      from the start of the page;
    * `in tail`: with the other tail fields of the entry, after all rows of the
      page;
    * `in array`: in a separate array of its own, `[pages, page, extent]`.

    The keywords of a field stand in this order, without commas between them:

    ```
    field ::= `<` string `:` extent `x` type `in` (`row` | `tail` | `array`)
              (`scales` string `per` (number | `row` | `tensor`))?
              (`interleave` number)? (`at` byte)? (`pad` bytes)? `high_first`? `>`
    ```

    Fields of one placement follow each other in the order they are listed; `at` gives an explicit
    byte offset instead, `pad` adds unused bytes after the field. A field of i32 is metadata, such
    as the position of an entry's token: an append writes it, a gather does not read it. Any other
    field is data, or it `scales` an earlier data field: one scale `per` that many elements,
    `per row` (one for the entry) or `per tensor` (one for the whole cache, in an array of one
    element). Scales multiply in the order of their fields. `interleave n` stores scale `s` of
    `extent` at `(s mod n) * (extent / n) + s / n`. Of a packed 4-bit pair the even element is the
    low nibble unless `high_first` is given.
  }];
  let parameters = (ins
    StringRefParameter<"name">:$name,
    "int64_t":$extent,
    "::mlir::Type":$element,
    EnumParameter<DSV4_Placement>:$placement,
    OptionalParameter<"::mlir::StringAttr", "the field it scales">:$scales,
    DefaultValuedParameter<"int64_t", "0", "elements a scale covers">:$group,
    DefaultValuedParameter<"int64_t", "1">:$interleave,
    DefaultValuedParameter<"int64_t", "-1", "explicit byte offset">:$offset,
    DefaultValuedParameter<"int64_t", "0", "bytes after the field">:$pad,
    DefaultValuedParameter<"bool", "false">:$highFirst
  );
  let assemblyFormat = [{
    `<` $name `:` $extent `x` $element `in` $placement ``
    custom<FieldTail>($scales, $group, $interleave, $offset, $pad, $highFirst) `>`
  }];
  let extraClassDeclaration = [{
    /// `group` of a scale for the whole entry or for the whole cache.
    static constexpr int64_t kPerRow = ::dsv4::layout::Field::kPerRow;
    static constexpr int64_t kPerTensor = ::dsv4::layout::Field::kPerTensor;

    bool isScale() const { return static_cast<bool>(getScales()); }
    bool isMetadata() const { return getElement().isInteger(32); }
    /// Whether it is a part of the row of values.
    bool isData() const { return !isScale() && !isMetadata(); }
    /// Bytes of the stored elements, without padding.
    int64_t getByteSize() const;
  }];
  let genVerifyDecl = 1;
}

def DSV4_RecordAttr : DSV4_Attr<"Record", "record"> {
  let summary = "the layout of one entry of a cache";
  let description = [{
    The fields of an entry, in storage order, and the alignment a page is padded
    to (`align`, bytes). The data fields, in that order, are the entry's row of
    values; scales and metadata are not part of it.

    ```
    record ::= name | `[` field (`,` field)* `]` (`,` `align` bytes)?
    ```

    Clauses:

    * record_c1: names are unique, and there is at least one data field;
    * record_c2: a scale field scales an earlier data field;
    * record_c3: its group divides the extent of that field, and its extent is
      the number of groups;
    * record_c4: fields do not overlap;
    * record_c5: an element starts at a multiple of its size in every entry;
    * record_c6: 4-bit fields hold an even number of elements;
    * record_c7: a row has at most 65,536 values;
    * record_c8: a record has at most 64 fields.

    The records of public engines have names. `#dsv4.record<v4_584>` stands for the
    whole list of fields; see `docs/Records.md`.
  }];
  let parameters = (ins
    ArrayRefParameter<"FieldAttr">:$fields,
    DefaultValuedParameter<"int64_t", "1", "page alignment, bytes">:$align
  );
  let assemblyFormat = "`<` custom<RecordBody>($fields, $align) `>`";
  let extraClassDeclaration = [{
    /// The maximum number of values per row (record_c7).
    static constexpr int64_t kMaxRowExtent =
        ::dsv4::layout::Record::kMaxRowExtent;

    /// The record that public sources call `name`, or null;
    /// `layout::getKnownRecordNames` lists them.
    static RecordAttr getKnown(::mlir::MLIRContext *context,
                               ::llvm::StringRef name);
    /// The name of this record in public sources, or empty.
    ::llvm::StringRef getKnownName() const;
    /// Number of values in the row of an entry.
    int64_t getRowExtent() const;
    /// The field of that name, or null.
    FieldAttr getField(::llvm::StringRef name) const;
    /// Scales of data field `name`, in the order they multiply.
    ::llvm::SmallVector<FieldAttr> getScalesOf(::llvm::StringRef name) const;
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Quantisation formats of tensors
//===----------------------------------------------------------------------===//

def DSV4_ScaleAttr : DSV4_Attr<"Scale", "scale"> {
  let summary = "one level of scales";
  let description = [{
    One scale of type `element` `per` that many consecutive elements of a row,
    `per row` or `per tensor`.
  }];
  let parameters = (ins "::mlir::Type":$element, "int64_t":$group);
  let assemblyFormat = "`<` $element `per` custom<Group>($group) `>`";
}

def DSV4_FormatAttr : DSV4_Attr<"Format", "format"> {
  let summary = "how a quantised tensor stores values";
  let description = [{
    Elements of type `element` and, outermost last, the scale levels that
    multiply them: value = ((element * scale_0) * scale_1) ..., each product
    rounded to fp32. `high_first` puts the even element of a packed 4-bit pair in
    the high nibble. It comes last, after a comma:

    ```
    format ::= `<` type (`,` `[` (scale (`,` scale)*)? `]`)? (`,` `high_first`)? `>`
    scale  ::= `<` type `per` (number | `row` | `tensor`) `>`
    ```

    Clauses:

    * format_c1: an element is f4E2M1FN, f8E4M3FN, i4, bf16, f16 or f32, a scale
      f8E8M0FNU, f8E4M3FN, bf16, f16 or f32;
    * format_c2: groups are positive;
    * format_c3: only elements of 4 bits are `high_first`.
  }];
  let parameters = (ins
    "::mlir::Type":$element,
    OptionalArrayRefParameter<"ScaleAttr">:$scales,
    DefaultValuedParameter<"bool", "false">:$highFirst
  );
  let assemblyFormat =
      "`<` $element `` custom<FormatTail>($scales, $highFirst) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Quantisation recipes
//===----------------------------------------------------------------------===//

def DSV4_FloorKind : I32EnumAttr<"FloorKind", "what a floor bounds from below", [
    I32EnumAttrCase<"Amax", 0, "amax">,
    I32EnumAttrCase<"Scale", 1, "scale">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_Quotient : I32EnumAttr<"Quotient", "how a quotient is computed", [
    I32EnumAttrCase<"Divide", 0, "divide">,
    I32EnumAttrCase<"Reciprocal", 1, "reciprocal">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_ScaleRounding : I32EnumAttr<"ScaleRounding", "how a scale is rounded", [
    I32EnumAttrCase<"Nearest", 0, "nearest">,
    I32EnumAttrCase<"Up", 1, "up">,
    I32EnumAttrCase<"UpPow2", 2, "up_pow2">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_Ties : I32EnumAttr<"Ties", "how a value halfway between two payload values is rounded", [
    I32EnumAttrCase<"Even", 0, "even">,
    I32EnumAttrCase<"Down", 1, "down">
  ]> {
  let cppNamespace = "::dsv4";
}

/// A number of f32, which may be written without its type.
class DSV4_F32Parameter<string default>
    : DefaultValuedParameter<"::mlir::FloatAttr",
        "::mlir::FloatAttr::get(::mlir::Float32Type::get($_ctxt), " # default # ")"> {
  let parser = "parseF32Parameter($_parser)";
}

def DSV4_QuantizerAttr : DSV4_Attr<"Quantizer", "quantizer"> {
  let summary = "the recipe that turns values into payload and scales";
  let description = [{
    For a group of values, with `max` the largest value of the element type (448
    for f8E4M3FN, 6 for f4E2M1FN):

    ```
    amax   = the largest |x|, NaN ignored, infinity as the largest finite value
             of the type of x (bf16, f16 or f32)
    amax   = max(amax, floor)                           floor_of = amax
    scale  = amax / max  |  amax * fp32(1 / max)        limit = divide | reciprocal
    scale  = max(scale, floor)                          floor_of = scale
    scale  = scale / outer                              a format of two levels
    stored = scale rounded to its type                  rounding
    payload = round(x / s | x * fp32(1 / s))            payload = divide | reciprocal
             with s = stored, or max(fp32(stored * outer), 2^-126)
    ```

    Every operation rounds to fp32. `rounding` is `nearest` (ties to even), `up`
    (the next value of the type that is not smaller) or `up_pow2` (the next power
    of two that is not smaller). A scale is never zero and never infinite: it is
    at least the smallest positive and at most the largest finite value of its
    type, an f32 scale at least 2^-126. Payload values saturate at `max`, are rounded
    to nearest with `ties` to even or towards zero, and keep the sign of a zero
    unless `drop_negative_zero` is given. The payload of an infinity is `max` with its
    sign. A NaN stays visible: as an f8E4M3FN payload it is NaN (0x7F); for f4E2M1FN,
    which has none, the scale of its group becomes NaN (0x7F, 0xFF or 0x7FFFFFFF) and
    every payload value of the group 7. Clauses:

    * quantizer_c1: the floor is 0 (none) or a positive, finite f32, written with
      or without `: f32`;
    * quantizer_c2: only f4E2M1FN elements have `ties = down` or
      `drop_negative_zero` (checked where the recipe meets a format);
    * quantizer_c3: `up_pow2` is for f8E8M0FNU, which has no other, and f32
      scales, `up` for f8E4M3FN scales (checked where the recipe meets a format).

    Source: the official `act_quant` and `fp4_act_quant`, and the recipes of public
    engines; `docs/Quantisation.md` has the attribute of each.
  }];
  let parameters = (ins
    DSV4_F32Parameter<"0.0">:$floor,
    DefaultValuedParameter<"FloorKind", "FloorKind::Amax">:$floor_of,
    DefaultValuedParameter<"Quotient", "Quotient::Divide">:$limit,
    DefaultValuedParameter<"ScaleRounding", "ScaleRounding::Nearest">:$rounding,
    DefaultValuedParameter<"Quotient", "Quotient::Divide">:$payload,
    DefaultValuedParameter<"Ties", "Ties::Even">:$ties,
    DefaultValuedParameter<"bool", "false">:$drop_negative_zero
  );
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Why this recipe cannot make codes of `element` with scales of `scaleType`
    /// (quantizer_c2, quantizer_c3), or an empty string.
    std::string explainMisfit(::mlir::Type element, ::mlir::Type scaleType) const;
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Specialisation
//===----------------------------------------------------------------------===//

def DSV4_PolicyKind : I32EnumAttr<"PolicyKind", "when the extent of a dim is fixed", [
    I32EnumAttrCase<"Exact", 0, "exact">,
    I32EnumAttrCase<"Bucket", 1, "bucket">,
    I32EnumAttrCase<"Dynamic", 2, "dynamic">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_PolicyAttr : DSV4_Attr<"Policy", "policy"> {
  let summary = "how a named dim is specialised";
  let description = [{
    `exact` makes the extent a constant of the kernel. `bucket` keeps it a run-time
    argument that never exceeds the next power of two. `dynamic` assumes nothing, so
    a kernel is never compiled again for another extent. `multiple` promises that a
    run-time extent is a multiple of it, so that rows of that many elements begin at
    aligned addresses. A launch with another extent is an error. Clause policy_c1:
    `multiple` is a power of two up to 4096, and 1 with `exact`.

    ```mlir
    #dsv4.policy<bucket, multiple = 4>
    ```
  }];
  let parameters = (ins EnumParameter<DSV4_PolicyKind>:$kind,
                        DefaultValuedParameter<"int64_t", "1">:$multiple);
  let assemblyFormat = "`<` $kind (`,` `multiple` `=` $multiple^)? `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Strides
//===----------------------------------------------------------------------===//

def DSV4_StridesAttr : DSV4_Attr<"Strides", "strides"> {
  let summary = "where the rows of an argument are, or the pages of a cache";
  let description = [{
    ```mlir
    func.func private @read(%q: tensor<?x64x512xbf16> {dsv4.strides = #dsv4.strides<[?, 1024]>},
                            %kv: !dsv4.cache<64 x <v4_584>> {dsv4.strides = #dsv4.strides<[?]>},
                            %mask: tensor<?x4096xi1> {dsv4.strides = #dsv4.strides<[?], align = 1>})
    ```

    Stands on an argument of a function, as `dsv4.strides`. It gives the distance in bytes of
    neighbours along every axis of a tensor but the last, whose elements follow each other: `?`
    is a number of the launch, any other a constant. A tensor with one axis may have the stride of
    its elements, if the program reads them one by one. The stride of a cache is that of its pages,
    in each of its buffers. A second, constant stride is that of entries that are farther apart
    than they are long. A cache of several buffers may have an array of this attribute, with one
    for each buffer. Without this attribute an argument is contiguous.

    `align` is the alignment, in bytes, of the first element and of every stride. It limits the
    vectors that rows are read and written with. Less than 16 is for views that begin anywhere.
    A stride of 0 repeats a row; it is for arguments that are only read. Clauses:

    * strides_c1: `align` is a power of two up to 16;
    * strides_c2: a constant stride is between 0 and 2^31 - 1, and a multiple of `align`;
    * strides_c3: there is one stride for every axis of a tensor but the last, or for an only axis,
      or one or two for a cache;
    * strides_c4: `align` is a multiple of the bytes of every stored element of the buffer;
    * strides_c5: a constant stride of a cache is at least the bytes of a page, and the cache has
      one buffer with pages, because pages of several buffers differ in size;
    * strides_c6: an array has one of this attribute for each buffer with pages, those of rows and
      tails first;
    * strides_c7: the stride of entries is a constant, at least the bytes of an entry, and the
      record has no tails in that buffer.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$strides,
                        DefaultValuedParameter<"int64_t", "16">:$align);
  let assemblyFormat = [{
    `<` `[` custom<StrideList>($strides) `]` (`,` `align` `=` $align^)? `>`
  }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

def DSV4_ViewAttr : DSV4_Attr<"View", "view"> {
  let summary = "the slice of another argument that an argument is";
  let description = [{
    ```mlir
    func.func private @read(
        %qkv: tensor<?x1536xbf16> {dsv4.name = "qkv", dsv4.dims = ["tokens", ""]},
        %kv: tensor<?x512xbf16> {dsv4.name = "qkv_slice", dsv4.dims = ["tokens", ""],
                                 dsv4.strides = #dsv4.strides<[3072]>,
                                 dsv4.view = #dsv4.view<of = 0, axes = [0, 1],
                                                        offsets = ["0", "1024"]>})
    ```

    Stands on an argument of a function, as `dsv4.view`, where `dsv4-specialize` has replaced a
    `tensor.extract_slice`. No caller passes such an argument: its elements are those of argument
    `of`, from `offsets` on, which has one number of elements for every axis of that argument.
    An offset is arithmetic over the extents of the launch, as in a launch plan. `axes` are the
    axes of argument `of` that are left; along others the slice has one index. Only programs that
    `dsv4-specialize` has read have views: write `tensor.extract_slice`. Clauses:

    * view_c1: `of` is the number of a tensor argument before this one, without `dsv4.view`;
    * view_c2: `axes` ascend, and there is one for every axis of the argument;
    * view_c3: there is an offset for every axis of argument `of`, each an expression over extents;
    * view_c4: the argument has `dsv4.strides`, and the element type of argument `of`;
    * view_c5: an extent that is not constant has the name of a dim of another argument.
  }];
  let parameters = (ins "unsigned":$of, ArrayRefParameter<"int64_t">:$axes,
                        ArrayRefParameter<"::mlir::StringAttr">:$offsets);
  let assemblyFormat = [{
    `<` `of` `=` $of `,` `axes` `=` `[` $axes `]` `,` `offsets` `=` `[` $offsets `]` `>`
  }];
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

def DSV4_CompressAlgorithm : I32EnumAttr<"CompressAlgorithm",
    "how windows are pooled, written as in `algorithm online`", [
    I32EnumAttrCase<"Windowed", 0, "windowed">,
    I32EnumAttrCase<"Online", 1, "online">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_LengthsPer : I32EnumAttr<"LengthsPer",
    "whether lengths are per token or per request, written as in `lengths per token`", [
    I32EnumAttrCase<"Token", 0, "token">,
    I32EnumAttrCase<"Request", 1, "request">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_ScaleLayout : I32EnumAttr<"ScaleLayout",
    "where a tensor has the scales of rows, written as in `scales packed`", [
    I32EnumAttrCase<"RowMajor", 0, "row_major">,
    I32EnumAttrCase<"ColumnMajor", 1, "column_major">,
    I32EnumAttrCase<"Packed", 2, "packed">,
    I32EnumAttrCase<"Swizzle128x4", 3, "swizzle_128x4">,
    I32EnumAttrCase<"Swizzle8x4", 4, "swizzle_8x4">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_TopkOrder : I32EnumAttr<"TopkOrder",
    "the order of the selected elements, written as in `order sorted`", [
    I32EnumAttrCase<"Unordered", 0, "unordered">,
    I32EnumAttrCase<"Sorted", 1, "sorted">,
    I32EnumAttrCase<"IndexAscending", 2, "index_ascending">
  ]> {
  let cppNamespace = "::dsv4";
}

def DSV4_GateFunction : I32EnumAttr<"GateFunction",
    "the function from a logit to a score, written as in `function sigmoid`", [
    I32EnumAttrCase<"SqrtSoftplus", 0, "sqrt_softplus">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
    I32EnumAttrCase<"Softmax", 2, "softmax">
  ]> {
  let cppNamespace = "::dsv4";
}

#endif // DSV4_ATTRS_TD
