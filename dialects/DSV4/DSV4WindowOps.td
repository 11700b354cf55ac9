//===- DSV4WindowOps.td - Ops that reduce windows of rows -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_WINDOW_OPS_TD
#define DSV4_WINDOW_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// compress
//===----------------------------------------------------------------------===//

def DSV4_CompressOp : DSV4_Op<"compress", [
    DestinationStyleOpInterface, AttrSizedOperandSegments, DSV4_CacheOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getCooperativeWork", "explainProducer"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>,
    DSV4_FusionOpInterface,
    DSV4_ResultContractInterface
  ]> {
  let summary = "pool windows of tokens, each channel by a softmax over them";
  let description = [{
    ```mlir
    !state = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>

    func.func @compress(%values: tensor<?x1024xf32>, %scores: tensor<?x1024xf32>,
                        %plan: tensor<?x4xi32>, %bias: tensor<4x1024xf32>, %state: !state,
                        %out: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
      %entries = dsv4.compress %values, %scores window 4 overlap
          plan(%plan : tensor<?x4xi32>) bias(%bias : tensor<4x1024xf32>)
          state(%state : !state) ring 8 outs(%out : tensor<?x512xbf16>)
          : tensor<?x1024xf32>, tensor<?x1024xf32>
      return %entries : tensor<?x512xbf16>
    }
    ```

    Makes one entry of a compressed cache from each window of tokens. Every channel of the entry is
    an average of that channel over the window, weighted by a softmax of its scores.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `values`, `scores` | bf16 or f32 `[tokens, D]`, with `overlap` `[tokens, 2 D]` | tokens of this launch |
    | `plan` | i32 `[entries, 4]`, `online` `[entries, 5]` | work list: windows, and the requests, positions and rows of their tokens |
    | `bias` | f32 `[window, columns of values]` | added to the scores, by position in the window |
    | `state` | a cache | tokens of earlier launches; with `online` sums of them |
    | `pages` | i32 `[requests, pages]` | page table of the state |
    | `score_state` | a cache | scores of these tokens, if `state` has only their values |
    | `score_pages` | i32 `[requests, pages]` | page table of `score_state` |
    | `outs` | bf16 or f32 `[entries, D]` | entries |

    ```
    out(e, c) = sum_r p_r(c) * value_r(c),  p(c) = softmax over r of score_r(c)
    ```

    **Windows.** Entry e reduces the `window` tokens from position w = plan[e, 0] on. Without
    `overlap` tokens have one stream of D channels, and r counts these tokens. With `overlap` the
    entry also reduces the window before, and tokens have two streams in 2 D columns: rows r <
    window are the tokens from position w - window on with columns [0, D), the others those from
    position w on with columns [D, 2 D). Row r mod window of `bias` is added to the scores of row r,
    in all columns.

    **Work list.** Every row of the plan is `[w, request, position, token]`. Row `token` of `values`
    and `scores` belongs to position `position` of the request, and the rows after it to its next
    positions. Positions before `position` are read from the state, whose fields are the values and
    the scores of a token (`biased`: the bias is in them already):

    ```
    ring n, no pages:  entry = request * n + t mod n
    ring n, pages:     entry = page_table[request, (t mod n) div page] * page + t mod n mod page
    pages, no ring:    entry = page_table[request, t div page] * page + t mod page
    ```

    With `score_state` the values and the scores of a token are in two caches, each with a page size
    and a page table of its own, by which the entry of a position is found.

    A token that is in neither, or before position 0, has weight 0, and nothing is read for it. So
    does one that only one of two caches has. An
    entry with w < 0 or w > 2^31 - 4096 has no tokens, and one whose weights are all 0 is zeros.
    Only windows that become complete need a row, so the launch has one row per entry that it makes.

    **Numbers.** Every operation rounds to nearest even in fp32. Rows are taken in blocks of eight
    in their order; the last block, if it is not the only one, is filled up with tokens of weight 0.
    A block has the maximum M of its scores, ignoring NaN. It has weights e_r = exp(score_r - M),
    and the sums of e_r and of e_r * value_r as binary trees of neighbours, where an unpaired value
    moves up one level unchanged. Blocks are merged by such a tree: with M' the larger maximum, both
    sums of each are multiplied by exp(M - M') and added, and M' is the maximum of both. If a
    maximum that is subtracted is -infinity, 0 is subtracted instead; the maximum itself stays
    -infinity. Finally the second sum is divided by the first. exp is the polynomial of
    docs/Compression.md, with the same bits on every target. So an entry depends neither on how its
    tokens were divided among launches, nor on the schedule.

    **`algorithm online`.** Tokens of an open window are not kept. The state holds, channel by
    channel, the largest score M, the sum S of weights and the sum A of weighted values so far:
    three fields, which the op reads and writes. A row of the plan is one segment of a window,
    `[position, count, token, from, to]`: the `count` tokens of a request from position `position`
    on, which are row `token` of `values` and `scores` and the rows after it, as far as the window
    and `values` have them. The segment begins at position mod window of its window, and its tokens
    use the rows of `bias` from there on. It continues entry `from` of the state (entry i is slot
    i mod page of page i div page), unless it begins its window. If it does, or if `from` is
    negative or outside the pool, M = -infinity and S = A = 0. Then, token by token, with
    s its score and bias, v its value and M' the larger of M and s (+0 above -0, NaN if one is NaN):

    ```
    M >= s:     e = exp(s - M'),  S' = S + e,      A' = A + e * v
    otherwise:  e = exp(M - M'),  S' = S * e + 1,  A' = A * e + v
    ```

    Every product and sum rounds to nearest even in fp32. If M' is -infinity, 0 is subtracted
    instead, and M' stays -infinity; if it is NaN or +infinity, S' and A' are NaN. A segment that
    ends its window makes the row A / S, or 0 where S is 0, and its state is not written. All other
    rows are zeros, and their state is written to entry `to`, unless that is negative or outside the
    pool. A row of the plan with a position below 0 or above 2^31 - 4096, a negative `token`, or no
    token, is no segment: nothing is read or written for it. The caller promises that no segment of
    a launch reads or writes an entry of the state that another one writes. A segment may write the
    entry that it reads.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). f16 is accepted
    wherever bf16 is.

    Clauses:

    * compress_c1: `values` and `scores` are bf16 or f32 of one type `[tokens, D]`, `[tokens, 2 D]`
      with `overlap`, D constant;
    * compress_c2: `plan` is i32 `[entries, 4]`, `[entries, 5]` with `algorithm online`; if
      `dsv4.compress_plan` computes it, its `window` is the same;
    * compress_c3: the result is bf16 or f32 `[entries, D]`, and overwrites neither `values` nor
      `scores`, which other rows still read;
    * compress_c4: `window` is between 1 and 1024, 512 with `overlap`;
    * compress_c5: `bias` is f32 of shape `[window, columns of values]`;
    * compress_c6: the state has two fields, values and scores, both of the element type and the
      columns of `values`, without scales and in the row or in arrays; with `algorithm online`
      three, M, S and A, each f32 of D elements;
    * compress_c7: a state has a ring or a page table; a ring is at least as long as the rows of a
      window (two with `overlap`) less one, at least 1 and below 2^31, and a multiple or a divisor
      of the page size; `page_table` is i32 `[requests, pages]`; without a state there is no ring,
      page table or `biased`;
    * compress_c8: `algorithm online` has a state, and no `overlap`, `ring`, `biased`, `pages` or
      `score_state`;
    * compress_c9: with `score_state` the state has one field, the values, and `score_state` one,
      the scores, each as in compress_c6; there are `pages` and `score_pages`, i32
      `[requests, pages]`, and no ring; without it there are no `score_pages`.

    Source: paper eq. 9-12; the official `Compressor` (columns [0, D) are the overlapping stream).
  }];
  let arguments = (ins
    DSV4_Operand<"values", DSV4_Rows>:$values, DSV4_Operand<"scores", DSV4_Rows>:$scores,
    DSV4_Operand<"plan", DSV4_Indices>:$plan, Optional<DSV4_Operand<"bias", TensorOf<[F32]>>>:$bias,
    Optional<DSV4_CacheType>:$state, Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_CacheType>:$score_state,
    Optional<DSV4_Operand<"score_pages", DSV4_Indices>>:$score_page_table,
    DSV4_Operand<"out", DSV4_Rows>:$out, I64Attr:$window,
    DefaultValuedAttr<DSV4_CompressAlgorithm, "::dsv4::CompressAlgorithm::Windowed">:$algorithm,
    UnitAttr:$overlap, OptionalAttr<I64Attr>:$ring, UnitAttr:$biased
  );
  let results = (outs DSV4_Rows:$entries);
  let assemblyFormat = [{
    $values `,` $scores `window` $window (`overlap` $overlap^)? (`algorithm` $algorithm^)?
    `plan` `(` $plan `:` type($plan) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`state` `(` $state^ `:` qualified(type($state)) `)`)? (`ring` $ring^)? (`biased` $biased^)?
    (`pages` `(` $page_table^ `:` type($page_table) `)`)?
    (`score_state` `(` $score_state^ `:` qualified(type($score_state)) `)`)?
    (`score_pages` `(` $score_page_table^ `:` type($score_page_table) `)`)?
    custom<Clause>("\"outs\"",
        "\"window overlap algorithm plan bias state ring biased pages score_state score_pages\"")
    `(` $out `:` type($out) `)`
    attr-dict `:` type($values) `,` type($scores)
    custom<TiedResult>(ref(type($out)), type($entries))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    /// The largest position of a window, so that those in it have 32 bits.
    static constexpr int64_t kMaxPosition = (int64_t(1) << 31) - 4096;
    ::mlir::Value getAccessedCache() { return getState(); }
    ::llvm::SmallVector<FieldAttr> getWrittenFields();
    bool isOnline() { return getAlgorithm() == CompressAlgorithm::Online; }
    /// Rows of a window, both windows with overlap.
    int64_t getWindowRows() { return getOverlap() ? 2 * getWindow() : getWindow(); }
    /// D.
    int64_t getChannels();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// compress_plan
//===----------------------------------------------------------------------===//

def DSV4_CompressPlanOp : DSV4_Op<"compress_plan", [
    Pure, DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getProvidedAccesses"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "the work list of a compressor, from what the device knows of tokens";
  let description = [{
    ```mlir
    func.func @plan(%position: tensor<?xi32>, %request: tensor<?xi32>, %starts: tensor<?xi32>,
                    %slot: tensor<?xi32>, %plan: tensor<?x4xi32>, %entry_position: tensor<?xi32>,
                    %entry_slot: tensor<?xi32>)
        -> (tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>) {
      %0, %1, %2 = dsv4.compress_plan window 4 positions(%position : tensor<?xi32>)
          requests(%request : tensor<?xi32>) starts(%starts : tensor<?xi32>)
          slots(%slot : tensor<?xi32>)
          outs(%plan, %entry_position, %entry_slot
               : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
      return %0, %1, %2 : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>
    }
    ```

    Finds the windows that the tokens of a launch complete, as the plan that `dsv4.compress` takes.
    Nothing of it is known to the host, so a captured graph makes the plan anew each time.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `positions` | i32 `[tokens]` | position of each token in its request |
    | `lengths` | i32 `[requests]` | positions of a request after the launch, instead of `positions` |
    | `requests` | i32 `[tokens]` | request of each token |
    | `starts` | i32 `[requests + 1]` | first token of each request, and the number of tokens |
    | `entry_starts` | i32 `[requests + 1]` | first entry of each request, and the number of entries |
    | `from`, `to` | i32 `[requests]` | with `online`, entry of the state of each request before and after the launch |
    | `slots` | i32 `[tokens]` | slot in the compressed cache, for tokens that end a window |
    | `pages` | i32 `[requests, pages]` | page table of the compressed cache, instead of `slots` |
    | `outs` | i32 `[rows, 4]`, `online` `[rows, 5]`; `[rows]`; `[rows]` | the plan, positions w of its entries, their slots |

    Tokens of a request are the rows from starts[b] to starts[b + 1] - 1, at consecutive positions.
    So token t of request b has position positions[t], or lengths[b] - starts[b + 1] + t. The first
    one has position p(b).

    **A row for each token** is what the op makes without `entry_starts`. Token t at position p ends
    a window if p + 1 is a multiple of `window`:

    ```
    w = p + 1 - window,  plan[t] = [w, b, p - (t - starts[b]), starts[b]]
    ```

    b is requests[t]. Without `requests` it is found in `starts`. Without `starts` all tokens are
    taken to be in the state already, and plan[t] = [w, b, p + 1, 0].

    **A row for each entry** is what it makes with `entry_starts`. Row e belongs to the request b
    with entry_starts[b] <= e < entry_starts[b + 1], and is its next window:

    ```
    w = (p(b) div window + e - entry_starts[b]) * window,  plan[e] = [w, b, p(b), starts[b]]
    ```

    It is an entry only if the launch has its last token. So entries follow each other in the order
    of tokens, and those beyond the last one, as a captured graph has them, are none.

    **`algorithm online`.** The plan has a row for each segment: for the tokens that the launch has
    of one window of one request. It is `[position, count, token, from[b], to[b]]` of the segment.

    * Without `entry_starts` the row of the first of these tokens, t, has it: position is that of
      token t, count the number of tokens from t on that are of this request and window, and token
      is t. All other rows are none. A token is the first one if it is starts[b] or begins a window.
    * With `entry_starts` the numbers count segments, not entries. Row e is the next window of the
      request that has a token: position is p(b) for the first one, and else that of the window.

    The position w and the slot of a row are those of its entry if the segment ends its window, and
    -1 otherwise. A segment is in the plan whether its entry has a slot or not.

    The caller promises that no entry is in `from` or `to` of two requests, and that `from` and `to`
    of a request differ where a launch ends one window of it and begins another.

    **Slots.** With `slots` the slot of an entry is that of the last token of its window. With
    `pages` it is slot i mod `page` of page i div `page` of the request's table, i = w div window.
    An entry with a negative slot, or without one, is none (`online`: its position and slot are -1).

    **No entry.** Where a row is no entry, or no segment, its plan is -1 in all columns, and its
    position and slot are -1. `dsv4.compress` makes zeros of such a row, `dsv4.rope` leaves it, and
    `dsv4.paged_append` skips it. A row is no entry, and nothing is read out of range for it, if

    * its token has a negative position, or its window one above 2^31 - 4096;
    * its request is negative or beyond an operand that has something for each request;
    * its token is not among those of its request, or the starts of the request are negative or
      decrease;
    * its slot is negative, is above 2^31 - 1, or is in no page.

    A request is looked for by halving: from all requests, the later half is kept if its first start
    is at most the row, else the earlier half. So starts that decrease find some request, for which
    the same conditions hold.

    Clauses:

    * compress_plan_c1: `window` is between 1 and 1024;
    * compress_plan_c2: there are either `positions`, i32 `[tokens]`, or `lengths`, i32
      `[requests]`;
    * compress_plan_c3: `starts` is i32 `[requests + 1]`; only `positions` with `requests` do
      without it;
    * compress_plan_c4: `requests` is i32 `[tokens]`, and not there with `entry_starts`;
    * compress_plan_c5: `entry_starts` is i32 `[requests + 1]`;
    * compress_plan_c6: at most one of `slots`, i32 `[tokens]`, and `pages`, i32
      `[requests, pages]`; with `pages`, `page` is between 1 and 2^31 - 1;
    * compress_plan_c7: the results are a plan i32 `[rows, 4]`, which may be followed by positions,
      i32 `[rows]`; slots, i32 `[rows]`, follow them if, and only if, there are `slots` or `pages`;
      without `entry_starts` there is a row for each token; with `algorithm online` a plan is i32
      `[rows, 5]`;
    * compress_plan_c8: `from` and `to` are i32 `[requests]`, and there if, and only if, the plan is
      for `algorithm online`, which needs `starts`, too.

    Source: the plan kernels and `cu_seq_lens`, `cu_kv_comp` and `slot_mapping` of public engines.
  }];
  let arguments = (ins
    I64Attr:$window,
    Optional<DSV4_Operand<"positions", DSV4_Indices>>:$positions,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    Optional<DSV4_Operand<"requests", DSV4_Indices>>:$requests,
    Optional<DSV4_Operand<"starts", DSV4_Indices>>:$starts,
    Optional<DSV4_Operand<"entry_starts", DSV4_Indices>>:$entry_starts,
    Optional<DSV4_Operand<"slots", DSV4_Indices>>:$slots,
    Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_Operand<"from", DSV4_Indices>>:$from,
    Optional<DSV4_Operand<"to", DSV4_Indices>>:$to,
    OptionalAttr<I64Attr>:$page,
    Variadic<DSV4_Operand<"outs", TensorOf<[I32]>>>:$outs,
    DefaultValuedAttr<DSV4_CompressAlgorithm, "::dsv4::CompressAlgorithm::Windowed">:$algorithm
  );
  let results = (outs Variadic<TensorOf<[I32]>>:$list);
  let assemblyFormat = [{
    `window` $window (`algorithm` $algorithm^)?
    (`positions` `(` $positions^ `:` type($positions) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`requests` `(` $requests^ `:` type($requests) `)`)?
    (`starts` `(` $starts^ `:` type($starts) `)`)?
    (`entry_starts` `(` $entry_starts^ `:` type($entry_starts) `)`)?
    (`from` `(` $from^ `:` type($from) `)`)? (`to` `(` $to^ `:` type($to) `)`)?
    (`slots` `(` $slots^ `:` type($slots) `)`)?
    (`pages` `(` $page_table^ `:` type($page_table) `)`)? (`page` $page^)?
    custom<Clause>("\"outs\"", "getClauses()") `(` $outs `:` type($outs) `)` attr-dict
    custom<TiedVariadic>(ref(type($outs)), type($list))
  }];
  let extraClassDeclaration = [{
    /// The keywords of the syntax, in their order.
    static ::llvm::StringRef getClauses() {
      return "window algorithm positions lengths requests starts entry_starts from to slots pages "
             "page";
    }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    bool isOnline() { return getAlgorithm() == CompressAlgorithm::Online; }
    /// Numbers of a row of the plan.
    int64_t getPlanColumns() { return isOnline() ? 5 : 4; }
    /// Whether there is a row for each entry, not for each token.
    bool hasRowPerEntry() { return static_cast<bool>(getEntryStarts()); }
    bool hasSlots() { return getSlots() || getPageTable(); }
  }];
  let hasVerifier = 1;
}

#endif // DSV4_WINDOW_OPS_TD
