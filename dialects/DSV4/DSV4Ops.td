//===- DSV4Ops.td - Ops of the dsv4 dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_OPS_TD
#define DSV4_OPS_TD

include "DSV4OpBase.td"
include "DSV4KernelOps.td"
include "DSV4SelectOps.td"
include "DSV4RouteOps.td"

def DSV4_Indices : TensorOf<[I32]>;
def DSV4_Rows : TensorOf<[BF16, F32]>;
def DSV4_Mask : TensorOf<[I1]>;

//===----------------------------------------------------------------------===//
// paged_gather
//===----------------------------------------------------------------------===//

def DSV4_PagedGatherOp : DSV4_Op<"paged_gather", [
    DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>, DSV4_ResultContractInterface
  ]> {
  let summary = "gather rows of a paged cache";
  let description = [{
    For every index, the values of one cache entry, decoded:

    ```
    row(t, j) = i < 0 || i >= length(t)          ? zeros, invalid
              : page < 0 || page >= pages        ? zeros, invalid
              : decode(cache[page][i mod page_size])
      where i    = indices[t, j]
            page = page_table ? page_table[r, i div page_size] : i div page_size
            r    = requests ? requests[t] : t
    ```

    A row that is not valid is zeros, `valid` (where asked for) is false, and
    nothing of the cache is read for it. It is also not valid when `i div
    page_size` is outside the page table, or `r` outside its rows. Without
    `lengths`, length is unbounded. A stored element decodes to
    `element * factor_0 * factor_1 ...`, every product rounded to fp32, and is
    rounded to nearest even into the result; a NaN becomes 0x7FFF in bf16 and
    0x7FFFFFFF in f32. Fields without factors whose type is the result's are copied bit by bit.

    Clauses:

    * paged_gather_c1: `indices` is i32 of rank 1 `[k]` or 2 `[tokens, k]`;
    * paged_gather_c2: the result is bf16 or f32 of shape
      `indices ++ [row extent of the record]`;
    * paged_gather_c3: `page_table` is i32 of the rank of `indices`: `[pages]`, or
      `[tokens, pages]`, or with `requests` `[requests, pages]`;
    * paged_gather_c4: `requests` is i32 `[tokens]`, and needs a page table of
      rank 2;
    * paged_gather_c5: `lengths` is i32 `[tokens]`, or of rank 0 when `indices`
      is of rank 1;
    * paged_gather_c6: the mask is i1 of the shape of `indices`.

    Source: paper eq. 17-18 (selected entries of the compressed cache), formats
    of `docs/Records.md`.

    ```mlir
    %kv, %valid = dsv4.paged_gather %cache[%indices]
        pages(%table : tensor<?x?xi32>) requests(%req : tensor<?xi32>)
        lengths(%len : tensor<?xi32>)
        outs(%out : tensor<?x?x512xbf16>) mask(%mask : tensor<?x?xi1>)
        : !dsv4.cache<64 x #v4_584>, tensor<?x?xi32>
    ```
  }];
  let arguments = (ins
    Arg<DSV4_CacheType, "the cache", [MemRead<DSV4_CacheResource>]>:$cache,
    DSV4_Operand<"indices", DSV4_Indices>:$indices,
    Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_Operand<"requests", DSV4_Indices>>:$requests,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    DSV4_Operand<"out", DSV4_Rows>:$out,
    Optional<DSV4_Operand<"mask", DSV4_Mask>>:$mask
  );
  let results = (outs DSV4_Rows:$rows, Optional<DSV4_Mask>:$valid);
  let assemblyFormat = [{
    $cache `[` $indices `]`
    (`pages` `(` $page_table^ `:` type($page_table) `)`)?
    (`requests` `(` $requests^ `:` type($requests) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $out `:` type($out) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    attr-dict `:` qualified(type($cache)) `,` type($indices)
    custom<TiedResults>(ref(type($out)), ref(type($mask)), type($rows), type($valid))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

def DSV4_DequantizeOp : DSV4_Op<"dequantize", [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getColumnUnit", "allowsUnevenShares"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "decode a quantised tensor";
  let description = [{
    ```
    result(r, e) = ((data(r, e) * scale_0(r, e / group_0)) * scale_1(...)) ...
    ```

    Every product is rounded to fp32, the last value to nearest even into the
    result; a NaN becomes 0x7FFF in bf16 and 0x7FFFFFFF in f32. Data without
    factors whose type is the result's is copied bit by bit. Clauses:

    * dequantize_c1: `data` has rank >= 1, the element type of the format, and a
      constant last extent between 1 and 65,536;
    * dequantize_c2: there is one scale operand a level, of the level's type;
    * dequantize_c3: a level `per g` has the shape of `data` with the last extent
      divided by g, which must divide it; `per row` the shape without the last
      axis; `per tensor` the shape [1];
    * dequantize_c4: the result is bf16 or f32 of the shape of `data`;
    * dequantize_c5: 4-bit data has an even last extent.

    Source: NVFP4 (E2M1 with E4M3 per 16), OCP MX v1.0 (E8M0 per 32).

    ```mlir
    %y = dsv4.dequantize %data scales(%sf, %gs : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
        outs(%out : tensor<?x512xbf16>) {format = #nvfp4_row}
        : tensor<?x512xf4E2M1FN>
    ```
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
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>, DSV4_ResultContractInterface
  ]> {
  let summary = "values to codes and factors";
  let description = [{
    Columns `[begin, begin + count)` of every row (all, where none are given), group
    by group by the rule; results are the codes and one tensor of factors for every
    level of the format that is not `per tensor`, in order. A format has one level,
    `per g` or `per row`, of f8E8M0FNU, f8E4M3FN or f32; or two, the first of
    f8E4M3FN `per g`, the second of f32 and `per tensor`, which is `given`, or `per
    row`, which is computed first: by the rule with the amax of the row, `max` times 448 in the
    place of `max`, and the smallest f32 normal as the only floor. It is never NaN. `given` counts as at least
    the smallest f32 normal, as which NaN counts, too, and at most the largest f32.
    Clauses:

    * quantize_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent
      between 1 and 65,536;
    * quantize_c2: the columns are columns of `x`;
    * quantize_c3: the format has f8E4M3FN or f4E2M1FN elements, the even one of a
      pair in the low nibble, and levels as above, whose groups divide the columns;
    * quantize_c4: the destinations have the shapes and types that
      `dsv4.dequantize` takes (dequantize_c3, c5);
    * quantize_c5: the rule fits the format (quantizer_c2, c3);
    * quantize_c6: `given` is there where a level is `per tensor`, and only
      there: f32 of shape [1].

    ```mlir
    %q, %s = dsv4.quantize %x columns [0, 448]
        outs(%data, %scales : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
        {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
         rule = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
        : tensor<?x512xbf16>
    ```
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, Optional<DSV4_Operand<"given", TensorOf<[F32]>>>:$given,
    Variadic<DSV4_Operand<"outs", AnyRankedTensor>>:$outs,
    DSV4_FormatAttr:$format, DSV4_QuantizerAttr:$rule,
    OptionalAttr<DenseI64ArrayAttr>:$columns
  );
  let results = (outs Variadic<AnyRankedTensor>:$codes_and_factors);
  let assemblyFormat = [{
    $x (`columns` $columns^)? (`given` `(` $given^ `:` type($given) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict `:` type($x)
    custom<TiedVariadic>(ref(type($outs)), type($codes_and_factors))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// First column and number of columns.
    std::pair<int64_t, int64_t> getColumnRange();
    int64_t getResultGroup(unsigned index);
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// rms_norm, rope, hadamard
//===----------------------------------------------------------------------===//

class DSV4_RowToRowOp<string mnemonic> : DSV4_Op<mnemonic, [
    Pure, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["allowsUnevenShares"]>,
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
    ```
    r    = 1 / sqrt(sum(x * x) / N + eps)
    y(e) = (x(e) * r) * weight(e)
    ```

    in fp32, every operation rounded to nearest even, `y` rounded to the result.
    Squares are summed as a binary tree: neighbours first, then neighbouring sums,
    an odd one out goes up a level as it is; so the result depends on the row
    alone. Without a weight its product is left out. Clauses:

    * rms_norm_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent N
      between 1 and 65,536;
    * rms_norm_c2: `weight` is bf16 or f32 of shape [N];
    * rms_norm_c3: the result is bf16 or f32 of the shape of `x`;
    * rms_norm_c4: `eps` is a finite f32 >= 0.

    Source: the official `RMSNorm`.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, Optional<DSV4_Operand<"weight", DSV4_Rows>>:$weight,
    DSV4_Operand<"out", DSV4_Rows>:$out, F32Attr:$eps
  );
  let assemblyFormat = [{
    $x (`weight` `(` $weight^ `:` type($weight) `)`)? `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($x) custom<TiedResult>(ref(type($out)), type($rows))
  }];
}

def DSV4_RopeOp : DSV4_RowToRowOp<"rope"> {
  let summary = "rotate the last pairs of a row by its position";
  let description = [{
    The last D elements of a row are D / 2 neighbouring pairs. With c = table[p, j]
    and s = table[p, D / 2 + j] for position p and pair j:

    ```
    (a, b) -> (a * c - b * s, a * s + b * c)      inverse: s is -s
    ```

    in fp32, every operation rounded to nearest even, the result rounded to its
    type. Elements before the last D are copied (rounded where the type differs).
    A row whose position is outside the table is not rotated. Clauses:

    * rope_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent between
      1 and 65,536;
    * rope_c2: `table` is f32 `[positions, D]` with a constant even D of at most
      the row;
    * rope_c3: `positions` is i32 of the shape of `x` without its last axis;
    * rope_c4: the result is bf16 or f32 of the shape of `x`.

    The table is an operand because its angles, made in fp32, are part of a model.
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
    `y = (H x) * scale` with H of natural (Sylvester) order, H(i, j) = (-1)^popcount(i & j).
    In fp32: for h = 1, 2, 4, ... N / 2 elements i and i + h with bit h of i clear
    become their sum and their difference, each rounded to nearest even; then the
    product with `scale`, then the result is rounded to its type. Clauses:

    * hadamard_c1: `x` is bf16 or f32 of rank >= 1 with a constant last extent N,
      a power of two of at most 65,536;
    * hadamard_c2: the result is bf16 or f32 of the shape of `x`;
    * hadamard_c3: `scale` is finite.

    Source: the official indexer, which has N = 128 and scale 128^-0.5.
  }];
  let arguments = (ins
    DSV4_Operand<"x", DSV4_Rows>:$x, DSV4_Operand<"out", DSV4_Rows>:$out, F32Attr:$scale
  );
  let assemblyFormat = [{
    $x `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($x) custom<TiedResult>(ref(type($out)), type($rows))
  }];
}

//===----------------------------------------------------------------------===//
// compress
//===----------------------------------------------------------------------===//

def DSV4_CompressOp : DSV4_Op<"compress", [
    DestinationStyleOpInterface, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface, ["getTeamWork"]>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "pool windows of tokens, each channel by a softmax over them";
  let description = [{
    Row e of the result is one entry of a compressed cache, made of the window of `window`
    tokens from position w = plan[e, 0] on and, with `overlap`, of the window before it:

    ```
    out(e, c) = sum_r p_r(c) * value_r(c),  p(c) = softmax over r of score_r(c)
    ```

    Without `overlap` tokens have one stream of D channels, and r counts the `window` tokens
    from position w on. With it they have two, 2 D columns: the rows r < window are the tokens
    from position w - window on with columns [0, D), the others those from position w on
    with columns [D, 2 D). `bias`, where given, is added to the scores: row r mod window
    of it to those of row r, in all columns.

    Every row of the plan is `[w, request, position, token]`: row `token` of `values` and
    `scores` belongs to position `position` of the request, the rows behind it to its next
    positions. Positions before `position` are read from the state, whose fields are
    the values and the scores of a token (`biased`: with the bias already in them):

    ```
    ring n, no pages:  entry = request * n + t mod n
    ring n, pages:     entry = page_table[request, (t mod n) div page] * page + t mod n mod page
    pages, no ring:    entry = page_table[request, t div page] * page + t mod page
    ```

    A token that is in neither, or before position 0, has weight 0; nothing is read for it.
    An entry with w < 0 or w > 2^31 - 4096 has no tokens, and one whose weights are all 0 is zeros. Only windows that become complete
    need a row, so the launch has as many rows as entries are made.

    In fp32, every operation rounded to nearest even. Rows are taken in blocks of eight in their
    order, the last one filled up with tokens that are not there if it is not the only one; a block has the maximum M of its scores (0 if that is -infinity; a NaN is not looked at),
    weights e_r = exp(score_r - M), and the sums of e_r and of e_r * value_r as binary trees of
    neighbours, an odd one out going up a level as it is. Blocks are merged as such a
    tree: with M' the larger maximum, both sums of each are multiplied by
    exp(M - M') and added. At last the second sum is divided by the first. exp is the
    polynomial of docs/Compression.md, of the same bits on every target. So an entry does not
    depend on how its tokens were cut into launches, nor on the schedule.

    All this is `algorithm = windowed`, the default. With `algorithm online` tokens of a window under way
    are not kept: its state is, channel by channel, the largest score M, the sum S of weights and
    the sum A of weighted values so far. The state has these three fields, and the op reads and
    writes it. A row of the plan is one piece of a window, `[position, count, token, from, to]`: the
    `count` tokens of a request from position `position` on, whose first is row `token` of `values` and
    `scores`, the others being the rows behind it. No more of them are taken than the window and
    `values` have. The place of a piece in its window is position mod window: the tokens have the rows
    of `bias` from there on, and the piece goes on from entry `from` of the state (entry i is in page i
    div page, in slot i mod page) unless its place is 0. Where `from` is negative or
    outside the pool, and at place 0, nothing comes before it: M = -infinity, S = A = 0. Then, token by
    token, with s its score and bias, v its value and M' the larger of M and s (+0 above -0, NaN if one is
    NaN):

    ```
    M >= s:     e = exp(s - M'),  S' = S + e,      A' = A + e * v
    otherwise:  e = exp(M - M'),  S' = S * e + 1,  A' = A * e + v
    ```

    in fp32, every product and sum rounded to nearest even; where M' is -infinity, 0 is subtracted
    instead; where it is NaN or +infinity, S' and A' are NaN. The row of the result of a piece that
    ends its window is A / S, 0 where S is 0; its state is not written. All other rows are zeros, and the state is
    written to entry `to`, unless that is negative or outside the pool. A row of the plan with a position
    below 0 or above 2^31 - 4096, a negative `token`, or no token that is there, is no piece: nothing is read or written
    for it. Pieces of one launch read no entry of the state that another of them writes, and
    write none that another writes: both are the caller's promise. A piece may write the entry that it reads. Clauses:

    * compress_c1: `values` and `scores` are bf16 or f32 of one type
      `[tokens, D]`, `[tokens, 2 D]` with `overlap`, D constant and at most 8192;
    * compress_c2: `plan` is i32 `[entries, 4]`, `[entries, 5]` with `algorithm online`;
    * compress_c3: the result is bf16 or f32 `[entries, D]`, and overwrites neither `values`
      nor `scores`, which other rows still read;
    * compress_c4: `window` is between 1 and 1024, 512 with `overlap`;
    * compress_c5: `bias` is f32 of shape `[window, columns of values]`;
    * compress_c6: the state has two fields, values and scores, both of the element type and
      the columns of `values`, without factors and in the row or in arrays; with
      `algorithm online` three, M, S and A, each f32 of D elements;
    * compress_c7: a state has a ring or a page table; a ring is at least as long as the rows
      of a window (two with `overlap`) less one, at least 1 and below 2^31, and a multiple or a
      divisor of the page size; `page_table` is i32 `[requests, pages]`; without a state there
      are neither, nor `biased`;
    * compress_c8: `algorithm online` has a state, and no `overlap`, `ring`, `biased` or `pages`.

    Source: paper eq. 9-12; the official `Compressor` (columns [0, D) are the overlapping stream).
  }];
  let arguments = (ins
    DSV4_Operand<"values", DSV4_Rows>:$values, DSV4_Operand<"scores", DSV4_Rows>:$scores,
    DSV4_Operand<"plan", DSV4_Indices>:$plan, Optional<DSV4_Operand<"bias", TensorOf<[F32]>>>:$bias,
    Optional<DSV4_CacheType>:$state, Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
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
    `outs` `(` $out `:` type($out) `)`
    attr-dict `:` type($values) `,` type($scores) custom<TiedResult>(ref(type($out)), type($entries))
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    /// The largest D: a row is in the shared memory of a block as f32.
    static constexpr int64_t kMostChannels = 8192;
    /// The largest position of a window, so that those in it have 32 bits.
    static constexpr int64_t kMaxPosition = (int64_t(1) << 31) - 4096;
    bool isOnline() { return getAlgorithm() == CompressAlgorithm::Online; }
    /// Rows of a window, both windows with overlap.
    int64_t getWindowRows() { return getOverlap() ? 2 * getWindow() : getWindow(); }
    /// D.
    int64_t getChannels();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// paged_append
//===----------------------------------------------------------------------===//

def DSV4_PagedAppendOp : DSV4_Op<"paged_append", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<DSV4_RowwiseOpInterface>,
    DSV4_ResultContractInterface
  ]> {
  let summary = "write entries of a paged cache";
  let description = [{
    Row t of the fields becomes one entry of the cache:

    ```
    no ring:  entry = indices[t]
    ring n:   p = indices[t], r = requests ? requests[t] : t, i = p mod n
              entry = page_table ? page_table[r, i div page_size] * page_size + i mod page_size
                                 : r * n + i
              kept only if p >= lengths[r] - n
    ```

    Nothing is written for a negative index, an entry outside the pool, a request
    outside `lengths` or the page table, and an entry of a page table outside it.
    `lengths` are the positions that requests have after the launch: of tokens
    that fall on one slot of a ring the last position stays, so several tokens of
    a request, more than n too, leave the last n, and a replayed launch writes the
    same bytes. Without a ring the last row with an index stays; `unique` is the
    caller's word that there is no other, and saves looking.

    Fields are given in the order of the record, all but those `per tensor`, each
    from its column of the operand on (`columns`, default 0); a factor `per row`
    and metadata of one element may have the shape [tokens]. Unused bytes behind a field (`pad`) become zero up
    to a power of two of bytes if they fill one; all others stay as they are. Clauses:

    * paged_append_c1: `indices` is i32 `[tokens]`;
    * paged_append_c2: there is one operand for every field but those `per tensor`,
      of its element type, `[tokens, n]` with a constant n of at least its columns and at
      most 65,536; n and the first column of 4-bit elements are even; a factor `per row`
      and metadata of one element may, from column 0 on, be `[tokens]`;
    * paged_append_c3: a ring has a positive length below 2^31 that is a multiple of the
      page size, or divides it, and `lengths`, i32 `[requests]`, `[tokens]` without
      `requests`; without a ring there are no `lengths`, `requests` and `pages`;
    * paged_append_c4: `requests` is i32 `[tokens]`; `page_table` is i32 `[requests, pages]`;
    * paged_append_c5: `columns` has one number for every field operand.

    Source: the official ring of n_win positions (slot = t mod 128); slot mappings of public engines.
  }];
  let arguments = (ins
    Arg<DSV4_CacheType, "the cache", [MemWrite<DSV4_CacheResource>]>:$cache,
    DSV4_Operand<"indices", DSV4_Indices>:$indices,
    Optional<DSV4_Operand<"requests", DSV4_Indices>>:$requests,
    Optional<DSV4_Operand<"page_table", DSV4_Indices>>:$page_table,
    Optional<DSV4_Operand<"lengths", DSV4_Indices>>:$lengths,
    Variadic<DSV4_Operand<"fields", AnyRankedTensor>>:$fields, OptionalAttr<I64Attr>:$ring,
    OptionalAttr<DenseI64ArrayAttr>:$columns, UnitAttr:$unique
  );
  let assemblyFormat = [{
    $cache `[` $indices `]` (`ring` $ring^)? (`unique` $unique^)?
    (`requests` `(` $requests^ `:` type($requests) `)`)?
    (`pages` `(` $page_table^ `:` type($page_table) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `fields` `(` $fields `:` type($fields) `)` (`columns` $columns^)?
    attr-dict `:` qualified(type($cache)) `,` type($indices)
  }];
  let extraClassDeclaration = [{
    /// The fields that operands are given for, in their order.
    ::llvm::SmallVector<FieldAttr> getWrittenFields();
    /// First column of field operand `index`.
    int64_t getColumn(unsigned index);
  }];
  let hasVerifier = 1;
}

#endif // DSV4_OPS_TD
