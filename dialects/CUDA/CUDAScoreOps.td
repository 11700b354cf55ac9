//===- CUDAScoreOps.td - Scores and logits that come as tiles -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_SCORE_OPS_TD
#define CUDA_SCORE_OPS_TD

include "CUDAOpBase.td"
include "DSV4ScoreAlgorithm.td"

def CUDA_IndexScoreOp : CUDA_Op<"index_score", [
    AttrSizedOperandSegments, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRangesFromOptional"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>]> {
  let summary = "the scores of the keys of a block's rows, tile by tile";
  let description = [{
    ```mlir
    cuda.index_score %consume, %memory, %q head %head_bytes weights %weights keys %pool
        page %page_bytes entry %head_bytes key_scales %pool page %page_bytes entry %bytes
        columns %columns rows 1 tile_columns 128 heads 64 dim 128 page_size 64
        scale_base 8192 query "e4m3" key "e4m3"
        : memref<?xi8>, memref<?xi8>, memref<?xf32>, memref<?xi8>, memref<?xi8> row {
    ^bb0(%tile_row: index):
      ...
      cuda.tile_yield %at, %c0, %weight_at, %c0, %length : index, index, index, index, index
    } page {
    ^bb0(%tile_row: index, %number: index):
      ...
      cuda.tile_yield %page : index
    }
    ```

    Computes the scores of the `rows` rows of a block as `row.index_score` defines them, and passes
    fragments of `tile_columns` columns of every row to `consume` (docs/TileSources.md). All threads
    of the block call it: `tile_columns` of them, which all consume. Every key of a row comes, and
    every column below `columns`, as far as the consumer needs columns. The regions of
    `row.index_score` have the row of the block as their first argument; a row that does not exist
    has no keys, and the first numbers of its `row` are not used. `memory` is a part of the block's
    shared memory, of `getSharedBytes()` bytes.

    With the algorithm `mma` all warps but the last four consume. Each four of them compute 64 times
    `tiles` columns of every row. The last four load keys, `stages` steps ahead, and the queries of
    `slots` groups of `rows` rows. With `of` the blocks of the launch share that number of rows, in
    groups of `rows`, and a row of the block is one of them.
    `entry_bytes` and `scale_entry_bytes` are the strides `entry`, and `page_align` divides the
    addresses of the first key of a page and of its scales. With `keys_once` caches
    evict keys first, because most groups have keys of their own. Clauses:

    * index_score_c1: formats are those of `row.index_score`, with the same scales;
    * index_score_c2: the numbers are positive, and `tile_columns` is a multiple of 32, or of 64
      `tiles` with `mma`;
    * index_score_c3: the regions have the arguments `tile_row`, and `tile_row` and `number`. They
      end in a `cuda.tile_yield` of five integers, and of one;
    * index_score_c4: `mma` has 1 or 2 `tiles`, `stages`, `slots`, `entry_bytes` and
      `scale_entry_bytes`, at most 8 rows and 128 heads, a dim of 128 and no bf16; no other
      algorithm has any of these numbers, `of` or `keys_once`.
  }];
  let arguments = (ins
    CUDA_CallableType:$consume, Arg<MemRefRankOf<[I8], [1]>, "", [MemRead, MemWrite]>:$memory,
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$queries, CUDA_Offset:$query_head,
    Arg<Optional<MemRefRankOf<[AnyType], [1]>>, "", [MemRead]>:$scales,
    Optional<CUDA_Offset>:$scale_head,
    Arg<MemRefRankOf<[F32], [1]>, "", [MemRead]>:$weights,
    Arg<MemRefRankOf<[AnyType], [1]>, "", [MemRead]>:$keys, CUDA_Offset:$key_page,
    CUDA_Offset:$key_entry,
    Arg<Optional<MemRefRankOf<[AnyType], [1]>>, "", [MemRead]>:$key_scales,
    Optional<CUDA_Offset>:$key_scale_page, Optional<CUDA_Offset>:$key_scale_entry,
    CUDA_Offset:$columns, Optional<CUDA_Offset>:$all_rows,
    I64Attr:$rows, I64Attr:$tile_columns, I64Attr:$heads, I64Attr:$dim, I64Attr:$page_size,
    DefaultValuedAttr<I64Attr, "0">:$key_base,
    DefaultValuedAttr<I64Attr, "0">:$scale_base, DefaultValuedAttr<I64Attr, "1">:$query_align,
    DefaultValuedAttr<I64Attr, "1">:$key_align,
    DefaultValuedAttr<I64Attr, "1">:$scale_align, StrAttr:$query_format, StrAttr:$key_format,
    DefaultValuedAttr<DSV4_ScoreAlgorithm, "::dsv4::ScoreAlgorithm::Plain">:$algorithm,
    DefaultValuedAttr<I64Attr, "0">:$tiles, DefaultValuedAttr<I64Attr, "0">:$stages,
    DefaultValuedAttr<I64Attr, "0">:$slots, DefaultValuedAttr<I64Attr, "0">:$entry_bytes,
    DefaultValuedAttr<I64Attr, "0">:$scale_entry_bytes, DefaultValuedAttr<I64Attr, "1">:$page_align,
    UnitAttr:$keys_once
  );
  let regions = (region SizedRegion<1>:$row, SizedRegion<1>:$page);
  let assemblyFormat = [{
    $consume `,` $memory `,` $queries `head` $query_head (`scales` $scales^ `head` $scale_head)?
    `weights` $weights `keys` $keys `page` $key_page `entry` $key_entry
    (`key_scales` $key_scales^ `page` $key_scale_page `entry` $key_scale_entry)?
    `columns` $columns `rows` $rows (`of` $all_rows^)? `tile_columns` $tile_columns
    `heads` $heads `dim` $dim
    `page_size` $page_size (`key_base` $key_base^)? (`scale_base` $scale_base^)?
    (`query_align` $query_align^)? (`key_align` $key_align^)? (`scale_align` $scale_align^)?
    `query` $query_format `key` $key_format (`algorithm` $algorithm^)? attr-dict-with-keyword
    `:` type($memory) `,` type($queries) `,` type($query_head)
    (`scales` type($scales)^ `,` type($scale_head))? `,` type($weights) `,` type($keys) `,`
    type($key_page) `,` type($key_entry)
    (`key_scales` type($key_scales)^ `,` type($key_scale_page) `,` type($key_scale_entry))?
    `,` type($columns) (`of` type($all_rows)^)? `row` $row `page` $page
  }];
  let extraClassDeclaration = [{
    /// `sizeof(IndexPlainShared<Config>)` of the device library, which checks it: queries in bf16,
    /// and the weights of heads.
    static int64_t getSharedBytes(int64_t rows, int64_t heads, int64_t dim) {
      return rows * heads * (2 * dim + 4);
    }
    /// `IndexShape<Config>::shared_bytes`: queries, weights, and a ring of keys.
    static int64_t getMmaSharedBytes(int64_t rows, int64_t heads, ::llvm::StringRef key_format,
                                     int64_t tiles, int64_t stages, int64_t slots);
    bool isMma() { return getAlgorithm() == ::dsv4::ScoreAlgorithm::Mma; }
    int64_t getSharedBytes();
    ::llvm::LogicalResult verifyMma();
    ::dsv4::cuda::CallConfig getMmaConfig();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_RouterLogitsOp : CUDA_Op<"router_logits", [
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>,
    DeclareOpInterfaceMethods<CUDA_BufferAccessOpInterface>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface,
                              ["getConfig", "getCallArguments", "waitsForPreviousKernel"]>]> {
  let summary = "the logits of the experts of all rows, by all blocks";
  let description = [{
    ```mlir
    cuda.router_logits %consume, %memory in %workspace, %hidden apart %stride weights %weights
        apart %stride rows %rows experts 256 depth 7168 hidden_align 16 weight_align 16
        block_rows 8 block_experts 32 slices 4 vector 4 held
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    cuda.router_logits %consume, %memory, %hidden apart %stride weights %weights apart %stride
        rows %rows experts 256 depth 7168 hidden_align 16 weight_align 16 step 128 stages 4
        : memref<?xi8>, memref<?xbf16>, index, memref<?xbf16>, index, index
    ```

    Computes the logits of `rows` rows as `row.router_logits` defines them. All threads of all
    blocks of the launch call it. It passes fragments of the rows to `consume`, as tiles whose rows
    count from the first one of the launch (docs/TileSources.md), or, with `held`, whole rows: the
    number of the row, and the part of a lane in vectors of `vector` elements. `memory` is a part of
    the block's shared memory, of `getSharedBytes()` bytes. Strides are in elements.

    With a `workspace`, of `getWorkspaceBytes()` for each row, blocks have `block_rows` rows,
    `block_experts` experts and `slices` slices, as `#dsv4.router<form = rows>` says, and are in
    clusters of `cluster`; without one they have tiles in `stages` steps of `step` elements. With
    `waits` a block prefetches its weights into L2, and then waits for the previous kernel.
    Clauses:

    * router_logits_c1: with a workspace there are `block_rows`, `block_experts`, `slices` and
      `vector`, and no `step` and `stages`; without one it is the other way round, and there is no
      `held`, `waits`, `multicast` or `cluster`;
    * router_logits_c2: `experts` is between 1 and 512, and `depth` between 1 and 8192;
    * router_logits_c3: `held` is given in `cuda.hold_rows`, and nowhere else.
  }];
  let arguments = (ins
    CUDA_CallableType:$consume, Arg<MemRefRankOf<[I8], [1]>, "", [MemRead, MemWrite]>:$memory,
    Arg<Optional<MemRefRankOf<[I8], [1]>>, "", [MemRead, MemWrite]>:$workspace,
    Arg<MemRefRankOf<[BF16], [1]>, "", [MemRead]>:$hidden, CUDA_Offset:$hidden_stride,
    Arg<MemRefRankOf<[BF16, F32], [1]>, "", [MemRead]>:$weights, CUDA_Offset:$weight_stride,
    CUDA_Offset:$rows, I64Attr:$experts, I64Attr:$depth,
    DefaultValuedAttr<I64Attr, "1">:$hidden_align, DefaultValuedAttr<I64Attr, "1">:$weight_align,
    DefaultValuedAttr<I64Attr, "0">:$block_rows, DefaultValuedAttr<I64Attr, "0">:$block_experts,
    DefaultValuedAttr<I64Attr, "0">:$slices, DefaultValuedAttr<I64Attr, "1">:$cluster,
    DefaultValuedAttr<I64Attr, "0">:$vector, DefaultValuedAttr<I64Attr, "0">:$step,
    DefaultValuedAttr<I64Attr, "0">:$stages, UnitAttr:$multicast, UnitAttr:$waits, UnitAttr:$held
  );
  let assemblyFormat = [{
    $consume `,` $memory (`in` $workspace^)? `,` $hidden `apart` $hidden_stride `weights` $weights
    `apart` $weight_stride `rows` $rows `experts` $experts `depth` $depth
    (`hidden_align` $hidden_align^)? (`weight_align` $weight_align^)?
    (`block_rows` $block_rows^)? (`block_experts` $block_experts^)? (`slices` $slices^)?
    (`cluster` $cluster^)? (`vector` $vector^)? (`step` $step^)? (`stages` $stages^)?
    (`multicast` $multicast^)? (`waits` $waits^)? (`held` $held^)? attr-dict
    `:` type($memory) (`in` type($workspace)^)? `,` type($hidden) `,` type($hidden_stride) `,`
    type($weights) `,` type($weight_stride) `,` type($rows)
  }];
  let extraClassDeclaration = [{
    /// `RouterRowsShape<Config>::shared_bytes` of the device library, which checks it, and
    /// `row_words` in bytes.
    static int64_t getRowsSharedBytes(int64_t experts, int64_t depth, int64_t rows,
                                      int64_t block_experts, int64_t slices,
                                      int64_t weight_bytes, bool multicast);
    static int64_t getWorkspaceBytes(int64_t experts, int64_t depth, int64_t block_experts,
                                     int64_t slices);
    /// `RouterTilesShape<Config>::shared_bytes`.
    static int64_t getTilesSharedBytes(int64_t weight_bytes, int64_t step, int64_t stages);
    int64_t getSharedBytes();
  }];
  let hasVerifier = 1;
}

#endif // CUDA_SCORE_OPS_TD
