//===- DSV4QuantizeOps.td - Ops between values and their codes -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_QUANTIZE_OPS_TD
#define DSV4_QUANTIZE_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

def DSV4_DequantizeOp : DSV4_Op<"dequantize", [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getAxisBounds"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["getScaleGroups", "allowsMaskedTail"]>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface,
        ["getDemandedAccesses", "getProvidedAccesses"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "decode a quantised tensor";
  let description = [{
    ```mlir
    func.func @decode(%data: tensor<?x512xf4E2M1FN>, %group: tensor<?x32xf8E4M3FN>,
                      %row: tensor<?xf32>, %out: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      %values = dsv4.dequantize %data scales(%group, %row : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
          outs(%out : tensor<?x512xbf16>)
          {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>}
          : tensor<?x512xf4E2M1FN>
      return %values : tensor<?x512xbf16>
    }
    ```

    Multiplies quantised values by their scales.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `data` | that of the format, `[..., N]` | quantised values |
    | `scales` | one operand per level of the format | `per g`: `[..., N / g]`; `per row`: `[...]`; `per tensor`: `[1]` |
    | `outs` | bf16 or f32 of the shape of `data` | the values |

    ```
    result(r, e) = ((data(r, e) * scale_0(r, e / group_0)) * scale_1(...)) ...
    ```

    Every product is rounded to fp32, and the last value to nearest even into the result. A NaN
    becomes 0x7FFF in bf16 and 0x7FFFFFFF in f32. Data without scales whose type is that of the
    result is copied bit by bit.

    The scales of the first level may be in one of the [layouts](#layouts-of-scales) in
    which `dsv4.quantize` writes them:

    ```mlir
    func.func @swizzled(%data: tensor<?x7168xf4E2M1FN>, %scales: tensor<?x448xf8E4M3FN>,
                        %s: tensor<1xf32>, %out: tensor<?x7168xbf16>) -> tensor<?x7168xbf16> {
      %values = dsv4.dequantize %data
          scales swizzle_128x4(%scales, %s : tensor<?x448xf8E4M3FN>, tensor<1xf32>)
          outs(%out : tensor<?x7168xbf16>)
          {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>}
          : tensor<?x7168xf4E2M1FN>
      return %values : tensor<?x7168xbf16>
    }
    ```

    The tensor has an extent R of its own for rows. A launch refuses it if R is below the rows of
    `data`, or is no multiple of the rows of a swizzle.

    f16 is accepted wherever bf16 is.

    Clauses:

    * dequantize_c1: `data` has rank >= 1, the element type of the format, and a constant last
      extent between 1 and 65,536;
    * dequantize_c2: there is one scale operand per level, of the type of the level;
    * dequantize_c3: a level `per g` has the shape of `data` with the last extent divided by g,
      which must divide it, a constant; `per row` the shape without the last axis; `per tensor` the
      shape [1], also a constant;
    * dequantize_c4: the result is bf16 or f32 of the shape of `data`;
    * dequantize_c5: 4-bit data has an even last extent;
    * dequantize_c6: `scales` other than `row_major` need `data` of rank 2 and a first level per
      group, of f8E8M0FNU for `packed`, of an 8-bit type for swizzles, and of 8 or 32 bits for
      `column_major`; a constant R of a swizzle is a multiple of its rows.

    Source: NVFP4 (E2M1 with E4M3 per 16), OCP MX v1.0 (E8M0 per 32).
  }];
  let arguments = (ins
    DSV4_Operand<"data", AnyRankedTensor>:$data,
    Variadic<DSV4_Operand<"scales", AnyRankedTensor>>:$scales, DSV4_Operand<"out", DSV4_Rows>:$out,
    DSV4_FormatAttr:$format,
    DefaultValuedAttr<DSV4_ScaleLayout, "::dsv4::ScaleLayout::RowMajor">:$scale_layout
  );
  let results = (outs DSV4_Rows:$values);
  let assemblyFormat = [{
    $data (`scales` ($scale_layout^)? `(` $scales^ `:` type($scales) `)`)?
    `outs` `(` $out `:` type($out) `)`
    `` custom<Dict>(attr-dict, "\"format\"", "getKeywordAttributes()") `:` type($data)
    custom<TiedResult>(ref(type($out)), type($values))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    /// The attributes that are not in the dictionary of the syntax.
    static std::array<::llvm::StringRef, 1> getKeywordAttributes() { return {"scale_layout"}; }
    /// The layout of scale operand `index`.
    ScaleLayout getLayoutOfScales(unsigned index) {
      return index == 0 ? getScaleLayout() : ScaleLayout::RowMajor;
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

def DSV4_QuantizeOp : DSV4_Op<"quantize", [
    Pure, DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getAxisBounds"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface,
        ["getScaleGroups", "getResultGroup", "getResultLayout"]>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getProvidedAccesses"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "quantise values to payload and scales";
  let description = [{
    ```mlir
    func.func @quantize(%x: tensor<?x512xbf16>, %data: tensor<?x448xf8E4M3FN>,
                        %scales: tensor<?x7xf8E8M0FNU>)
        -> (tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>) {
      %q, %s = dsv4.quantize %x columns [0, 448]
          outs(%data, %scales : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
          {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
           recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
          : tensor<?x512xbf16>
      return %q, %s : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>
    }
    ```

    Quantises rows: finds a scale for every group of values, and divides the values by it. A format
    without scales only rounds:

    ```mlir
    func.func @cast(%x: tensor<?x576xbf16>, %out: tensor<?x64xf8E4M3FN>) -> tensor<?x64xf8E4M3FN> {
      %rope = dsv4.quantize %x columns [512, 64] outs(%out : tensor<?x64xf8E4M3FN>)
          {format = #dsv4.format<f8E4M3FN>} : tensor<?x576xbf16>
      return %rope : tensor<?x64xf8E4M3FN>
    }
    ```

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., N]` | values |
    | `given` | f32 `[1]` | the scale of a level `per tensor`, or its inverse |
    | `outs` | as `dsv4.dequantize` takes them | quantised values, then the scales of each level that is not `per tensor` |

    `columns [begin, count]` selects `count` columns of every row from column `begin` on; without it
    the whole row is quantised. The attribute `format` defines the stored types. The quantisation
    recipe `recipe` defines how scales and values are computed (`#dsv4.quantizer`).

    A format without levels has elements of f8E4M3FN and no recipe. A value becomes the nearest
    f8E4M3FN, ties to even. Beyond 448, infinity included, it becomes 448 with its sign; NaN becomes
    0x7F. A zero keeps its sign, and so does a value that rounds to zero.

    A format has one level, `per g` or `per row`, of f8E8M0FNU, f8E4M3FN or f32, or `per tensor`, of
    f32 and [given](#a-given-scale-alone). Or it has two: the
    first of f8E4M3FN `per g`, the second of f32. The operand `given` is a second level `per
    tensor`. It is clamped to between the smallest f32 normal and the largest f32, and NaN counts as
    the smallest normal. A second level `per row` is computed first: by the recipe from the amax of
    the row, with 448 * `max` instead of `max`, and with the smallest f32 normal as the only floor.
    It is never NaN.

    f16 is accepted wherever bf16 is.

    #### A given scale alone

    ```mlir
    func.func @scaled(%x: tensor<?x512xbf16>, %inverse: tensor<1xf32>,
                      %data: tensor<?x512xf8E4M3FN>) -> tensor<?x512xf8E4M3FN> {
      %q = dsv4.quantize %x given inverse(%inverse : tensor<1xf32>)
          outs(%data : tensor<?x512xf8E4M3FN>)
          {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<>}
          : tensor<?x512xbf16>
      return %q : tensor<?x512xf8E4M3FN>
    }
    ```

    A format whose only level is f32 `per tensor` stores no scales. With the scale s, clamped as
    above, a value x becomes the nearest f8E4M3FN, as in a format without levels, of

    | written | number |
    |---|---|
    | `given(%s)`, `payload = divide` | x / s |
    | `given(%s)`, `payload = reciprocal` | x * fp32(1 / s) |
    | `given inverse(%r)` | x * r, where r is clamped in the same way |

    each operation rounded to fp32. Of the recipe nothing else may be given.

    #### Layouts of scales

    `scales` says where the tensor of the first level has the scale of row r and group g, for G
    groups per row. The tensor has an extent R of its own for rows, which may be larger, not
    smaller, and is a multiple of 128 or 8 in a swizzle. A launch compares them:

    | `scales` | shape of the tensor | element of the scale |
    |---|---|---|
    | `row_major`, the default | `[rows, G]` | `[r, g]` |
    | `column_major` | `[G, R]` | `[g, r]` |
    | `packed` | i32 `[G4, R]`, G4 = ceil(G / 4) | byte g mod 4 of `[g / 4, r]`, the lowest is 0 |
    | `swizzle_128x4` | `[R, 4 * G4]` | ((r / 128) * G4 + g / 4) * 512 + (r mod 32) * 16 + (r mod 128) / 32 * 4 + g mod 4 |
    | `swizzle_8x4` | `[R, 4 * G4]` | ((r / 8) * G4 + g / 4) * 32 + (r mod 8) * 4 + g mod 4 |

    A column is padded to a multiple of 4 elements by an R that is one. Groups from G to 4 * G4 - 1
    of a row become 0. Nothing is written to rows from `rows` on: they keep what they have. A
    swizzled tensor has no strides. G, G4 and the 1 of `given` are constants of the types.

    ```mlir
    func.func @swizzled(%x: tensor<?x7168xbf16>, %s: tensor<1xf32>, %data: tensor<?x7168xf4E2M1FN>,
                        %scales: tensor<?x448xf8E4M3FN>)
        -> (tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>) {
      %q, %b = dsv4.quantize %x given(%s : tensor<1xf32>) scales swizzle_128x4
          outs(%data, %scales : tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>)
          {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
           recipe = #dsv4.quantizer<>} : tensor<?x7168xbf16>
      return %q, %b : tensor<?x7168xf4E2M1FN>, tensor<?x448xf8E4M3FN>
    }
    ```

    Clauses:

    * quantize_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent between 1 and 65,536;
    * quantize_c2: the columns are within the rows of `x`;
    * quantize_c3: the format has f8E4M3FN or f4E2M1FN elements, the even one of a pair in the low
      nibble, and levels as above, whose groups divide the columns, or f8E4M3FN elements and no
      levels or one of f32 `per tensor`;
    * quantize_c4: the destinations have the shapes and types that `dsv4.dequantize` takes
      (dequantize_c3, c5);
    * quantize_c5: a format with levels has a recipe, which fits it (quantizer_c2, c3), and has
      nothing but `payload` where the only level is `per tensor`; one without levels has none;
    * quantize_c6: `given`, f32 of shape [1], is present if and only if a level is `per tensor`;
      `inverse` needs that level to be the only one, and `payload = divide`;
    * quantize_c7: `scales` other than `row_major` need an `x` of rank 2 and a first level per
      group, of f8E8M0FNU for `packed` and of an 8-bit type for swizzles; R is at least the rows of
      `x`, and in a swizzle a multiple of its rows.

    Source: the official `act_quant` and `fp4_act_quant`; docs/Quantisation.md has the recipes of
    public engines.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, Optional<DSV4_Operand<"given", TensorOf<[F32]>>>:$given,
    Variadic<DSV4_Operand<"outs", AnyRankedTensor>>:$outs,
    DSV4_FormatAttr:$format, OptionalAttr<DSV4_QuantizerAttr>:$recipe,
    OptionalAttr<DenseI64ArrayAttr>:$columns,
    DefaultValuedAttr<DSV4_ScaleLayout, "::dsv4::ScaleLayout::RowMajor">:$scale_layout,
    UnitAttr:$inverse
  );
  let results = (outs Variadic<AnyRankedTensor>:$payload_and_scales);
  let assemblyFormat = [{
    $x (`columns` $columns^)?
    (`given` (`inverse` $inverse^)? `(` $given^ `:` type($given) `)`)?
    (`scales` $scale_layout^)?
    custom<Clause>("\"outs\"", "\"columns given scales\"")
    `(` $outs `:` type($outs) `)`
    `` custom<Dict>(attr-dict, "\"format recipe\"", "getKeywordAttributes()") `:` type($x)
    custom<TiedVariadic>(ref(type($outs)), type($payload_and_scales))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// The attributes that are not in the dictionary of the syntax.
    static std::array<::llvm::StringRef, 4> getKeywordAttributes() {
      return {"columns", "scale_layout", "inverse", "operandSegmentSizes"};
    }
    /// First column and number of columns.
    std::pair<int64_t, int64_t> getColumnRange();
    /// Whether the only scale is the given one, of all values.
    bool hasGivenScaleAlone() {
      ::llvm::ArrayRef<ScaleAttr> levels = getFormat().getScales();
      return levels.size() == 1 && levels[0].getGroup() == FieldAttr::kPerTensor;
    }
    /// Rows that a swizzle of `layout` mixes; 1 for other layouts.
    static int64_t getRowBlock(::dsv4::ScaleLayout layout) {
      return layout == ::dsv4::ScaleLayout::Swizzle128x4 ? 128
             : layout == ::dsv4::ScaleLayout::Swizzle8x4 ? 8
                                                         : 1;
    }
  }];
  let hasVerifier = 1;
}

#endif // DSV4_QUANTIZE_OPS_TD
