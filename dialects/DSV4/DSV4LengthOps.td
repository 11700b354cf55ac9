//===- DSV4LengthOps.td - Ops that count entries of caches -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LENGTH_OPS_TD
#define DSV4_LENGTH_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// valid_lens
//===----------------------------------------------------------------------===//

def DSV4_ValidLensOp : DSV4_Op<"valid_lens", [
    Pure, DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["allowsMaskedTail"]>,
    DSV4_FusionOpInterface,
    DSV4_ResultContractInterface
  ]> {
  let summary = "numbers of valid entries";
  let description = [{
    ```mlir
    func.func @count(%positions: tensor<?xi64>, %out: tensor<?xi32>) -> tensor<?xi32> {
      %lens = dsv4.valid_lens positions(%positions : tensor<?xi64>) ratio 4
          outs(%out : tensor<?xi32>)
      return %lens : tensor<?xi32>
    }
    ```

    Counts the entries of a cache that a query may read, or those that exist. The last page of a
    request is valid in part only, and a compressed entry from its last token on:

    ```mlir
    func.func @pages(%lengths: tensor<?xi32>, %out: tensor<?x8xi32>) -> tensor<?x8xi32> {
      %lens = dsv4.valid_lens lengths(%lengths : tensor<?xi32>) ratio 128 page 2
          outs(%out : tensor<?x8xi32>)
      return %lens : tensor<?x8xi32>
    }
    ```

    | operand | element type and shape | meaning |
    |---|---|---|
    | `positions` | integer `[rows]` | position of each query in its sequence |
    | `lengths` | integer `[rows]` | number of tokens of each request, instead of `positions` |
    | `outs` | integer `[rows]`, `[rows, 1]`, or with `page` `[rows, P]` | valid entries |

    ```
    n(r)    = (positions[r] + 1) div m, or lengths[r] div m     m: ratio, or 1
    n(r)    = min(n(r), w)                                      with `window` w
    y(r)    = n(r)
    y(r, p) = min(max(n(r) - p * e, 0), e)                      with `page` e: entries of page p
    ```

    n is 0 for a negative position or length, and at most 2^31 - 1. A position or length above
    2^31 - 1 counts as that number. By kind of cache:

    | cache | entries | clauses |
    |---|---|---|
    | sliding window of w tokens | the last min(t + 1, w) up to position t | `window` w |
    | compressed, one entry per m tokens | the first (t + 1) div m | `ratio` m |

    Ops that take lengths need no such kernel before them: `dsv4.index_score` and `dsv4.topk` count
    from positions with their own `ratio`.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). The result is i32, i64 or ui32.

    Clauses:

    * valid_lens_c1: there is one of `positions` and `lengths`, `[rows]`;
    * valid_lens_c2: `ratio`, `window` and `page` are between 1 and 2^31 - 1;
    * valid_lens_c3: the result is `[rows]` or `[rows, 1]`, or with `page` e `[rows, P]`, with a
      constant P between 1 and 65,536 and P * e at most 2^31 - 1.

    Source: which entries of its caches a query of the official model sees.
  }];
  let arguments = (ins
    Optional<DSV4_Operand<"positions", DSV4_Indices>>:$positions,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    DSV4_Operand<"outs", DSV4_IndexResults>:$out,
    OptionalAttr<I64Attr>:$ratio, OptionalAttr<I64Attr>:$window, OptionalAttr<I64Attr>:$page
  );
  let results = (outs DSV4_IndexResults:$lens);
  let assemblyFormat = [{
    (`positions` `(` $positions^ `:` type($positions) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`ratio` $ratio^)? (`window` $window^)? (`page` $page^)?
    custom<Clause>("\"outs\"", "getClauses()") `(` $out `:` type($out) `)`
    attr-dict `` custom<TiedResult>(ref(type($out)), type($lens))
  }];
  let extraClassDeclaration = [{
    /// The keywords of the syntax, in their order.
    static ::llvm::StringRef getClauses() { return "positions lengths ratio window page"; }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    /// What entries are counted from.
    ::mlir::Value getTokens() { return getPositions() ? getPositions() : getLengths(); }
  }];
  let hasVerifier = 1;
}

#endif // DSV4_LENGTH_OPS_TD
