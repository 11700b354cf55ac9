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

    Rotates the last pairs of every row by the angles of its position. All heads of a token can
    share its position, pairs can be two halves, and the table can be of complex numbers:

    ```mlir
    func.func @heads(%q: tensor<?x64x192xbf16>, %complex: tensor<?x64xf32>,
                     %positions: tensor<?xi32>, %out: tensor<?x64x192xbf16>)
        -> tensor<?x64x192xbf16> {
      %rows = dsv4.rope %q table(%complex : tensor<?x64xf32>) interleaved
          positions(%positions : tensor<?xi32>) outs(%out : tensor<?x64x192xbf16>)
          : tensor<?x64x192xbf16>
      return %rows : tensor<?x64x192xbf16>
    }

    func.func @halves(%k: tensor<?x64xbf16>, %table: tensor<?x64xbf16>,
                      %positions: tensor<?xi32>, %out: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %rows = dsv4.rope %k neox table(%table : tensor<?x64xbf16>)
          positions(%positions : tensor<?xi32>) outs(%out : tensor<?x64xbf16>) : tensor<?x64xbf16>
      return %rows : tensor<?x64xbf16>
    }
    ```

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., N]` | rows |
    | `table` | bf16 or f32 `[positions, D]` | cosines and sines of D / 2 angles per position |
    | `positions` | i32, the leading axes of `x` | row of the table for each row of `x` |
    | `outs` | bf16 or f32 of the shape of `x` | rows |

    The last D elements of a row are D / 2 pairs. Pair j is elements 2j and 2j + 1 of them, and
    elements j and j + D / 2 with `neox`. For position p its angle is

    ```
                       c                 s
                       table[p, j]       table[p, D / 2 + j]
    interleaved        table[p, 2j]      table[p, 2j + 1]

    (a, b) -> (a * c - b * s, a * s + b * c)      inverse: s is -s
    ```

    An `interleaved` table is that of complex numbers c + is. Elements of the table are widened to
    fp32, which is exact. Every operation rounds to nearest even in fp32, and the result is rounded
    to its type. Elements before the last D are copied, and rounded if the type differs. A row whose
    position is outside the table is not rotated.

    `positions` has the leading axes of `x`: all except the last, or fewer of them. Rows along the
    axes that it lacks, such as the heads of a token, have one position.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). f16 is accepted wherever bf16 is.

    Clauses:

    * rope_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent between 1 and 65,536;
    * rope_c2: `table` is bf16 or f32 `[positions, D]` with a constant even D of at most the row;
    * rope_c3: `positions` is i32 of the shape of `x` without its last axis, or without several of
      its last axes, but not without all if `x` has more than one;
    * rope_c4: the result is bf16 or f32 of the shape of `x`;
    * rope_c5: `interleaved` and `neox` exclude each other.

    The table is an operand because its angles, computed in fp32, are part of a model.

    Source: the official `apply_rotary_emb` (neighbouring pairs, complex table); `is_neox` of public
    engines.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, DSV4_Operand<"table", DSV4_Rows>:$table,
    DSV4_Operand<"positions", DSV4_Indices>:$positions, DSV4_Operand<"out", DSV4_Rows>:$out,
    UnitAttr:$inverse, UnitAttr:$neox, UnitAttr:$interleaved
  );
  let assemblyFormat = [{
    $x (`inverse` $inverse^)? (`neox` $neox^)?
    `table` `(` $table `:` type($table) `)` (`interleaved` $interleaved^)?
    `positions` `(` $positions `:` type($positions) `)`
    custom<Clause>("\"outs\"", "\"inverse neox table interleaved positions\"")
    `(` $out `:` type($out) `)`
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

//===----------------------------------------------------------------------===//
// pad_rows, add_rows, scale_weights
//===----------------------------------------------------------------------===//

def DSV4_PadRowsOp : DSV4_RowToRowOp<"pad_rows"> {
  let summary = "append rows of zeros";
  let description = [{
    ```mlir
    func.func @pad(%q: tensor<?x16x512xbf16>, %out: tensor<?x64x512xbf16>)
        -> tensor<?x64x512xbf16> {
      %rows = dsv4.pad_rows %q outs(%out : tensor<?x64x512xbf16>) : tensor<?x16x512xbf16>
      return %rows : tensor<?x64x512xbf16>
    }
    ```

    Fills the last axis of rows up with zeros, such as the heads of a token up to those that an
    attention kernel takes.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., H, N]` | rows |
    | `outs` | `[..., P, N]`, of the type of `x` | rows |

    ```
    y(..., h, e) = h < H ? x(..., h, e) : 0
    ```

    Rows are copied bit by bit. If P is less than H, the last rows of `x` are left out.

    The iteration space is that of the result, and `x` is read from memory. So the op comes first in
    a chain, and what follows is the same kernel: `rms_norm` with a positive `eps` and `rope` make
    zeros of zeros, and no memory is read for them. A zero that is rotated may be negative. After
    other ops of rows it is a kernel of its own.

    f16 is accepted wherever bf16 is.

    Clauses:

    * pad_rows_c1: `x` has rank >= 2 and a constant last extent between 1 and 65,536;
    * pad_rows_c2: the result has the element type and the shape of `x`, except for the last axis
      but one;
    * pad_rows_c3: that axis of the result has a constant extent P of at least H, where H is
      constant.

    Source: `q_head_padded` of public engines, whose attention takes 64 or 128 heads.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, DSV4_Operand<"out", DSV4_Rows>:$out
  );
  let assemblyFormat = [{
    $x `outs` `(` $out `:` type($out) `)` attr-dict `:` type($x)
    custom<TiedResult>(ref(type($out)), type($rows))
  }];
}

def DSV4_ConcatRowsOp : DSV4_RowToRowOp<"concat_rows"> {
  let summary = "put two rows one after the other";
  let description = [{
    ```mlir
    func.func @join(%pe: tensor<?x64xbf16>, %nope: tensor<?x64xbf16>, %out: tensor<?x128xbf16>)
        -> tensor<?x128xbf16> {
      %rows = dsv4.concat_rows %pe, %nope outs(%out : tensor<?x128xbf16>)
          : tensor<?x64xbf16>, tensor<?x64xbf16>
      return %rows : tensor<?x128xbf16>
    }
    ```

    Joins rows of two tensors along the last axis, such as the rotated columns of a key and those
    that are not rotated.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., N]` | the first columns |
    | `y` | `[..., M]`, of the type of `x` | the others |
    | `outs` | `[..., N + M]`, of the type of `x` | rows |

    ```
    z(..., e) = e < N ? x(..., e) : y(..., e - N)
    ```

    Elements are copied bit by bit. In one kernel with what computes `x` or `y` and with what takes
    the result, nothing is copied.

    f16 is accepted wherever bf16 is.

    Clauses:

    * concat_rows_c1: `x` and `y` have rank >= 1 and constant last extents between 1 and 65,536;
    * concat_rows_c2: `y` has the element type and the shape of `x`, except for the last axis;
    * concat_rows_c3: the result has the element type of `x`, its shape except for the last axis,
      and there the sum of both extents, at most 65,536.

    Source: public engines that join the halves of indexer queries and keys before they quantise.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, DSV4_Operand<"y", DSV4_Rows>:$y,
    DSV4_Operand<"out", DSV4_Rows>:$out
  );
  let assemblyFormat = [{
    $x `,` $y `outs` `(` $out `:` type($out) `)` attr-dict `:` type($x) `,` type($y)
    custom<TiedResult>(ref(type($out)), type($rows))
  }];
}

def DSV4_AddRowsOp : DSV4_RowToRowOp<"add_rows"> {
  let summary = "add to each row the bias of its position in a window";
  let description = [{
    ```mlir
    func.func @bias(%kv_score: tensor<?x2048xf32>, %ape: tensor<4x1024xf32>,
                    %positions: tensor<?xi32>, %out: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
      %rows = dsv4.add_rows %kv_score columns [1024, 1024] bias(%ape : tensor<4x1024xf32>)
          positions(%positions : tensor<?xi32>) outs(%out : tensor<?x1024xf32>)
          : tensor<?x2048xf32>
      return %rows : tensor<?x1024xf32>
    }
    ```

    Adds to every row the row of `bias` of its position modulo the rows of `bias`. Before a
    `dsv4.paged_append` it makes the scores of a state that `dsv4.compress` calls `biased`.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `x` | bf16 or f32 `[..., N]` | rows |
    | `bias` | bf16 or f32 `[W, M]` | what is added at each of W positions of a window |
    | `positions` | i32, the leading axes of `x` | position of each row of `x` |
    | `outs` | bf16 or f32 `[..., M]` | rows |

    ```
    y(r, e) = p < 0 ? x(r, begin + e) : x(r, begin + e) + bias(p mod W, e),  p = positions[r]
    ```

    `columns [begin, M]` selects M columns of every row from column `begin` on; without it the whole
    row is taken. The sum is rounded to nearest even in fp32, and the result is rounded to its type.
    A row without a position is copied, and rounded if the type differs. `positions` may lack axes,
    as those of `dsv4.rope` may.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). f16 is accepted wherever bf16 is.

    Clauses:

    * add_rows_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent between 1 and 65,536;
    * add_rows_c2: the columns are within the rows of `x`;
    * add_rows_c3: `bias` is bf16 or f32 `[W, M]` with a constant W of at least 1;
    * add_rows_c4: `positions` is i32 of the shape of `x` without its last axis, or without several
      of its last axes, but not without all if `x` has more than one;
    * add_rows_c5: the result is bf16 or f32 of the shape of `x` with M columns.

    Source: the absolute position embedding (`ape`) of the official compressor.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, DSV4_Operand<"bias", DSV4_Rows>:$bias,
    DSV4_Operand<"positions", DSV4_Indices>:$positions, DSV4_Operand<"out", DSV4_Rows>:$out,
    OptionalAttr<DenseI64ArrayAttr>:$columns
  );
  let assemblyFormat = [{
    $x (`columns` $columns^)? `bias` `(` $bias `:` type($bias) `)`
    `positions` `(` $positions `:` type($positions) `)`
    `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($x) custom<TiedResult>(ref(type($out)), type($rows))
  }];
  let extraClassDeclaration = inits # [{
    /// First column and number of columns.
    std::pair<int64_t, int64_t> getColumnRange();
  }];
}

def DSV4_ScaleWeightsOp : DSV4_Op<"scale_weights", [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface,
        ["getScaleGroups", "getResultGroup", "allowsMaskedTail"]>,
    DSV4_FusionOpInterface,
    DSV4_ResultContractInterface
  ]> {
  let summary = "multiply weights by scales and constants";
  let description = [{
    ```mlir
    func.func @fold(%q: tensor<?x64x128xbf16>, %weights: tensor<?x64xbf16>,
                    %q_fp8: tensor<?x64x128xf8E4M3FN>, %out: tensor<?x64xf32>)
        -> (tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>) {
      %c0 = arith.constant 0 : index
      %tokens = tensor.dim %q, %c0 : tensor<?x64x128xbf16>
      %none = tensor.empty(%tokens) : tensor<?x64xf32>
      %payload, %scales = dsv4.quantize %q
          outs(%q_fp8, %none : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>)
          {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
           recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
          : tensor<?x64x128xbf16>
      %folded = dsv4.scale_weights %weights scales(%scales : tensor<?x64xf32>)
          constants [0.0883883461, 0.125] outs(%out : tensor<?x64xf32>) : tensor<?x64xbf16>
      return %payload, %folded : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>
    }
    ```

    Multiplies weights by the scales of quantised rows and by constants, so that who multiplies the
    quantised values by the result needs no scales.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `weights` | bf16 or f32 `[..., N]` | weights |
    | `scales` | f32 of the shape of `weights` | 1 if it is left out |
    | `outs` | bf16 or f32 of the shape of `weights` | products |

    ```
    y = (((weights * scales) * constants[0]) * constants[1]) ...
    ```

    Every product is rounded to nearest even in fp32, and the result is rounded to its type.

    If a `dsv4.quantize` computes the scales per row, as above, the op is part of its kernel.

    f16 is accepted wherever bf16 is.

    Clauses:

    * scale_weights_c1: `weights` is bf16 or f32 of rank >= 1 with a constant last extent between 1
      and 65,536;
    * scale_weights_c2: `scales` is f32 of the shape of `weights`;
    * scale_weights_c3: the result is bf16 or f32 of the shape of `weights`;
    * scale_weights_c4: `constants` are finite;
    * scale_weights_c5: there are `scales` or `constants`.

    Source: index weights of public engines, into which the scales of FP8 queries are folded.
  }];
  let arguments = (ins
    DSV4_Operand<"weights", DSV4_Rows>:$weights,
    Optional<DSV4_Operand<"scales", TensorOf<[F32]>>>:$scales,
    DSV4_Operand<"out", DSV4_Rows>:$out, OptionalAttr<DenseF32ArrayAttr>:$constants
  );
  let results = (outs DSV4_Rows:$products);
  let assemblyFormat = [{
    $weights (`scales` `(` $scales^ `:` type($scales) `)`)? (`constants` $constants^)?
    `outs` `(` $out `:` type($out) `)` attr-dict `:` type($weights)
    custom<TiedResult>(ref(type($out)), type($products))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

#endif // DSV4_ROW_OPS_TD
