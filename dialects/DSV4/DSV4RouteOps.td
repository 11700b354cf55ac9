//===- DSV4RouteOps.td - Ops that route tokens to experts --*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_ROUTE_OPS_TD
#define DSV4_ROUTE_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// router_logits
//===----------------------------------------------------------------------===//

def DSV4_RouterLogitsOp : DSV4_Op<"router_logits", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["out", "logits"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getCooperativeWork"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getProvidedAccesses", "getAccessNote"]>,
    DeclareOpInterfaceMethods<DSV4_ResultContractInterface, ["getContract"]>
  ]> {
  let summary = "logits of experts from hidden rows";
  let description = [{
    ```mlir
    func.func @logits(%hidden: tensor<?x7168xbf16>, %weights: tensor<256x7168xbf16>,
                      %out: tensor<?x256xf32>) -> tensor<?x256xf32> {
      %logits = dsv4.router_logits %hidden, %weights outs(%out : tensor<?x256xf32>)
          : tensor<?x7168xbf16>, tensor<256x7168xbf16>
      return %logits : tensor<?x256xf32>
    }
    ```

    Multiplies hidden rows with the weights of experts. A router whose experts are selected by a
    `sqrt_softplus` or a `sigmoid` is one kernel with it, without logits in memory:

    ```mlir
    func.func @route(%hidden: tensor<?x7168xbf16>, %weights: tensor<256x7168xbf16>,
                     %bias: tensor<256xf32>, %experts: tensor<?x8xi32>, %shares: tensor<?x8xf32>)
        -> (tensor<?x8xi32>, tensor<?x8xf32>) {
      %c0 = arith.constant 0 : index
      %tokens = tensor.dim %hidden, %c0 : tensor<?x7168xbf16>
      %row = tensor.empty(%tokens) : tensor<?x256xf32>
      %logits = dsv4.router_logits %hidden, %weights outs(%row : tensor<?x256xf32>)
          : tensor<?x7168xbf16>, tensor<256x7168xbf16>
      %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x256xf32>)
          : tensor<?x256xf32>
      %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted
          outs(%experts : tensor<?x8xi32>) : tensor<?x256xf32>
      %weighed = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
          outs(%shares : tensor<?x8xf32>) : tensor<?x256xf32>, tensor<?x8xi32>
      return %chosen, %weighed : tensor<?x8xi32>, tensor<?x8xf32>
    }
    ```

    | operand | element type and shape | meaning |
    |---|---|---|
    | `hidden` | bf16 `[rows, H]` | a row per token |
    | `weights` | bf16 or f32 `[E, H]` | a row per expert |
    | `outs` | f32 `[rows, E]` | the logits |

    ```
    logits[r, e] = sum over i of hidden[r, i] * weights[e, i]
    ```

    **Order.** Products are added in fp32 and in one order: slices of 128 elements by tensor cores;
    the four slices of a group as (0 + 1) + (2 + 3); groups one after another. So a logit is a
    function of one row and one expert. It has the same bits in every batch, at every position and
    in all schedules, on one architecture. A weight of f32 counts with all of its bits.

    **Contract.** `bounded`: |logit - exact| <= 2^-16 * S + H * 2^-126, where S is the sum of the
    magnitudes of the products; with weights of f32, and 2^-133 times the magnitudes of the hidden
    row. Where all products are multiples of one power of two, and S is at most 2^22 times that
    power, a logit is exact. A logit has no bound if S is at least a quarter of the largest number
    of fp32.

    All logits of a row or of an expert with a NaN are NaN, and no others. An infinity makes them
    infinite or NaN, as sums do; but with weights of f32, logits of rows with an infinity have no
    bound.

    Clauses:

    * router_logits_c1: `hidden` is bf16 `[rows, H]` with a constant H between 1 and 8192;
    * router_logits_c2: `weights` is bf16 or f32 `[E, H]` with a constant E between 1 and 512;
    * router_logits_c3: the result is f32 `[rows, E]`.

    Rows of each operand that are farther apart have `dsv4.strides`.

    Source: the official `Gate`, whose scores come of such a product.
  }];
  let arguments = (ins
    DSV4_Operand<"hidden", TensorOf<[BF16]>>:$hidden,
    DSV4_Operand<"weights", TensorOf<[BF16, F32]>>:$weights,
    DSV4_Operand<"outs", TensorOf<[F32]>>:$out
  );
  let results = (outs TensorOf<[F32]>:$logits);
  let assemblyFormat = [{
    $hidden `,` $weights `outs` `(` $out `:` type($out) `)` attr-dict
    `:` type($hidden) `,` type($weights)
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxDepth = ::dsv4::limits::kMaxRouterDepth;
    static constexpr int64_t kMaxExperts = ::dsv4::limits::kMaxRouterLogits;
    /// The products' part of the bound of a logit, and what a product, and a weight of f32, that is
    /// too small may lose.
    static constexpr double kTermBound = 0x1p-16, kSmallProduct = 0x1p-126, kSmallWeight = 0x1p-133;
    /// How often the power of two that divides all products of an exact logit may be in their sum.
    static constexpr double kMaxExactTerms = 0x1p22;
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    int64_t getExperts() {
      return ::llvm::cast<::mlir::ShapedType>(getWeights().getType()).getDimSize(0);
    }
    int64_t getDepth() {
      return ::llvm::cast<::mlir::ShapedType>(getWeights().getType()).getDimSize(1);
    }
    bool hasWideWeights() {
      return ::llvm::cast<::mlir::ShapedType>(getWeights().getType()).getElementType().isF32();
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// gate
//===----------------------------------------------------------------------===//

def DSV4_GateOp : DSV4_Op<"gate", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["out", "scores"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["allowsMaskedTail"]>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface,
        ["getDemandedAccesses", "getProvidedAccesses", "getAccessNote"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "scores of experts from logits";
  let description = [{
    ```mlir
    func.func @gate(%logits: tensor<?x256xbf16>, %out: tensor<?x256xf32>) -> tensor<?x256xf32> {
      %scores = dsv4.gate %logits function sqrt_softplus outs(%out : tensor<?x256xf32>)
          : tensor<?x256xbf16>
      return %scores : tensor<?x256xf32>
    }
    ```

    Computes scores of experts from logits.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `logits` | bf16 or f32 `[..., E]` | logits of E experts |
    | `outs` | f32 of the shape of `logits` | scores |

    ```
    sqrt_softplus   g(x) = sqrt(ln(1 + e^x))
    sigmoid         g(x) = 1 / (1 + e^-x)
    softmax         g(x_i) = e^(x_i - max x) / sum_j e^(x_j - max x)
    ```

    They are computed in fp32, in the steps that [Router](../Router.md#numbers) lists, so the last
    bit is defined. `sqrt_softplus` is positive for every logit of at least -174, and finite for
    every finite logit. A NaN gives NaN. With `softmax` the whole row is NaN if a logit is NaN or
    +infinity, or if all logits are -infinity.

    f16 is accepted wherever bf16 is.

    Clauses:

    * gate_c1: `logits` is bf16 or f32 of rank >= 1 with a constant last extent E between 1 and
      65,536;
    * gate_c2: the result is f32 of the shape of `logits`.

    Source: the official `Gate`. Above 20 its softplus is x, and so is this one, to the last bit.
  }];
  let arguments = (ins
    DSV4_Operand<"logits", DSV4_Rows>:$logits, DSV4_GateFunction:$function,
    DSV4_Operand<"out", TensorOf<[F32]>>:$out
  );
  let results = (outs TensorOf<[F32]>:$scores);
  let assemblyFormat = [{
    $logits `function` $function `outs` `(` $out `:` type($out) `)` attr-dict `:` type($logits)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// lookup
//===----------------------------------------------------------------------===//

def DSV4_LookupOp : DSV4_Op<"lookup", [
    Pure, DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["allowsMaskedTail"]>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["isAlsoStored"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "rows of a table of indices";
  let description = [{
    ```mlir
    func.func @lookup(%table: tensor<129280x6xi32>, %tokens: tensor<?xi32>, %out: tensor<?x6xi32>)
        -> tensor<?x6xi32> {
      %experts = dsv4.lookup %table[%tokens] outs(%out : tensor<?x6xi32>)
          : tensor<129280x6xi32>, tensor<?xi32>
      return %experts : tensor<?x6xi32>
    }
    ```

    Copies rows of a table of indices.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `table` | i32 `[V, k]` | one row per token id |
    | `ids` | i32 `[T]` | token ids |
    | `valid_rows` | i32 `[1]` | number of rows that count |
    | `padding` | i1 `[T]` | true for rows that do not count |
    | `outs` | i32 `[T, k]` | rows of the table, then with `token_experts` those |

    Row t of the result is row `ids[t]` of the table. If the table has no such row, every element is
    -1. So is every element of a row at or beyond `valid_rows`, which is read on the device and
    counts as 0 if it is negative, and of a row with a true `padding`.

    With `shared` s and `experts` E a row has k + s columns. The last s are for experts that every
    token has: E to E + s - 1, or -1 where the others are -1 by the rules above. With
    `token_experts` a second destination has j * T + t in column j of row t, in every row and modulo
    2^32:

    ```mlir
    func.func @shared(%table: tensor<129280x6xi32>, %tokens: tensor<?xi32>, %n: tensor<1xi32>,
                      %out: tensor<?x7xi32>, %sources: tensor<?x7xi32>)
        -> (tensor<?x7xi32>, tensor<?x7xi32>) {
      %experts, %token_experts = dsv4.lookup %table[%tokens] valid_rows(%n : tensor<1xi32>)
          shared 1 experts 256 token_experts outs(%out, %sources : tensor<?x7xi32>, tensor<?x7xi32>)
          : tensor<129280x6xi32>, tensor<?xi32>
      return %experts, %token_experts : tensor<?x7xi32>, tensor<?x7xi32>
    }
    ```

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). The result is i32,
    i64 or ui32, whose bits are those of i32.

    Clauses:

    * lookup_c1: `table` is i32 `[V, k]` with a constant k between 1 and 65,536;
    * lookup_c2: `ids` is i32 `[T]`;
    * lookup_c3: there is one destination, i32 `[T, k]`, or `[T, k + s]` with `shared`; with
      `token_experts` there is another one of this shape;
    * lookup_c4: `shared` and `experts` are given together, `shared` between 1 and 32 and `experts`
      between 1 and 65,536;
    * lookup_c5: `valid_rows` has shape `[1]`, and `padding` is i1 `[T]`.

    Source: the official `Gate`, whose first layers choose experts by token id (`tid2eid`).
  }];
  let arguments = (ins
    DSV4_Operand<"table", DSV4_Indices>:$table, DSV4_Operand<"ids", DSV4_Indices>:$ids,
    Optional<DSV4_Operand<"valid_rows", DSV4_Indices>>:$valid_rows,
    Optional<DSV4_Operand<"padding", DSV4_Mask>>:$padding,
    Variadic<DSV4_Operand<"outs", DSV4_IndexResults>>:$outs,
    OptionalAttr<I64Attr>:$shared, OptionalAttr<I64Attr>:$experts, UnitAttr:$token_experts
  );
  let results = (outs Variadic<DSV4_IndexResults>:$found);
  let assemblyFormat = [{
    $table `[` $ids `]` (`valid_rows` `(` $valid_rows^ `:` type($valid_rows) `)`)?
    (`padding` `(` $padding^ `:` type($padding) `)`)?
    (`shared` $shared^)? (`experts` $experts^)? (`token_experts` $token_experts^)?
    custom<Clause>("\"outs\"", "\"valid_rows padding shared experts token_experts\"")
    `(` $outs `:` type($outs) `)` attr-dict `:` type($table) `,` type($ids)
    custom<TiedVariadic>(ref(type($outs)), type($found))
  }];
  let extraClassDeclaration = [{
    /// Shared experts at most.
    static constexpr int64_t kMaxShared = 32;
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// The destination of the rows, and they.
    ::mlir::Value getOut() { return getOuts().front(); }
    ::mlir::Value getRows() { return getFound().front(); }
    /// Shared experts, 0 if there are none.
    int64_t getSharedCount() { return static_cast<int64_t>(getShared().value_or(0)); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// map_indices
//===----------------------------------------------------------------------===//

def DSV4_MapIndicesOp : DSV4_Op<"map_indices", [
    Pure, DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["allowsMaskedTail"]>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getDemandedAccesses", "isAlsoStored"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "indices that a table replaces";
  let description = [{
    ```mlir
    func.func @physical(%experts: tensor<?x6xi32>, %table: tensor<256xi32>, %n: tensor<1xi32>,
                        %out: tensor<?x6xi32>) -> tensor<?x6xi32> {
      %mapped = dsv4.map_indices %experts table(%table : tensor<256xi32>)
          valid_rows(%n : tensor<1xi32>) outs(%out : tensor<?x6xi32>) : tensor<?x6xi32>
      return %mapped : tensor<?x6xi32>
    }
    ```

    Replaces every index by the entry of a table, such as a logical expert by a physical one, and
    those of rows that do not count by -1.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `indices` | i32 `[..., k]` | indices |
    | `table` | i32 `[V]` | what stands for each index |
    | `valid_rows` | i32 `[1]` | number of rows that count |
    | `padding` | i1 `[...]` | true for rows that do not count |
    | `outs` | i32 of the shape of `indices` | indices |

    ```
    y(r, j) = -1                                      in a row that does not count
    y(r, j) = 0 <= x(r, j) < V ? table(x(r, j)) : -1  with a table
    y(r, j) = x(r, j)                                 without one
    ```

    Rows at or beyond `valid_rows` do not count. It is read on the device, and counts as 0 if it is
    negative. Nor does a row with a true `padding`.

    After a `dsv4.topk` by one warp it is the same kernel. If indices have no memory, so are a
    `dsv4.route_weights` and other ops that read them.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). `indices` and the result may be i16, too, or ui32, whose bits
    are those of i32. A result of i16 has the low ones.

    Clauses:

    * map_indices_c1: `indices` is i32 of rank >= 1 with a constant last extent between 1 and
      65,536;
    * map_indices_c2: `table` is i32 `[V]` with a constant V between 1 and 65,536;
    * map_indices_c3: the result is i32 of the shape of `indices`;
    * map_indices_c4: `valid_rows` has shape `[1]`, and `padding` is i1 of the shape of `indices`
      without the last axis.

    Source: public engines, which balance load by copies of experts: logical experts have a table of
    physical ones. Others pass over chosen experts to mask those of padded rows, or replay experts
    that they have recorded, as i16.
  }];
  let arguments = (ins
    DSV4_Operand<"indices", DSV4_SmallIndices>:$indices,
    Optional<DSV4_Operand<"table", DSV4_Indices>>:$table,
    Optional<DSV4_Operand<"valid_rows", DSV4_Indices>>:$valid_rows,
    Optional<DSV4_Operand<"padding", DSV4_Mask>>:$padding,
    DSV4_Operand<"outs", DSV4_SmallIndices>:$out
  );
  let results = (outs DSV4_SmallIndices:$mapped);
  let assemblyFormat = [{
    $indices (`table` `(` $table^ `:` type($table) `)`)?
    (`valid_rows` `(` $valid_rows^ `:` type($valid_rows) `)`)?
    (`padding` `(` $padding^ `:` type($padding) `)`)?
    custom<Clause>("\"outs\"", "\"table valid_rows padding\"")
    `(` $out `:` type($out) `)` attr-dict `:` type($indices)
    custom<TiedResult>(ref(type($out)), type($mapped))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// route_weights
//===----------------------------------------------------------------------===//

def DSV4_RouteWeightsOp : DSV4_Op<"route_weights", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["out", "weights"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["explainProducer"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["allowsMaskedTail"]>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getDemandedAccesses"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "weights of the experts of a token";
  let description = [{
    ```mlir
    func.func @weights(%scores: tensor<?x256xf32>, %experts: tensor<?x6xi32>,
                       %out: tensor<?x6xf32>) -> tensor<?x6xf32> {
      %weights = dsv4.route_weights %scores[%experts] renormalize scale 1.5
          outs(%out : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
      return %weights : tensor<?x6xf32>
    }
    ```

    Computes the weights of the chosen experts of a token.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `scores` | f32 `[..., E]` | scores of E experts |
    | `indices` | i32 `[..., k]` | the chosen experts |
    | `outs` | f32 of the shape of `indices` | their weights |

    ```
    w_j = scores[indices[j]]               0 where indices[j] is outside 0 .. E - 1
    w_j = 0 where w_j is NaN               with `nan zero`
    w_j = w_j / max(sum_j w_j, 2^-126)     with `renormalize`
    w_j = w_j * s                          with `scale`
    ```

    The steps run in this order, and every operation rounds to nearest even in fp32. The sum is a
    binary tree of neighbours, where an unpaired value moves up one level unchanged. If the sum is
    NaN, so is every weight. With `nan zero` an expert whose score is NaN weighs 0 and adds nothing
    to the sum, so the weights of a row of NaN are 0, renormalised or not. (`dsv4.topk` chooses it
    after every number.) With `uniform`, w_j is 1 / k whatever the scores, and 0 where indices[j] is
    outside. A bias that the experts were chosen with has no part in their weights.

    With `shared` n the last n columns are those of shared experts, k is the number of the others,
    and only these are in the sum, in which a shared one counts as 0:

    ```mlir
    func.func @shared(%scores: tensor<?x256xf32>, %experts: tensor<?x9xi32>,
                      %out: tensor<?x9xf32>) -> tensor<?x9xf32> {
      %weights = dsv4.route_weights %scores[%experts] renormalize scale 2.5 shared 1 of_sum 0.4
          outs(%out : tensor<?x9xf32>) : tensor<?x256xf32>, tensor<?x9xi32>
      return %weights : tensor<?x9xf32>
    }
    ```

    With `of_sum` c their weight is c times the sum before the steps of `renormalize` and `scale`,
    which then apply to all columns. With `weight` c it is c in the result, whatever the other
    clauses. It is 0 where indices[j] is outside 0 .. E + n - 1.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)).

    Clauses:

    * route_weights_c1: `scores` is f32 of rank >= 1 with a constant last extent E between 1 and
      65,536;
    * route_weights_c2: `indices` is i32 of the shape of `scores` with another last extent k, a
      constant between 1 and 65,536;
    * route_weights_c3: the result is f32 of the shape of `indices`;
    * route_weights_c4: `scale` is a finite f32, written with or without `: f32`, after its keyword
      or among the attributes;
    * route_weights_c5: `uniform` comes without `renormalize`, `scale` and `nan zero`;
    * route_weights_c6: `shared` is positive and smaller than the last extent of `indices`, and
      comes with one of `weight` and `of_sum`, a finite f32; they come with it alone;
    * route_weights_c7: if `dsv4.topk` or `dsv4.lookup` computes `indices`, its `shared` is the
      same;
    * route_weights_c8: if `dsv4.topk` with `nan first` computes `indices`, there is no `nan zero`.

    Source: the official `Gate`, for layers that choose by score and for those that choose by token
    id. The denominator has a floor because the scores of a row may all be 0; its weights are 0
    then.
  }];
  let arguments = (ins
    DSV4_Operand<"scores", TensorOf<[F32]>>:$scores,
    DSV4_Operand<"indices", DSV4_IndexResults>:$indices, DSV4_Operand<"out", TensorOf<[F32]>>:$out,
    UnitAttr:$renormalize, OptionalAttr<F32Attr>:$scale, UnitAttr:$uniform,
    UnitAttr:$nan_zero, OptionalAttr<I64Attr>:$shared, OptionalAttr<F32Attr>:$weight,
    OptionalAttr<F32Attr>:$of_sum
  );
  let results = (outs TensorOf<[F32]>:$weights);
  let assemblyFormat = [{
    $scores `[` $indices `]` (`renormalize` $renormalize^)? (`scale` custom<F32>($scale)^)?
    (`uniform` $uniform^)? (`nan` `zero` $nan_zero^)? (`shared` $shared^)?
    (`weight` custom<F32>($weight)^)? (`of_sum` custom<F32>($of_sum)^)?
    custom<Clause>("\"outs\"", "\"renormalize scale uniform nan shared weight of_sum\"")
    `(` $out `:` type($out) `)`
    `` custom<F32Dict>(attr-dict, "\"scale\"", "getKeywordAttributes()")
    `:` type($scores) `,` type($indices)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    /// The attributes that the syntax has keywords for.
    static std::array<::llvm::StringRef, 7> getKeywordAttributes() {
      return {"renormalize", "scale", "uniform", "nan_zero", "shared", "weight", "of_sum"};
    }
    /// Columns of the result.
    int64_t getColumns() {
      return ::mlir::cast<::mlir::ShapedType>(getOut().getType()).getShape().back();
    }
    /// Those of shared experts.
    int64_t getSharedCount() { return static_cast<int64_t>(getShared().value_or(0)); }
    /// k.
    int64_t getK() { return getColumns() - getSharedCount(); }
    /// E.
    int64_t getExperts() {
      return ::mlir::cast<::mlir::ShapedType>(getScores().getType()).getShape().back();
    }
  }];
  let hasVerifier = 1;
}

#endif // DSV4_ROUTE_OPS_TD
