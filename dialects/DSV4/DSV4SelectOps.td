//===- DSV4SelectOps.td - Ops that select elements of rows -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SELECT_OPS_TD
#define DSV4_SELECT_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// topk
//===----------------------------------------------------------------------===//

def DSV4_TopkOp : DSV4_Op<"topk", [
    Pure, DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getCooperativeWork"]>,
    DeclareOpInterfaceMethods<DSV4_SelectionOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface,
        ["getDemandedAccesses", "getProvidedAccesses", "getAccessNote", "isAlsoStored"]>,
    DeclareOpInterfaceMethods<DSV4_ResultContractInterface, ["getContract", "acceptsBounds"]>
  ]> {
  let summary = "the k best elements of every row, exactly";
  let description = [{
    ```mlir
    func.func @select(%scores: tensor<?x?xf32>, %length: tensor<?xi32>, %table: tensor<?x?xi32>,
                      %indices: tensor<?x512xi32>, %where: tensor<?x512xi32>)
        -> (tensor<?x512xi32>, tensor<?x512xi32>) {
      %chosen, %slots = dsv4.topk %scores lengths(%length : tensor<?xi32>)
          pages(%table : tensor<?x?xi32>) page 64 order index_ascending
          outs(%indices, %where : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x?xf32>
      return %chosen, %slots : tensor<?x512xi32>, tensor<?x512xi32>
    }
    ```

    Selects the k best elements of every row, exactly.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `scores` | bf16 or f32 `[rows, N]`, or any rank >= 1 | the elements to select from |
    | `bias` | bf16 or f32 `[N]` | added to the scores for the comparison only |
    | `other_bias` | bf16 or f32 `[N]`, i1 `[rows]` | bias of the rows where the mask is true |
    | `starts` | i32 `[rows]` | column of the first element of each row |
    | `lengths` | i32 `[rows]`, or `[requests]` with `next_n` | number of elements of each row |
    | `ends` | i32 `[rows]` | column after the last element of each row, instead of `lengths` |
    | `pages` | i32 `[rows, pages]`, or `[requests, pages]` of requests | page table, for slots |
    | `requests` | i32 `[rows]` | row of the page table of each row |
    | `cu_seq_lens` | i32 `[requests + 1]` | first row of each request, and the number of rows |
    | `page_starts` | i32 `[rows]` | column of the page table where the pages of each row begin |
    | `offsets` | i32 `[rows]` | number that is added to the indices of each row |
    | `valid_rows` | i32 `[1]` | number of rows that count |
    | `padding` | i1 `[rows]` | true for rows that do not count |
    | `outs` | `[rows, k]` | `indices` of i32, then `values`, then with `pages` `slots`, then with `token_experts` those |

    **Order.** Row r has the elements 0 to n - 1. Element i is that of column start + i of the
    scores; start is 0 without `starts`. The op selects the first min(k, n) elements in this order:

    ```
    a before b  <=>  key(a) > key(b), or key(a) == key(b) and index(a) < index(b)
    key(i) = bias ? scores[r, i] + bias[i] : scores[r, start + i]
    ```

    With `smallest` it is key(a) < key(b). With `ties high` the larger of the indices of equal keys
    comes first: index(a) > index(b). The sum with the bias is rounded to fp32. A row where the mask
    of `other_bias` is true has that bias instead of `bias`. +0 and -0 are equal. A NaN comes after
    every number and after infinity, and one NaN is equal to another. With `nan first` it comes
    before every number and before infinity, whether the largest or the `smallest` are selected.
    What counts is the key: infinity and a bias of -infinity make a NaN. A NaN is an element like
    others, so it is selected before any padding. The selected set depends on neither the batch, the
    schedule nor the run.

    **Lengths.** n is N without `lengths`, else `lengths[r]`, but at least 0 and at most N. With
    `ratio` m the lengths are positions of queries in their sequences. Then n is the number of
    compressed entries that are complete at the position: (`lengths[r]` + 1) div m. An entry is
    visible once the query has reached its last position. n is 0 for a negative position.

    With `next_n` N each request has N neighbouring rows, those of a query and of the tokens that
    are drafted after it, and `lengths` has one number per request: that of the last of these rows.
    Row r = q * N + j has n = max(0, `lengths[q]` - N + 1 + j), divided by m with `ratio` m (here
    the numbers are lengths, not positions). n is 0 if `lengths` has no element q. If the numbers of
    rows and of lengths are constants, there are N rows for each length.

    **Starts.** With `starts` the elements of row r begin at column `starts[r]`, which may be any,
    and `indices` and slots count from there. They end after n elements, before column `ends[r]`, or
    at the last column, and at the last column in any case. A row has no element if its start is
    below 0 or not below N, or if its end is not above its start.

    **Results.** A row of a result has k ranks, k being its last extent. `indices` holds the
    elements in the order given by `order`: `sorted`, as above; `index_ascending`; or `unordered`,
    in any order, which may differ between runs. A row of at most k elements without `groups` has
    them by index then. The ranks after them are padding: index -1.
    With `offsets` the result is the index + `offsets[r]`, in two's complement if it does not fit;
    padding stays -1, and slots have no offset.
    `values`, if it has a destination, holds the elements of `scores` themselves, without the bias,
    at the same ranks; padding is -infinity (+infinity with `smallest`). With `nan first` it holds
    the elements + 0 in fp32, so that -0 becomes +0, and every NaN 0x7FFFFFFF. With `pages` the
    last destination is `slots`, the slot of each element in a paged cache with `page` entries per
    page:

    ```
    slot = page_table[q, first + i div page] * page + i mod page
    q = requests ? requests[r] : r,  first = page_starts ? page_starts[r] : 0
    ```

    With `cu_seq_lens` q is the request with cu_seq_lens[q] <= r < cu_seq_lens[q + 1]. It is looked
    for by halving, as in `dsv4.compress_plan`. So numbers that decrease find some request, which
    counts if it fulfills both conditions.

    A slot is -1 for padding, if the table has a negative entry or none (the column or q is outside
    the table, or `page_starts[r]` is negative, or r belongs to no request), and if the slot would
    exceed 2^31 - 1.

    **Groups.** With `groups` G the N columns form G groups of N / G neighbours, and the op selects
    only from `keep` of these groups. Groups are ordered like elements: a larger key first, then the
    lower group, NaN last, or first with `nan first`. The key of a group is the sum of its `by` best
    keys (of all, if it has fewer), best first, each sum rounded to fp32. It is NaN if one of these
    keys is, or if infinities of both signs are among them. A group without elements comes last.

    **Routers.** Rows at or beyond `valid_rows`, which is read on the device and counts as 0 if it
    is negative, and rows with a true `padding` have no elements: all their ranks are padding. With
    `shared` s a row of a result has k + s columns. The last s of them are for experts that every
    token has: their `indices` are N to N + s - 1, but -1 in rows that do not count, and their
    `values` are padding. With `token_experts` the last destination has j * T + t in column j of row
    t, T being the number of rows, in every row and modulo 2^32.

    **Contract.** A selection from exact scores is exact. If another op computes the scores within
    bounds (its contract is `bounded`), a result is right if it is the exact selection of scores
    that are each within the bound (docs/Contracts.md). A selection by `groups` needs exact scores.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). `indices` and
    `slots` are i32, i64 or ui32, whose bits are those of i32. f16 is accepted wherever bf16 is.

    Clauses:

    * topk_c1: `scores` is bf16 or f32 of rank at least 1 with at most 2^22 elements per row, and at
      least one where their number is constant;
    * topk_c2: destinations have the shape of `scores` with the last extent k, a constant between 1
      and 4096: `indices` of i32, then `values`, if any, of the element type of `scores` or f32,
      then, with `pages`, `slots` of i32;
    * topk_c3: `lengths` is i32 of the shape of `scores` without the last axis; `ends` and `starts`
      are, too, and `lengths` and `ends` exclude each other;
    * topk_c4: `bias` is bf16 or f32 of shape `[N]`; `other_bias` is, too, and needs `bias` and a
      mask, i1 of the shape of `scores` without the last axis;
    * topk_c5: `page_table` is i32 `[rows, pages]`, or `[requests, pages]` with `requests` or
      `cu_seq_lens`; `page` is positive, and given with it;
    * topk_c6: `requests` is i32 of the shape of `lengths`, and needs `pages`;
    * topk_c7: `ratio` is positive, and given only with `lengths`;
    * topk_c8: `groups`, `keep` and `by` are given together: N is a constant that the groups divide,
      and between 1 and G of them are kept, by between 1 and N / G elements of each;
    * topk_c9: `starts` exclude `bias` and `groups`, whose numbers belong to columns, while indices
      count from the start;
    * topk_c10: `next_n` is between 1 and 64, and given only with `lengths` of rank 1 and `scores`
      of rank 2;
    * topk_c11: `offsets` is i32 of the shape of `scores` without the last axis;
    * topk_c12: `ties high` excludes `groups`;
    * topk_c13: `shared` is between 1 and 32 and smaller than the last extent of `indices`, whose
      other columns are k; N is a constant then, and there are no `pages`, `starts` and `offsets`;
    * topk_c14: `valid_rows` has shape `[1]`, and `padding` is i1 of the shape of `scores` without
      the last axis;
    * topk_c15: `token_experts` add a last destination, of i32 and the shape of `indices`;
    * topk_c16: `cu_seq_lens` is i32 `[requests + 1]`, needs `pages` and `scores` of rank 2, and
      excludes `requests`;
    * topk_c17: `page_starts` is i32 of the shape of `scores` without the last axis, and needs
      `pages`;
    * topk_c18: `scores` of a `dsv4.index_score` with `keep_rest` are selected from with its own
      `lengths`, `ends`, `ratio` and `next_n`, and neither op has `starts`.

    Rows of scores that are farther apart than N elements have `dsv4.strides`, and so have such rows
    of results.

    Source: paper eq. 17 (the indexer's choice; an entry is visible if s < (t + 1) div m) and the
    router's choice of experts. Groups are those of DeepSeek-V3's router (2 elements of each) and of
    DeepSeek-V2's (1). Ties, NaN and padding are stated here because public kernels leave them open.
  }];
  let arguments = (ins
    DSV4_Operand<"scores", DSV4_Rows>:$scores,
    Optional<DSV4_Operand<"bias", DSV4_Rows>>:$bias,
    Optional<DSV4_Operand<"starts", DSV4_Indices>>:$starts,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    Optional<DSV4_Operand<"ends", DSV4_Indices>>:$ends,
    Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_Operand<"requests", DSV4_Indices>>:$requests,
    Optional<DSV4_Operand<"offsets", DSV4_Indices>>:$offsets,
    Variadic<DSV4_Operand<"outs", TensorOf<[I32, I64, UI32, BF16, F16, F32]>>>:$outs,
    Optional<DSV4_Operand<"valid_rows", DSV4_Indices>>:$valid_rows,
    Optional<DSV4_Operand<"padding", DSV4_Mask>>:$padding,
    Optional<DSV4_Operand<"cu_seq_lens", DSV4_Indices>>:$cu_seq_lens,
    Optional<DSV4_Operand<"page_starts", DSV4_Indices>>:$page_starts,
    Optional<DSV4_Operand<"other_bias", DSV4_Rows>>:$other_bias,
    Optional<DSV4_Operand<"other_rows", DSV4_Mask>>:$other_rows,
    DefaultValuedAttr<DSV4_TopkOrder, "::dsv4::TopkOrder::Unordered">:$order, UnitAttr:$smallest,
    UnitAttr:$ties_high, UnitAttr:$nan_first, OptionalAttr<I64Attr>:$next_n,
    OptionalAttr<I64Attr>:$page, OptionalAttr<I64Attr>:$ratio, OptionalAttr<I64Attr>:$groups,
    OptionalAttr<I64Attr>:$keep, OptionalAttr<I64Attr>:$by, OptionalAttr<I64Attr>:$shared,
    UnitAttr:$token_experts
  );
  let results = (outs Variadic<TensorOf<[I32, I64, UI32, BF16, F16, F32]>>:$chosen);
  let assemblyFormat = [{
    $scores (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`other_bias` `(` $other_bias^ `,` $other_rows `:` type($other_bias) `,` type($other_rows) `)`)?
    (`starts` `(` $starts^ `:` type($starts) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)? (`ends` `(` $ends^ `:` type($ends) `)`)?
    (`next_n` $next_n^)? (`ratio` $ratio^)?
    (`pages` `(` $page_table^ `:` type($page_table) `)`)? (`page` $page^)?
    (`requests` `(` $requests^ `:` type($requests) `)`)?
    (`cu_seq_lens` `(` $cu_seq_lens^ `:` type($cu_seq_lens) `)`)?
    (`page_starts` `(` $page_starts^ `:` type($page_starts) `)`)?
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    (`order` $order^)? (`smallest` $smallest^)? (`ties` `high` $ties_high^)?
    (`nan` `first` $nan_first^)? (`groups` $groups^)? (`keep` $keep^)? (`by` $by^)?
    (`valid_rows` `(` $valid_rows^ `:` type($valid_rows) `)`)?
    (`padding` `(` $padding^ `:` type($padding) `)`)?
    (`shared` $shared^)? (`token_experts` $token_experts^)?
    custom<Clause>("\"outs\"", "getClauses()") `(` $outs `:` type($outs) `)`
    attr-dict `:` type($scores)
    custom<TiedVariadic>(ref(type($outs)), type($chosen))
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxK = 4096;
    /// The keywords of the syntax, in their order.
    static ::llvm::StringRef getClauses() {
      return "bias other_bias starts lengths ends next_n ratio pages page requests cu_seq_lens "
             "page_starts offsets order smallest ties nan groups keep by valid_rows padding shared "
             "token_experts";
    }
    /// N at most: 4 Mi.
    static constexpr int64_t kMaxColumns = int64_t(1) << 22;
    /// Rows of a request at most.
    static constexpr int64_t kMaxNextN = 64;
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// Shared experts at most: a lane of a warp each.
    static constexpr int64_t kMaxShared = 32;
    /// k.
    int64_t getK();
    /// Columns of a result: k, and the shared experts.
    int64_t getRanks();
    /// Shared experts, 0 if there are none.
    int64_t getSharedCount() { return static_cast<int64_t>(getShared().value_or(0)); }
    /// Whether rows of the page table are those of requests.
    bool hasTableOfRequests() { return getRequests() || getCuSeqLens(); }
    /// The destinations, null where there is none.
    ::mlir::Value getIndices() { return getOuts().front(); }
    ::mlir::Value getValues();
    ::mlir::Value getSlots();
    ::mlir::Value getTokenExpertIndices();
  }];
  let hasVerifier = 1;
}

#endif // DSV4_SELECT_OPS_TD
