//===- DSV4CacheOps.td - Ops that read and write paged caches -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_CACHE_OPS_TD
#define DSV4_CACHE_OPS_TD

include "DSV4OpBase.td"

//===----------------------------------------------------------------------===//
// paged_gather
//===----------------------------------------------------------------------===//

def DSV4_PagedGatherOp : DSV4_Op<"paged_gather", [
    DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["skipsRows"]>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["getScaleGroups", "getResultGroup"]>,
    DeclareOpInterfaceMethods<DSV4_FusionOpInterface, ["getProvidedAccesses", "getAccessNote"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "gather rows of a paged cache";
  let description = [{
    ```mlir
    func.func @gather(%cache: !dsv4.cache<64 x <v4_584>>, %indices: tensor<?x?xi32>,
                      %table: tensor<?x?xi32>, %request: tensor<?xi32>, %length: tensor<?xi32>,
                      %out: tensor<?x?x512xbf16>, %mask: tensor<?x?xi1>)
        -> (tensor<?x?x512xbf16>, tensor<?x?xi1>) {
      %rows, %valid = dsv4.paged_gather %cache[%indices]
          pages(%table : tensor<?x?xi32>) requests(%request : tensor<?xi32>)
          lengths(%length : tensor<?xi32>)
          outs(%out : tensor<?x?x512xbf16>) mask(%mask : tensor<?x?xi1>)
          : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi32>
      return %rows, %valid : tensor<?x?x512xbf16>, tensor<?x?xi1>
    }
    ```

    Reads one entry of a cache per row. `outs` gets each entry decoded into one row of values,
    `fields` get its stored fields as they are. `indices` name the entries, or the rows are those of
    [ragged requests](#ragged-requests).

    | operand | element type and shape | meaning |
    |---|---|---|
    | `cache` | a cache | the pool that entries are read from |
    | `indices` | i32 `[k]` or `[tokens, k]`, `[tokens]` with `requests` | positions, or entries of the pool without `pages` |
    | `pages` | i32 `[pages]`, `[tokens, pages]`, or `[requests, pages]` with `requests` or ragged requests | page table |
    | `indptr` | i32 `[requests + 1]` | where the pages of each request begin in `pages`, of rank 1 |
    | `requests` | i32 `[tokens]` | row of the page table of each token |
    | `lengths` | i32 `[tokens]`, `[requests]` with `lengths per request`; rank 0 if `indices` has rank 1 and there are no `requests` | indices at or beyond it are not valid |
    | `outs` | bf16 or f32 `rows ++ [row extent]` | the rows |
    | `fields` | `rows ++ [extent]`, in the order of the record | the stored fields, all except those `per tensor` |
    | `mask` | i1 `rows` | whether each row is valid |

    `rows` is the shape of `indices`, or that of the ragged requests.

    ```
    row(t, j) = i < 0 || i >= length             ? zeros, not valid
              : page < 0 || page >= pages        ? zeros, not valid
              : decode(cache[page][i mod page_size])
      where i      = indices[t, j]
            page   = page_table ? page_table[r, i div page_size] : i div page_size
            r      = requests ? requests[t] : t
            length = lengths[t], or lengths[r] with `lengths per request`
    ```

    With `requests`, `indices` of rank 1 has one index per token. The lengths are one per token,
    also with `requests`, unless `lengths per request` says that they are one per request, as
    `dsv4.paged_append` takes them. `lengths per token` is the default.

    `in_bytes` says that `indices` without `pages` are [byte offsets](#slots-in-bytes).

    A row that is not valid is zeros, its element of the mask is false, and nothing of the cache is
    read for it. A row is also not valid when `i div page_size` is outside the page table, or `r`
    outside its rows or the lengths per request. Without `lengths`, no index is too large for its
    request.

    With `indptr` the page table is a list: page p of request r is element `indptr[r] + p` of
    `pages`, if that is below `indptr[r + 1]` and in the list. Otherwise the row is not valid, as it
    is if `indptr[r]` is negative.

    A stored element decodes to `element * scale_0 * scale_1 ...`. Every product is rounded to fp32,
    and the last value to nearest even into the result. A NaN becomes 0x7FFF in bf16 and 0x7FFFFFFF
    in f32. A field without scales whose type is that of the result is copied bit by bit.

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)). f16 is accepted wherever bf16 is.

    #### Stored fields

    ```mlir
    func.func @gather(%cache: !dsv4.cache<64 x <index_fp8_132>>, %slots: tensor<?xi32>,
                      %key: tensor<?x128xf8E4M3FN>, %scale: tensor<?xf32>)
        -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
      %keys, %scales = dsv4.paged_gather %cache[%slots]
          fields(%key, %scale : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
          : !dsv4.cache<64 x <index_fp8_132>>, tensor<?xi32>
      return %keys, %scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>
    }
    ```

    The bytes of a field are those of the record: scales that the record interleaves stay so, pairs
    of 4-bit elements keep their order, and padding is left out. A scale `per row` and metadata
    of one element may have the shape `rows`. The results are memory for other kernels: no op that
    consumes them is fused. `dsv4.paged_append` with the same `fields` writes the same bytes, if no
    field is interleaved or `high_first`.

    #### Ragged requests

    ```mlir
    func.func @gather(%cache: !dsv4.cache<64 x <index_fp8_132>>, %table: tensor<?x?xi32>,
                      %cu_seq_lens: tensor<?xi32>, %out: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
      %rows = dsv4.paged_gather %cache pages(%table : tensor<?x?xi32>)
          cu_seq_lens(%cu_seq_lens : tensor<?xi32>) outs(%out : tensor<?x128xbf16>)
          : !dsv4.cache<64 x <index_fp8_132>>
      return %rows : tensor<?x128xbf16>
    }
    ```

    Without `indices`, every request has consecutive positions, and the device reads which row is
    for which of them. A row that belongs to no request is left as it is, and so is its element of
    the mask.

    | operand | element type and shape | meaning |
    |---|---|---|
    | `cu_seq_lens` | i32 `[requests + 1]` | request b has the rows from element b on, up to element b + 1 |
    | `row_starts` | i32 `[requests]` | request b has `seq_lens[b]` rows from element b on |
    | `seq_lens` | i32 `[requests]` | the number of positions of each request |
    | `gather_lens` | i32 `[requests]` | how many positions are gathered, the last ones |
    | `seq_starts` | i32 `[requests]` | with `cu_seq_lens`, the first position that is gathered |
    | `offset` | a number, or i32 `[1]` | with `seq_lens` alone, the first row of each request |

    With `cu_seq_lens` or `row_starts` the rows are `[rows]`. With `seq_lens` alone they are
    `[requests, rows]`, and every request begins at row `offset`: 0 by default, a number of the
    program as in `offset 128`, or one that the device reads, `offset(%at : tensor<1xi32>)`.

    ```
    row t, or row (b, m):
      start    = cu_seq_lens[b], or row_starts[b], or offset
      i        = t - start, or m - start
      count    = cu_seq_lens[b + 1] - start, or min(gather_lens[b], seq_lens[b])
      position = seq_starts[b] + i, or seq_lens[b] - count + i
      row      = 0 <= i < count ? the entry of `position` of request b : as it was
    ```

    A negative element of these operands counts as 0, as does one of `seq_starts` that is not there.
    `gather_lens` that are not given count as `seq_lens`. The positions that have no row are not
    gathered. `requests` names the b of row t. Without it b is found by halving: of elements
    `[b, b + n)`, at first all of the requests', b becomes `b + n div 2` where element `b + n div 2`
    is at most t, and n becomes `n - n div 2`, until n is 1. Where the elements ascend, that is the
    last of them that is at most t. If they do not, a row gets an entry of some request, or stays as
    it was.

    Nothing is read for a position whose page is not in the table, or of a request that has no row
    of it. Such a row is not valid, and zeros.

    #### Slots in bytes

    ```mlir
    func.func @gather(%cache: !dsv4.cache<64 x <index_fp8_132>>, %offsets: tensor<?xi64>,
                      %key: tensor<?x128xf8E4M3FN>, %scale: tensor<?xf32>)
        -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
      %keys, %scales = dsv4.paged_gather %cache[%offsets] in_bytes
          fields(%key, %scale : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
          : !dsv4.cache<64 x <index_fp8_132>>, tensor<?xi64>
      return %keys, %scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>
    }
    ```

    With `in_bytes` an index is where an entry is, counted in bytes: the offset of its first field,
    as the record lists fields, those `per tensor` left out. The others follow from it. It counts
    from the start of the pages, or of the array that has the field, as if pages followed each
    other. `dsv4.strides` of the cache say where pages really are, and do not change offsets.

    ```
    page = o div page_bytes
    slot = (o mod page_bytes - base) div bytes
      where page_bytes = those of a page, without strides
            base       = where the field of slot 0 begins in a page
            bytes      = from the field of one slot to that of the next
    ```

    An offset that is negative, or at which the first field of no slot begins, is not valid. An i64
    is taken as it is, also beyond i32.

    Clauses:

    * paged_gather_c1: `indices` is i32 of rank 1 `[k]`, or `[tokens]` with `requests`, or of rank 2
      `[tokens, k]`; without `indices`, there is one of `cu_seq_lens` and `seq_lens`;
    * paged_gather_c2: the result is bf16 or f32 of shape `rows ++ [row extent of the record]`;
    * paged_gather_c3: `page_table` is i32 of the rank of `indices`: `[pages]`, or `[tokens,
      pages]`, or with `requests` `[requests, pages]`; with `indptr` it is `[pages]`; of ragged
      requests it is `[requests, pages]`, and must be there;
    * paged_gather_c4: `requests` is i32 `[tokens]`, and needs a page table of rank 2, or `indptr`;
      of ragged requests it is `[rows]`, and needs `cu_seq_lens` or `row_starts`;
    * paged_gather_c5: `lengths` is i32 `[tokens]`, or of rank 0 when `indices` is of rank 1 without
      `requests`; `lengths per request` is i32 `[requests]`, and needs `requests`; ragged requests
      have no `lengths`;
    * paged_gather_c6: the mask is i1 of shape `rows`;
    * paged_gather_c7: there is one of `outs` and `fields`; there is one of `fields` for every field
      of the record except those `per tensor`, of its element type and of shape `rows ++ [extent]`;
      that of a scale `per row` and of metadata of one element may be `rows`;
    * paged_gather_c8: `indptr` is i32 of rank 1, beside `pages` of rank 1, and with `requests`,
      `indices` of rank 2 or ragged requests;
    * paged_gather_c9: `cu_seq_lens`, `row_starts`, `seq_lens`, `gather_lens` and `seq_starts` are
      i32 of rank 1 and not beside `indices`; `row_starts` and `gather_lens` need `seq_lens`,
      `seq_starts` need `cu_seq_lens`, and `offset` needs rows `[requests, rows]`: it is a number,
      not negative, or i32 `[1]`;
    * paged_gather_c10: `in_bytes` needs `indices`, and excludes `pages` and `lengths`.

    Source: paper eq. 17-18 (selected entries of the compressed cache); formats of
    `docs/Records.md`; gathers of public engines for prefill.
  }];
  let arguments = (ins
    Arg<DSV4_CacheType, "the cache", [MemRead<DSV4_CacheResource>]>:$cache,
    Optional<DSV4_Operand<"indices", DSV4_Indices>>:$indices,
    Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_Operand<"indptr", DSV4_Indices>>:$indptr,
    Optional<DSV4_Operand<"requests", DSV4_Indices>>:$requests,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    Optional<DSV4_Operand<"cu_seq_lens", DSV4_Indices>>:$cu_seq_lens,
    Optional<DSV4_Operand<"row_starts", DSV4_Indices>>:$row_starts,
    Optional<DSV4_Operand<"seq_lens", DSV4_Indices>>:$seq_lens,
    Optional<DSV4_Operand<"gather_lens", DSV4_Indices>>:$gather_lens,
    Optional<DSV4_Operand<"seq_starts", DSV4_Indices>>:$seq_starts,
    Optional<DSV4_Operand<"offset", DSV4_Indices>>:$row_offset,
    Optional<DSV4_Operand<"out", DSV4_Rows>>:$out,
    Variadic<DSV4_Operand<"fields", AnyRankedTensor>>:$fields,
    Optional<DSV4_Operand<"mask", DSV4_Mask>>:$mask,
    OptionalAttr<DSV4_LengthsPer>:$lengths_per, OptionalAttr<I64Attr>:$offset, UnitAttr:$in_bytes
  );
  // Those of the destinations, in their order.
  let results = (outs Variadic<AnyRankedTensor>:$gathered);
  let assemblyFormat = [{
    $cache (`[` $indices^ `]`)? (`in_bytes` $in_bytes^)?
    (`pages` `(` $page_table^ `:` type($page_table) `)`)?
    (`indptr` `(` $indptr^ `:` type($indptr) `)`)?
    (`requests` `(` $requests^ `:` type($requests) `)`)?
    (`lengths` (`per` $lengths_per^)? `(` $lengths^ `:` type($lengths) `)`)?
    (`cu_seq_lens` `(` $cu_seq_lens^ `:` type($cu_seq_lens) `)`)?
    (`row_starts` `(` $row_starts^ `:` type($row_starts) `)`)?
    (`seq_lens` `(` $seq_lens^ `:` type($seq_lens) `)`)?
    (`gather_lens` `(` $gather_lens^ `:` type($gather_lens) `)`)?
    (`seq_starts` `(` $seq_starts^ `:` type($seq_starts) `)`)?
    `` custom<RowOffset>($offset, $row_offset, type($row_offset))
    (`outs` `(` $out^ `:` type($out) `)`)?
    (`fields` `(` $fields^ `:` type($fields) `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    `` custom<Clause>("\"\"", "getClauses()") attr-dict
    `:` qualified(type($cache)) (`,` type($indices)^)?
    `` custom<TiedDestinations>(ref(type($out)), ref(type($fields)), ref(type($mask)),
                             type($gathered))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
    /// The keywords of the syntax, in their order.
    static ::llvm::StringRef getClauses() {
      return "in_bytes pages indptr requests lengths cu_seq_lens row_starts seq_lens gather_lens "
             "seq_starts offset outs fields mask";
    }
    /// Whether `lengths` has an element per request, not per token.
    bool hasLengthsPerRequest() { return getLengthsPer() == LengthsPer::Request; }
    /// Whether rows are the positions of requests, not those of `indices`.
    bool isRagged() { return !getIndices(); }
    /// Whether the rows of ragged requests follow each other.
    bool hasFlatRows() { return getCuSeqLens() || getRowStarts(); }
    /// Axes of the rows.
    int64_t getRowRank();
    /// The fields that are copied, in their order.
    ::llvm::SmallVector<FieldAttr> getCopiedFields();
    /// The decoded rows.
    ::mlir::Value getRows() { return getOut() ? getGathered().front() : ::mlir::Value(); }
    ::mlir::Value getValid() { return getMask() ? getGathered().back() : ::mlir::Value(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// paged_append
//===----------------------------------------------------------------------===//

def DSV4_PagedAppendOp : DSV4_Op<"paged_append", [
    AttrSizedOperandSegments, DSV4_CacheOpInterface,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowLayoutOpInterface, ["getScaleGroups"]>,
    DSV4_FusionOpInterface,
    DSV4_ResultContractInterface
  ]> {
  let summary = "write entries of a paged cache";
  let description = [{
    ```mlir
    !window = !dsv4.cache<64 x <v4_584>>

    func.func @append(%window: !window, %position: tensor<?xi32>, %request: tensor<?xi32>,
                      %length: tensor<?xi32>, %data: tensor<?x448xf8E4M3FN>,
                      %row: tensor<?x512xbf16>, %scales: tensor<?x7xf8E8M0FNU>) {
      dsv4.paged_append %window[%position] ring 128
          requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
          fields(%data, %row, %scales
                 : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
          columns [0, 448, 0] : !window, tensor<?xi32>
      return
    }
    ```

    Writes one entry of a cache per token, by slot or, with `pages` or `ring`, by position:

    ```mlir
    !rows = !dsv4.cache<64 x <[<"ckv" : 512 x bf16 in array>, <"kpe" : 64 x bf16 in array>]>>

    func.func @append_csr(%pool: !rows, %position: tensor<?xi32>, %request: tensor<?xi32>,
                          %kv_indices: tensor<?xi32>, %kv_indptr: tensor<?xi32>,
                          %ckv: tensor<?x512xbf16>, %kpe: tensor<?x64xbf16>) {
      dsv4.paged_append %pool[%position] unique
          requests(%request : tensor<?xi32>) pages(%kv_indices : tensor<?xi32>)
          indptr(%kv_indptr : tensor<?xi32>)
          fields(%ckv, %kpe : tensor<?x512xbf16>, tensor<?x64xbf16>) : !rows, tensor<?xi32>
      return
    }
    ```

    | operand | element type and shape | meaning |
    |---|---|---|
    | `cache` | a cache | written in place |
    | `indices` | i32 `[tokens]` | slots; with `pages` or `ring` positions |
    | `requests` | i32 `[tokens]` | request of each token |
    | `pages` | i32 `[requests, pages]`, or `[pages]` with `indptr` | page table |
    | `indptr` | i32 `[requests + 1]` | where the pages of each request begin in `pages` |
    | `lengths` | i32 `[requests]`, `[tokens]` without `requests` or with `lengths per token` | positions of a request after the launch |
    | `fields` | `[tokens, n]`, in the order of the record | the stored fields, all except those `per tensor` |

    ```
    slots:    entry = indices[t]
    pages:    p = indices[t], r = requests ? requests[t] : t, j = p div page_size
              page  = indptr ? pages[indptr[r] + j], if that is below indptr[r + 1]
                             : pages[r, j]
              entry = page * page_size + p mod page_size
    ring n:   p = indices[t], r = requests ? requests[t] : t, i = p mod n
              entry = page_table ? page_table[r, i div page_size] * page_size + i mod page_size
                                 : r * n + i
              kept only if p >= length - n
              length = lengths[r], or lengths[t] with `lengths per token`
    ```

    Nothing is written for a negative index, an entry outside the pool, a request outside `lengths`,
    `indptr` or the page table, a position beyond the pages of its request, and an entry of a page
    table outside the pool.

    A length is above every position of its request in this launch. Then at most one token of a slot
    of a ring is kept, the one with the last position: any number of tokens of a request leaves its
    last n, and a replayed launch writes the same bytes. With a smaller length several tokens may be
    kept for one slot, and which of them stays is not specified.

    Without a ring the last token of a slot wins, and every token searches the slots of all later
    tokens. `unique` promises that the tokens of a launch have different slots, which saves the
    search. Positions with `pages` and no ring need this promise.

    With `requests` there is one length per request. With `lengths per token` each token has the
    length of its request, as `dsv4.paged_gather` takes them, and the caller promises that the
    tokens of a request have the same length. `lengths per request` is the default.

    `columns` lists for each field the first column of its operand that is stored. Without
    `columns` every operand is as wide as its field. A scale `per row` and metadata of one element
    may have the shape `[tokens]`. The unused bytes after a row or tail field (`pad`) become zero if
    field and pad together are a power of two of bytes. All other unused bytes stay as they are:
    other pads, gaps before a field `at` a byte, and the end of a page.

    With `in_bytes` an index is not a slot but the byte offset of its first field, as
    [`dsv4.paged_gather`](#slots-in-bytes) takes them. Nothing is written for an offset that is
    negative, or at which the first field of no slot begins:

    ```mlir
    !keys = !dsv4.cache<64 x <index_fp8_132>>

    func.func @append_at(%cache: !keys, %offsets: tensor<?xi64>, %key: tensor<?x128xf8E4M3FN>,
                         %scale: tensor<?xf32>) {
      dsv4.paged_append %cache[%offsets] in_bytes unique
          fields(%key, %scale : tensor<?x128xf8E4M3FN>, tensor<?xf32>) : !keys, tensor<?xi64>
      return
    }
    ```

    Integers are i32 or i64, each operand of its own ([what an i64
    means](../Records.md#integers)).

    Clauses:

    * paged_append_c1: `indices` is i32 `[tokens]`;
    * paged_append_c2: there is one operand for every field except those `per tensor`, of its
      element type, `[tokens, n]` with a constant n of at least its columns and at most 65,536; n
      and the first column of 4-bit elements are even; a scale `per row` and metadata of one element
      may, from column 0 on, be `[tokens]`;
    * paged_append_c3: a ring has a positive length below 2^31 that is a multiple of the page size,
      or divides it, and `lengths`, i32 `[requests]`, `[tokens]` without `requests` or with `lengths
      per token`; without a ring there are no `lengths`, and `requests` only with `pages`;
    * paged_append_c4: `requests` is i32 `[tokens]`; `page_table` is i32 `[requests, pages]`, or
      `[pages]` with `indptr`;
    * paged_append_c5: `columns` has one number for every field operand;
    * paged_append_c6: without `columns`, no operand has more columns than its field;
    * paged_append_c7: `pages` without a ring need `unique`;
    * paged_append_c8: `indptr` is i32 `[requests + 1]`, needs `pages` and `requests`, and excludes
      a ring;
    * paged_append_c9: `in_bytes` needs `unique`, and excludes `pages` and a ring.

    Source: the official ring of n_win positions (slot = t mod 128); slot mappings of public
    engines.
  }];
  let arguments = (ins
    Arg<DSV4_CacheType, "the cache", [MemWrite<DSV4_CacheResource>]>:$cache,
    DSV4_Operand<"indices", DSV4_Indices>:$indices,
    Optional<DSV4_Operand<"requests", DSV4_Indices>>:$requests,
    Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_Operand<"indptr", DSV4_Indices>>:$indptr,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    Variadic<DSV4_Operand<"fields", AnyRankedTensor>>:$fields, OptionalAttr<I64Attr>:$ring,
    OptionalAttr<DenseI64ArrayAttr>:$columns, UnitAttr:$unique,
    OptionalAttr<DSV4_LengthsPer>:$lengths_per, UnitAttr:$in_bytes
  );
  let assemblyFormat = [{
    $cache `[` $indices `]` (`in_bytes` $in_bytes^)? (`ring` $ring^)? (`unique` $unique^)?
    (`requests` `(` $requests^ `:` type($requests) `)`)?
    (`pages` `(` $page_table^ `:` type($page_table) `)`)?
    (`indptr` `(` $indptr^ `:` type($indptr) `)`)?
    (`lengths` (`per` $lengths_per^)? `(` $lengths^ `:` type($lengths) `)`)?
    custom<Clause>("\"fields\"",
        "\"in_bytes ring unique requests pages indptr lengths fields columns\"")
    `(` $fields `:` type($fields) `)` (`columns` $columns^)?
    attr-dict `:` qualified(type($cache)) `,` type($indices)
  }];
  let extraClassDeclaration = [{
    ::mlir::Value getAccessedCache() { return getCache(); }
    /// The fields that operands are given for, in their order.
    ::llvm::SmallVector<FieldAttr> getWrittenFields();
    /// Whether `lengths` has an element per token, not per request: without
    /// `requests` every token is one.
    bool hasLengthsPerToken() {
      return !getRequests() || getLengthsPer() == LengthsPer::Token;
    }
    /// First column of field operand `index`.
    int64_t getColumn(unsigned index);
  }];
  let hasVerifier = 1;
}

#endif // DSV4_CACHE_OPS_TD
