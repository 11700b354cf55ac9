//===- DSV4ScoreOps.td - Ops that score keys -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCORE_OPS_TD
#define DSV4_SCORE_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// index_score
//===----------------------------------------------------------------------===//

def DSV4_IndexScoreOp : DSV4_Op<"index_score", [
    DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getCooperativeWork", "skipsRows"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getProvidedAccesses", "getAccessNote"]>,
    DeclareOpInterfaceMethods<DSV4_ResultContractInterface, ["getContract"]>
  ]> {
  let summary = "scores of the keys of an index";
  let description = [{
    ```mlir
    func.func @score(%q: tensor<?x64x128xf8E4M3FN>, %weights: tensor<?x64xf32>,
                     %keys: !dsv4.cache<64 x <index_fp8_132>>, %table: tensor<?x?xi32>,
                     %position: tensor<?xi32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32> {
      %scores = dsv4.index_score %q weights(%weights : tensor<?x64xf32>)
          cache(%keys : !dsv4.cache<64 x <index_fp8_132>>) pages(%table : tensor<?x?xi32>)
          lengths(%position : tensor<?xi32>) ratio 4
          outs(%out : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
      return %scores : tensor<?x?xf32>
    }
    ```

    Scores the keys of each row's request: the lightning indexer. `dsv4.topk` selects from the
    scores, and in the same kernel no score is in memory:

    ```mlir
    func.func @choose(%q: tensor<?x64x64xf4E2M1FN>, %q_scale: tensor<?x64x2xf8E8M0FNU>,
                      %weights: tensor<?x64xf32>, %k: tensor<?x64xf4E2M1FN>,
                      %k_scale: tensor<?x2xf8E8M0FNU>, %length: tensor<?xi32>,
                      %indices: tensor<?x512xi32>) -> tensor<?x512xi32> {
      %c0 = arith.constant 0 : index
      %rows = tensor.dim %q, %c0 : tensor<?x64x64xf4E2M1FN>
      %row = tensor.empty(%rows) : tensor<?x4096xf32>
      %scores = dsv4.index_score %q scales(%q_scale : tensor<?x64x2xf8E8M0FNU>)
          weights(%weights : tensor<?x64xf32>) keys(%k : tensor<?x64xf4E2M1FN>)
          key_scales(%k_scale : tensor<?x2xf8E8M0FNU>) lengths(%length : tensor<?xi32>)
          outs(%row : tensor<?x4096xf32>) : tensor<?x64x64xf4E2M1FN>
      %chosen = dsv4.topk %scores lengths(%length : tensor<?xi32>) order index_ascending
          outs(%indices : tensor<?x512xi32>) : tensor<?x4096xf32>
      return %chosen : tensor<?x512xi32>
    }
    ```

    | operand | element type and shape | meaning |
    |---|---|---|
    | `queries` | f8E4M3FN, f4E2M1FN or bf16 `[rows, heads, dim]` | a query per head |
    | `scales` | f8E8M0FNU `[rows, heads, dim / 32]` | the scales of queries of f4E2M1FN |
    | `weights` | f32 `[rows, heads]` | final, with a sign |
    | `cache` | a cache | the keys, of pages |
    | `pages` | i32 `[rows, pages]`, `[requests, pages]`, or `[pages]` with `indptr` | page table |
    | `indptr` | i32 `[requests + 1]` | where the pages of each request begin in `pages` |
    | `requests` | i32 `[rows]` | row of the page table of each row |
    | `keys` | f8E4M3FN, f4E2M1FN or bf16 `[keys, dim]` | the keys, in order, instead of `cache` |
    | `key_scales` | those of the format, `[keys]` or `[keys, groups]` | the scales of `keys` |
    | `starts` | i32 `[rows]` | the first key of each row |
    | `lengths` | i32 `[rows]`, or `[requests]` with `next_n` | number of keys of each row |
    | `ends` | i32 `[rows]` | the key after the last one of each row, instead of `lengths` |
    | `outs` | f32, bf16 or f16 `[rows, N]` | the scores |

    **Scores.** Row r has the keys 0 to n - 1. Key i is key start + i of the request, or of `keys`;
    start is 0 without `starts`. Column i of the result is its score, and -infinity from column n
    on, without `keep_rest`:

    ```
    score(r, i) = scale(key) * sum over h of weights[r, h] * relu(sum over d of q[r, h, d] * k[d])
      where relu(x) = x < 0 ? 0 : x
    ```

    A NaN stays one: relu(NaN) is NaN, and so is a score that a NaN is part of, while other
    scores are as they were. Weights have a sign, and so have scores.

    **Formats.** Each operand has one of these, the queries without the scale of a row:

    | format | elements | scales |
    |---|---|---|
    | FP8 | f8E4M3FN | f32 per key: `scale(key)`, after the sum over heads |
    | MXFP4 | f4E2M1FN | f8E8M0FNU per 32 elements, part of q and k |
    | NVFP4 | f4E2M1FN | f8E4M3FN per 16 elements, part of k; keys only |
    | bf16 | bf16 | none |

    Where a format has no scale of a key, `scale(key)` is 1. The weights are final: a caller
    multiplies them by the scales of queries in FP8, by dim^-1/2 and by heads^-1/2 before.

    **Lengths.** n is N without `lengths`, else `lengths[r]`, but at least 0 and at most N. With
    `ratio` m the lengths are positions of queries in their sequences. Then n is the number of
    compressed entries that are complete at the position: (`lengths[r]` + 1) div m. n is 0 for a
    negative position.

    With `next_n` N each request has N neighbouring rows, those of a query and of the tokens that
    are drafted after it, and `lengths` has one number per request: that of the last of these rows.
    Row r = q * N + j has n = max(0, `lengths[q]` - N + 1 + j), divided by m with `ratio` m (here
    the numbers are lengths, not positions). n is 0 if `lengths` has no element q. If the numbers of
    rows and of lengths are constants, there are N rows for each length.

    With `keep_rest` columns from n on keep what `outs` has, and are not written: the scores of a
    short row cost what a short row costs, however many columns there are. A selection from them
    must have the same lengths and no starts (topk_c18), and is in a kernel of its own.

    **Starts.** A row has no key if its start is negative, or its end is not above its start. It
    ends after n keys, or before key `ends[r]`, and with the last one of `keys` in any case.

    **Pages.** Key s of a request is entry s mod page_size of page s div page_size, which the page
    table leads to:

    ```
    page = page_table[q, s div page_size], or pages[indptr[q] + s div page_size]
      where q = requests ? requests[r] : r div next_n (r without next_n)
    ```

    Where the table has no such element, or one that is negative or not a page of the cache, the
    score is -infinity, and nothing of the cache is read. With `indptr` there is the element if it
    is below `indptr[q + 1]` and in the list, and `indptr[q]` is not negative.

    **Transforms.** `query_transforms` and `key_transforms` name what queries and keys went through
    before they were quantised: "rope", "hadamard", in that order. Products of transformed and other
    vectors mean nothing, so the two are equal.

    **Contract.** `bounded`: |score - exact| <= 2^-9 * S + 2^-22 * T + the rounding of the result.
    S is scale(key) * the sum over h of |weights[r, h]| * the sum over d of |q[r, h, d] * k[d]|. T
    is S with every element of q, and of k, at the largest magnitude that its scales allow: groups
    with scales that are far below others of the same vector may count as zeros.
    Where all terms of S are multiples of one power of two, S is at most 2048 times that power and
    T at most 2^34 times, a score is exact. A score depends on one query and one key alone: it is
    the same in every batch and page size, and in all schedules of one algorithm on one
    architecture. The tables choose the algorithm by formats, dim, alignment, strides and `starts`
    ([which](../Indexer.md#how-exact-scores-are)), and never by the number of rows or keys.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)).

    Clauses:

    * index_score_c1: `queries` is f8E4M3FN, f4E2M1FN or bf16 `[rows, heads, dim]` with 1 to 128
      heads and a dim of 32 to 256, a multiple of 32;
    * index_score_c2: `scales` is f8E8M0FNU `[rows, heads, dim / 32]`, with queries of f4E2M1FN and
      no others;
    * index_score_c3: `weights` is f32 `[rows, heads]`;
    * index_score_c4: there is one of `cache` and `keys`. The record of the cache has one field of
      data, of dim elements in one of the formats above, whose pairs are not `high_first` and whose
      scales are not interleaved;
    * index_score_c5: `keys` is `[keys, dim]` in one of the formats above, and `key_scales` are
      those of the format;
    * index_score_c6: a `cache` needs `pages`, i32 `[rows, pages]`, `[requests, pages]` with
      `requests` or `next_n`, or `[pages]` with `indptr`; `keys` have none;
    * index_score_c7: `indptr` is i32 `[requests + 1]` and `requests` i32 `[rows]`; both need
      `pages`;
    * index_score_c8: `lengths` without `next_n`, `ends` and `starts` are i32 `[rows]`; `lengths`
      and `ends` exclude each other;
    * index_score_c9: `ratio` is positive, and given only with `lengths`;
    * index_score_c10: `next_n` is between 1 and 64, and given only with `lengths`, which are
      `[requests]` then, without `ends`;
    * index_score_c11: `query_transforms` and `key_transforms` are equal: "rope" or "hadamard", each
      at most once and in this order;
    * index_score_c12: the result is f32, bf16 or f16 `[rows, N]`, N being at most 2^22.

    Rows of queries, keys, tables and scores that are farther apart have `dsv4.strides`.

    Source: paper eq. 14-16 (the indexer's scores); kernels of public engines for its formats.
  }];
  let arguments = (ins
    DSV4_Operand<"queries", TensorOf<[F8E4M3FN, F4E2M1FN, BF16]>>:$queries,
    Optional<DSV4_Operand<"scales", TensorOf<[F8E8M0FNU]>>>:$scales,
    DSV4_Operand<"weights", TensorOf<[F32]>>:$weights,
    Arg<Optional<DSV4_CacheType>, "the cache", [MemRead<DSV4_CacheResource>]>:$cache,
    Optional<DSV4_Operand<"keys", TensorOf<[F8E4M3FN, F4E2M1FN, BF16]>>>:$keys,
    Optional<DSV4_Operand<"key_scales", TensorOf<[F8E8M0FNU, F8E4M3FN, F32]>>>:$key_scales,
    Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_Operand<"indptr", DSV4_Indices>>:$indptr,
    Optional<DSV4_Operand<"requests", DSV4_Indices>>:$requests,
    Optional<DSV4_Operand<"starts", DSV4_Indices>>:$starts,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    Optional<DSV4_Operand<"ends", DSV4_Indices>>:$ends,
    DSV4_Operand<"outs", DSV4_Rows>:$out,
    OptionalAttr<I64Attr>:$next_n, OptionalAttr<I64Attr>:$ratio, UnitAttr:$keep_rest,
    OptionalAttr<StrArrayAttr>:$query_transforms, OptionalAttr<StrArrayAttr>:$key_transforms
  );
  let results = (outs DSV4_Rows:$scores);
  let assemblyFormat = [{
    $queries (`scales` `(` $scales^ `:` type($scales) `)`)?
    `weights` `(` $weights `:` type($weights) `)`
    (`cache` `(` $cache^ `:` qualified(type($cache)) `)`)?
    (`keys` `(` $keys^ `:` type($keys) `)`)?
    (`key_scales` `(` $key_scales^ `:` type($key_scales) `)`)?
    (`pages` `(` $page_table^ `:` type($page_table) `)`)?
    (`indptr` `(` $indptr^ `:` type($indptr) `)`)?
    (`requests` `(` $requests^ `:` type($requests) `)`)?
    (`starts` `(` $starts^ `:` type($starts) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)? (`ends` `(` $ends^ `:` type($ends) `)`)?
    (`next_n` $next_n^)? (`ratio` $ratio^)? (`keep_rest` $keep_rest^)?
    custom<Clause>("\"outs\"", "getClauses()") `(` $out `:` type($out) `)`
    attr-dict `:` type($queries) `` custom<TiedResult>(ref(type($out)), type($scores))
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxHeads = 128;
    static constexpr int64_t kMaxDim = 256;
    /// N at most: 4 Mi.
    static constexpr int64_t kMaxColumns = int64_t(1) << 22;
    /// Rows of a request at most.
    static constexpr int64_t kMaxNextN = 64;
    /// The terms' part of the bound of a score, and the part of what scales allow: tensor cores
    /// read scales relative to the largest one.
    static constexpr double kTermBound = 0x1p-9, kScaleBound = 0x1p-22;
    /// How often the power of two that divides all terms of an exact score may be in their sum, and
    /// in what scales allow.
    static constexpr double kMaxExactTerms = 0x1p11, kMaxExactScales = 0x1p34;
    /// The keywords of the syntax, in their order.
    static ::llvm::StringRef getClauses() {
      return "scales weights cache keys key_scales pages indptr requests starts lengths ends "
             "next_n ratio keep_rest";
    }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    int64_t getHeads() {
      return ::llvm::cast<::mlir::ShapedType>(getQueries().getType()).getDimSize(1);
    }
    int64_t getDim() {
      return ::llvm::cast<::mlir::ShapedType>(getQueries().getType()).getDimSize(2);
    }
    /// The field of the cache with the keys, and that with their scales or null.
    FieldAttr getKeyField();
    FieldAttr getKeyScaleField();
    /// The formats of the device library: "e4m3", "mxfp4", "nvfp4" or "bf16".
    ::llvm::StringRef getQueryFormat();
    ::llvm::StringRef getKeyFormat();
  }];
  let hasVerifier = 1;
}

#endif // DSV4_SCORE_OPS_TD
