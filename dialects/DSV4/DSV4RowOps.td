//===- DSV4RowOps.td - Ops that compute one row from another -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_ROW_OPS_TD
#define DSV4_ROW_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

def DSV4_DequantizeOp : DSV4_Op<"dequantize", [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
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

    f16 is accepted wherever bf16 is.

    Clauses:

    * dequantize_c1: `data` has rank >= 1, the element type of the format, and a constant last
      extent between 1 and 65,536;
    * dequantize_c2: there is one scale operand per level, of the type of the level;
    * dequantize_c3: a level `per g` has the shape of `data` with the last extent divided by g,
      which must divide it; `per row` the shape without the last axis; `per tensor` the shape [1];
    * dequantize_c4: the result is bf16 or f32 of the shape of `data`;
    * dequantize_c5: 4-bit data has an even last extent.

    Source: NVFP4 (E2M1 with E4M3 per 16), OCP MX v1.0 (E8M0 per 32).
  }];
  let arguments = (ins
    DSV4_Operand<"data", AnyRankedTensor>:$data,
    Variadic<DSV4_Operand<"scales", AnyRankedTensor>>:$scales, DSV4_Operand<"out", DSV4_Rows>:$out,
    DSV4_FormatAttr:$format
  );
  let results = (outs DSV4_Rows:$values);
  let assemblyFormat = [{
    $data (`scales` `(` $scales^ `:` type($scales) `)`)?
    `outs` `(` $out `:` type($out) `)` attr-dict `:` type($data)
    custom<TiedResult>(ref(type($out)), type($values))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

def DSV4_QuantizeOp : DSV4_Op<"quantize", [
    Pure, DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["getScaleGroups", "getResultGroup"]>,
    DSV4_FusionOpInterface,
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
    | `given` | f32 `[1]` | the scale of a level `per tensor` |
    | `outs` | as `dsv4.dequantize` takes them | quantised values, then the scales of each level that is not `per tensor` |

    `columns [begin, count]` selects `count` columns of every row from column `begin` on; without it
    the whole row is quantised. The attribute `format` defines the stored types. The quantisation
    recipe `recipe` defines how scales and values are computed (`#dsv4.quantizer`).

    A format without levels has elements of f8E4M3FN and no recipe. A value becomes the nearest
    f8E4M3FN, ties to even. Beyond 448, infinity included, it becomes 448 with its sign; NaN becomes
    0x7F. A zero keeps its sign, and so does a value that rounds to zero.

    A format has one level, `per g` or `per row`, of f8E8M0FNU, f8E4M3FN or f32. Or it has two: the
    first of f8E4M3FN `per g`, the second of f32. The operand `given` is a second level `per
    tensor`. It is clamped to between the smallest f32 normal and the largest f32, and NaN counts as
    the smallest normal. A second level `per row` is computed first: by the recipe from the amax of
    the row, with 448 * `max` instead of `max`, and with the smallest f32 normal as the only floor.
    It is never NaN.

    f16 is accepted wherever bf16 is.

    Clauses:

    * quantize_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent between 1 and 65,536;
    * quantize_c2: the columns are within the rows of `x`;
    * quantize_c3: the format has f8E4M3FN or f4E2M1FN elements, the even one of a pair in the low
      nibble, and levels as above, whose groups divide the columns, or f8E4M3FN elements and no
      levels;
    * quantize_c4: the destinations have the shapes and types that `dsv4.dequantize` takes
      (dequantize_c3, c5);
    * quantize_c5: a format with levels has a recipe, which fits it (quantizer_c2, c3); one without
      levels has none;
    * quantize_c6: `given`, f32 of shape [1], is present if and only if a level is `per tensor`.

    Source: the official `act_quant` and `fp4_act_quant`; docs/Quantisation.md has the recipes of
    public engines.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, Optional<DSV4_Operand<"given", TensorOf<[F32]>>>:$given,
    Variadic<DSV4_Operand<"outs", AnyRankedTensor>>:$outs,
    DSV4_FormatAttr:$format, OptionalAttr<DSV4_QuantizerAttr>:$recipe,
    OptionalAttr<DenseI64ArrayAttr>:$columns
  );
  let results = (outs Variadic<AnyRankedTensor>:$payload_and_scales);
  let assemblyFormat = [{
    $x (`columns` $columns^)? (`given` `(` $given^ `:` type($given) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict `:` type($x)
    custom<TiedVariadic>(ref(type($outs)), type($payload_and_scales))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// First column and number of columns.
    std::pair<int64_t, int64_t> getColumnRange();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// rms_norm, rope, hadamard
//===----------------------------------------------------------------------===//

class DSV4_RowToRowOp<string mnemonic> : DSV4_Op<mnemonic, [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["getScaleGroups", "allowsMaskedTail"]>,
    DSV4_FusionOpInterface,
    DSV4_ResultContractInterface
  ]> {
  code inits = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let extraClassDeclaration = inits;
  let results = (outs DSV4_Rows:$rows);
  let hasVerifier = 1;
}

def DSV4_RMSNormOp : DSV4_RowToRowOp<"rms_norm"> {
  let summary = "divide rows by their root mean square";
  let description = [{
    ```mlir
    func.func @norm(%x: tensor<?x512xbf16>, %weight: tensor<512xbf16>, %out: tensor<?x512xbf16>)
        -> tensor<?x512xbf16> {
      %rows = dsv4.rms_norm %x weight(%weight : tensor<512xbf16>)
          outs(%out : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
      return %rows : tensor<?x512xbf16>
    }
    ```

    Divides every row by its root mean square.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., N]` | rows |
    | `weight` | bf16 or f32 `[N]` | multiplies each element; 1 if it is left out |
    | `outs` | bf16 or f32 of the shape of `x` | rows |

    ```
    r    = 1 / sqrt(sum(x * x) / N + eps)
    y(e) = (x(e) * r) * weight(e)
    ```

    Every operation rounds to nearest even in fp32, and `y` is rounded into the result. The sum is a
    binary tree: neighbouring squares are added first, then neighbouring sums, and an unpaired value
    moves up one level unchanged. So the result depends on the row alone.

    f16 is accepted wherever bf16 is.

    Clauses:

    * rms_norm_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent N between 1 and
      65,536;
    * rms_norm_c2: `weight` is bf16 or f32 of shape [N];
    * rms_norm_c3: the result is bf16 or f32 of the shape of `x`;
    * rms_norm_c4: `eps` is a finite f32 >= 0, written with or without `: f32`.

    Source: the official `RMSNorm`.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, Optional<DSV4_Operand<"weight", DSV4_Rows>>:$weight,
    DSV4_Operand<"out", DSV4_Rows>:$out, F32Attr:$eps
  );
  let assemblyFormat = [{
    $x (`weight` `(` $weight^ `:` type($weight) `)`)? `outs` `(` $out `:` type($out) `)`
    `` custom<F32Dict>(attr-dict, "\"eps\"") `:` type($x)
    custom<TiedResult>(ref(type($out)), type($rows))
  }];
}

def DSV4_RopeOp : DSV4_RowToRowOp<"rope"> {
  let summary = "rotate the last pairs of a row by its position";
  let description = [{
    ```mlir
    func.func @rotate(%x: tensor<?x512xbf16>, %table: tensor<4096x64xf32>,
                      %positions: tensor<?xi32>, %out: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      %rows = dsv4.rope %x table(%table : tensor<4096x64xf32>)
          positions(%positions : tensor<?xi32>) outs(%out : tensor<?x512xbf16>)
          : tensor<?x512xbf16>
      return %rows : tensor<?x512xbf16>
    }
    ```

    Rotates the last pairs of every row by the angles of its position.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., N]` | rows |
    | `table` | f32 `[positions, D]` | cosines of D / 2 angles, then their sines |
    | `positions` | i32 `[...]` | row of the table for each row of `x` |
    | `outs` | bf16 or f32 of the shape of `x` | rows |

    The last D elements of a row are D / 2 neighbouring pairs. With c = table[p, j] and
    s = table[p, D / 2 + j] for position p and pair j:

    ```
    (a, b) -> (a * c - b * s, a * s + b * c)      inverse: s is -s
    ```

    Every operation rounds to nearest even in fp32, and the result is rounded to its type. Elements
    before the last D are copied, and rounded if the type differs. A row whose position is outside
    the table is not rotated.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). f16 is accepted
    wherever bf16 is.

    Clauses:

    * rope_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent between 1 and 65,536;
    * rope_c2: `table` is f32 `[positions, D]` with a constant even D of at most the row;
    * rope_c3: `positions` is i32 of the shape of `x` without its last axis;
    * rope_c4: the result is bf16 or f32 of the shape of `x`.

    The table is an operand because its angles, computed in fp32, are part of a model.

    Source: the official `apply_rotary_emb` (interleaved pairs).
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, DSV4_Operand<"table", TensorOf<[F32]>>:$table,
    DSV4_Operand<"positions", DSV4_Indices>:$positions, DSV4_Operand<"out", DSV4_Rows>:$out,
    UnitAttr:$inverse
  );
  let assemblyFormat = [{
    $x (`inverse` $inverse^)? `table` `(` $table `:` type($table) `)`
    `positions` `(` $positions `:` type($positions) `)`
    `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($x) custom<TiedResult>(ref(type($out)), type($rows))
  }];
}

def DSV4_HadamardOp : DSV4_RowToRowOp<"hadamard"> {
  let summary = "Walsh-Hadamard transform of rows";
  let description = [{
    ```mlir
    func.func @transform(%x: tensor<?x128xbf16>, %out: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
      %rows = dsv4.hadamard %x outs(%out : tensor<?x128xbf16>) {scale = 0.0883883461 : f32}
          : tensor<?x128xbf16>
      return %rows : tensor<?x128xbf16>
    }
    ```

    Multiplies every row by a Hadamard matrix.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., N]`, N a power of two | rows |
    | `outs` | bf16 or f32 of the shape of `x` | rows |

    `y = (H x) * scale` with H of natural (Sylvester) order, H(i, j) = (-1)^popcount(i & j). In
    fp32: for h = 1, 2, 4, ... N / 2, elements i and i + h with bit h of i clear become their sum
    and their difference, each rounded to nearest even. Then comes the product with `scale`, and the
    result is rounded to its type.

    f16 is accepted wherever bf16 is.

    Clauses:

    * hadamard_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent N, a power of two of
      at most 65,536;
    * hadamard_c2: the result is bf16 or f32 of the shape of `x`;
    * hadamard_c3: `scale` is a finite f32, written with or without `: f32`.

    Source: the official indexer, which has N = 128 and scale 128^-0.5.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, DSV4_Operand<"out", DSV4_Rows>:$out, F32Attr:$scale
  );
  let assemblyFormat = [{
    $x `outs` `(` $out `:` type($out) `)`
    `` custom<F32Dict>(attr-dict, "\"scale\"") `:` type($x)
    custom<TiedResult>(ref(type($out)), type($rows))
  }];
}

#endif // DSV4_ROW_OPS_TD
