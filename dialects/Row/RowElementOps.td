//===- RowElementOps.td - Rows, their elements and memory -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_ELEMENT_OPS_TD
#define ROW_ELEMENT_OPS_TD

include "RowOpBase.td"

//===----------------------------------------------------------------------===//
// Access to stored rows
//===----------------------------------------------------------------------===//

def Row_ReadOp : Row_Op<"read", [AttrSizedOperandSegments]> {
  let summary = "read a segment of a row";
  let description = [{
    ```mlir
    %x = row.read %kv[%start] {align = 16} : memref<?xbf16> -> vector<512xbf16>
    %s = row.read %page[%at] if %valid {interleave = 2} : memref<?xi8> -> vector<8xf8E8M0FNU>
    %l = row.read %scores[%start] length %keys {multiple = 8} : memref<?xf32> -> vector<4096xf32>
    ```

    The elements that are stored from `offset` on, in elements of the base; a base of
    bytes holds any elements. Where `valid` is false nothing is read and every element is
    zero. With `length` only the first `length` elements exist: the others have no meaning.
    `align` is the alignment of the first element in bytes, `multiple` a number that
    divides the length. Element i is stored at (i mod n) * (N / n) + i / n for
    `interleave` n. `readable` elements may be read, padding included. Clauses:

    * read_c1: the base has bytes or elements of the result;
    * read_c2: `align` is a power of two, and `multiple` and `interleave` are positive;
    * read_c3: `interleave` divides the extent;
    * read_c4: `readable` is 0 or not less than the extent.
  }];
  let arguments = (ins Arg<Row_Buffer, "", [MemRead]>:$base, Index:$offset,
                       Optional<I1>:$valid, Optional<Index>:$length,
                       DefaultValuedAttr<I64Attr, "1">:$align,
                       DefaultValuedAttr<I64Attr, "1">:$interleave,
                       DefaultValuedAttr<I64Attr, "0">:$readable,
                       DefaultValuedAttr<I64Attr, "1">:$multiple);
  let results = (outs Row_AnyRow:$value);
  let assemblyFormat = [{
    $base `[` $offset `]` (`if` $valid^)? (`length` $length^)? attr-dict
    `:` type($base) `->` type($value)
  }];
  let extraClassDeclaration = [{
    /// Elements of the result.
    int64_t getExtent() { return getValue().getType().getNumElements(); }
  }];
  let hasVerifier = 1;
}

def Row_WriteOp : Row_Op<"write"> {
  let summary = "write a segment of a row";
  let description = [{
    ```mlir
    row.write %y, %out[%start] {align = 16} : vector<512xbf16>, memref<?xbf16>
    row.write %s, %page[%at] per 64 {pad = 1} : vector<7xf8E8M0FNU>, memref<?xi8>
    ```

    The reverse of `row.read`. With `per` every value stands for that many elements of
    the row; value i is stored at (i mod n) * (N / n) + i / n for `interleave` n, and
    `pad` zero bytes follow the last one. Clauses:

    * write_c1: the base has bytes or elements of the value;
    * write_c2: `align` is a power of two, `group` and `interleave` are positive, and
      `pad` is not negative;
    * write_c3: `interleave` divides the extent.
  }];
  let arguments = (ins Row_AnyRow:$value, Arg<Row_Buffer, "", [MemWrite]>:$base, Index:$offset,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$align,
                       DefaultValuedAttr<I64Attr, "1">:$interleave,
                       DefaultValuedAttr<I64Attr, "0">:$pad);
  let assemblyFormat = [{
    $value `,` $base `[` $offset `]` (`per` $group^)? attr-dict `:` type($value) `,` type($base)
  }];
  let hasVerifier = 1;
}

def Row_GatherElementsOp : Row_Op<"gather_elements", [Pure]> {
  let summary = "elements of a row by index";
  let description = [{
    ```mlir
    %scores = row.gather_elements %gate at %ids : vector<256xf32>, vector<8xi32> -> vector<8xf32>
    ```

    Element `indices[i]` of `row` for every i. What an index that is negative or not
    below the extent of the row gives has no meaning; `row.where_valid` replaces it. Only
    the elements that are asked for are computed. Clause gather_elements_c1: there is one element
    per index, of the row's type.
  }];
  let arguments = (ins Row_AnyRow:$row, Row_Vector<[I32]>:$indices);
  let results = (outs Row_AnyRow:$elements);
  let assemblyFormat = [{
    $row `at` $indices attr-dict `:` type($row) `,` type($indices) `->` type($elements)
  }];
  let hasVerifier = 1;
}

def Row_ConstantOp : Row_Op<"constant", [
    Pure, Row_SameOnFragments,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "a number that has a name";
  let description = [{
    ```mlir
    %0 = row.constant "page_bytes" = 37440
    ```

    A number of the layout of a record or a page, which the emitted source names. No
    pattern folds it, so the name stays.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$value);
  let results = (outs Index:$result);
  let assemblyFormat = "$name `=` $value attr-dict";
}

def Row_BytesOp : Row_Op<"bytes", [Pure]> {
  let summary = "memory as bytes";
  let description = [{
    The memory of `base`, which is only read, as bytes.
  }];
  let arguments = (ins Row_Buffer:$base);
  let results = (outs MemRefRankOf<[I8], [1]>:$memory);
  let assemblyFormat = "$base attr-dict `:` type($base) `to` type($memory)";
}

def Row_MayWriteOp : Row_Op<"may_write", [Pure]> {
  let summary = "whether an entry may be written";
  let description = [{
    Whether `condition` holds and page `page` is below `pages`. Where the condition holds
    alone, an entry beyond the pool was asked for: the host target and kernels compiled
    with checks say so.
  }];
  let arguments = (ins I1:$condition, Index:$page, Index:$pages);
  let results = (outs I1:$valid);
  let assemblyFormat = "$condition `,` $page `of` $pages attr-dict";
}

def Row_IsLastOp : Row_Op<"is_last"> {
  let summary = "whether no later element has this value";
  let description = [{
    Whether none of `base[at + 1]` to `base[count - 1]` equals `base[at]`. A negative element
    counts as different from all others. Every row runs the op once, each with its own `at`.
  }];
  let arguments = (ins Arg<MemRefRankOf<[I32], [1]>, "", [MemRead]>:$base, Index:$at, Index:$count);
  let results = (outs I1:$last);
  let assemblyFormat = "$base `[` $at `]` `of` $count attr-dict `:` type($base)";
}

//===----------------------------------------------------------------------===//
// Element by element: legal on rows and on fragments
//===----------------------------------------------------------------------===//

def Row_SwapNibblesOp : Row_Op<"swap_nibbles",
    [Pure, Row_SameOnFragments, AllTypesMatch<["source", "swapped"]>]> {
  let summary = "swap the elements of every packed 4-bit pair";
  let description = [{
    Turns pairs stored high nibble first into pairs stored low nibble first. Clause
    swap_nibbles_c1: elements have 4 bits, and their number is even.
  }];
  let arguments = (ins Row_Elements<[AnyInteger, AnyFloat]>:$source);
  let results = (outs Row_Elements<[AnyInteger, AnyFloat]>:$swapped);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Row_OneNaNOp : Row_Op<"one_nan", [Pure, Row_SameOnFragments, Elementwise,
    AllTypesMatch<["source", "numbers"]>]> {
  let summary = "the same numbers, with one NaN";
  let description = [{
    Every NaN becomes 0x7FFFFFFF, as arithmetic makes it: for what was only copied to f32.
  }];
  let arguments = (ins Row_Elements<[F32]>:$source);
  let results = (outs Row_Elements<[F32]>:$numbers);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Row_EncodeOp : Row_Op<"encode", [Pure, Row_SameOnFragments, Elementwise,
    SameOperandsAndResultShape]> {
  let summary = "round f32 to a narrow type, saturating";
  let description = [{
    To f8E4M3FN, f4E2M1FN or f8E8M0FNU: to nearest, ties to even, or with `up` to the next
    quantised value that is not smaller. What is beyond the largest finite value becomes
    that value, infinities too. NaN becomes NaN (0x7F, 0xFF), in f4E2M1FN 7. Below 2^-127
    an f8E8M0FNU has code 0. `ties_down` rounds ties towards zero, `drop_negative_zero`
    makes the code of -0 that of 0. Clauses:

    * encode_c1: f8E8M0FNU is rounded `up`; f4E2M1FN is not;
    * encode_c2: `ties_down` and `drop_negative_zero` are for f4E2M1FN.
  }];
  let arguments = (ins Row_Elements<[F32]>:$source, UnitAttr:$up,
                       UnitAttr:$ties_down, UnitAttr:$drop_negative_zero);
  let results = (outs Row_Elements<[AnyFloat]>:$payload);
  let assemblyFormat = [{
    $source (`up` $up^)? (`ties_down` $ties_down^)? (`drop_negative_zero` $drop_negative_zero^)?
    attr-dict `:` type($source) `to` type($payload)
  }];
  let hasVerifier = 1;
}

def Row_WhereValidOp : Row_Op<"where_valid",
    [Pure, Row_SameOnFragments, Elementwise, AllTypesMatch<["values", "kept"]>]> {
  let summary = "values whose index is one";
  let description = [{
    Every value whose index is between 0 and `count` - 1, and `otherwise` in place of the
    others.
  }];
  let arguments = (ins Row_Elements<[F32]>:$values,
                       AnyTypeOf<[I32, Row_Elements<[I32]>]>:$indices, I64Attr:$count,
                       DefaultValuedAttr<F32Attr, "0.0f">:$otherwise);
  let results = (outs Row_Elements<[F32]>:$kept);
  let assemblyFormat = [{
    $values `at` $indices `below` $count (`otherwise` $otherwise^)? attr-dict
    `:` type($values) `,` type($indices)
  }];
}

def Row_ActivationOp : Row_Op<"activation",
    [Pure, Row_SameOnFragments, Elementwise, AllTypesMatch<["source", "result"]>]> {
  let summary = "a function of every element";
  let description = [{
    `sqrt_softplus` and `sigmoid` as `dsv4.gate` has them, and `exp`, e to a power that is
    not positive, as `dsv4.compress` has it, NaN of NaN.
  }];
  let arguments = (ins Row_ActivationKind:$kind, Row_Elements<[F32]>:$source);
  let results = (outs Row_Elements<[F32]>:$result);
  let assemblyFormat = "$kind $source attr-dict `:` type($source)";
}

//===----------------------------------------------------------------------===//
// Of a whole row
//===----------------------------------------------------------------------===//

def Row_ExpandOp : Row_Op<"expand", [Pure]> {
  let summary = "repeat scales over the elements they cover";
  let description = [{
    ```mlir
    %s = row.expand %scales : vector<7xf32> to vector<448xf32>
    ```

    Every value stands for N / G consecutive elements of the row. Clauses:

    * expand_c1: the element types agree;
    * expand_c2: the extent of the scales divides that of the row.
  }];
  let arguments = (ins Row_Vector<[AnyFloat]>:$scales);
  let results = (outs Row_Vector<[AnyFloat]>:$row);
  let assemblyFormat = "$scales attr-dict `:` type($scales) `to` type($row)";
  let hasVerifier = 1;
}

def Row_ReduceOp : Row_Op<"reduce", [Pure]> {
  let summary = "reduce groups of a row to f32";
  let description = [{
    ```mlir
    %amax = row.reduce max_abs %x per 64 : vector<448xbf16> to vector<7xf32>
    ```

    Every `group` consecutive elements of a row become one value:

    * `sum`: of f32, as a binary tree of neighbours, an odd one out going up a level as it
      is; every sum is rounded to nearest even;
    * `max_abs`: the largest magnitude, infinity counting as the largest finite value of
      the element type; NaN is ignored;
    * `max_abs_nan`: the same, but NaN if there is one;
    * `max_nan`: the largest of f32, NaN if there is one.

    Clause reduce_c1: `group` divides the row, and the result has one f32 per group.
  }];
  let arguments = (ins Row_ReduceKind:$kind, Row_Vector<[BF16, F32]>:$source, I64Attr:$group);
  let results = (outs Row_Vector<[F32]>:$reduced);
  let assemblyFormat = "$kind $source `per` $group attr-dict `:` type($source) `to` type($reduced)";
  let extraClassDeclaration = [{
    /// Whether the result is one number of the whole row.
    bool isStatistic() { return getReduced().getType().getNumElements() == 1; }
  }];
  let hasVerifier = 1;
}

def Row_HadamardOp : Row_Op<"hadamard", [Pure, AllTypesMatch<["source", "transformed"]>]> {
  let summary = "Walsh-Hadamard transform of a row";
  let description = [{
    For h = 1, 2, 4, ..., elements i and i + h (bit h of i clear) become their sum and
    their difference, rounded to nearest even. Clause hadamard_c1: the row has a power of
    two of elements.
  }];
  let arguments = (ins Row_Vector<[F32]>:$source);
  let results = (outs Row_Vector<[F32]>:$transformed);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Row_JoinOp : Row_Op<"join", [Pure]> {
  let summary = "one row of two segments";
  let description = [{
    The elements of `first`, then those of `second`. Clause join_c1: the element types
    agree, and the extent is the sum.
  }];
  let arguments = (ins Row_AnyRow:$first, Row_AnyRow:$second);
  let results = (outs Row_AnyRow:$joined);
  let assemblyFormat = [{
    $first `,` $second attr-dict `:` type($first) `,` type($second) `to` type($joined)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Results of regions
//===----------------------------------------------------------------------===//

def Row_YieldOp : Row_Op<"yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["MapOp", "WindowReduceOp", "WindowOp", "WindowSegmentOp"]>]> {
  let summary = "what a region gives";
  let arguments = (ins Variadic<AnyTypeOf<[AnyInteger, AnyFloat, Row_AnyRow]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // ROW_ELEMENT_OPS_TD
