//===- CUDATileOps.td - What consumes tiles -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_TILE_OPS_TD
#define CUDA_TILE_OPS_TD

include "CUDAOpBase.td"

def CUDA_SharedOp : CUDA_Op<"shared", [Pure,
    DeclareOpInterfaceMethods<CUDA_SharedMemoryOpInterface>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>]> {
  let summary = "a part of the block's shared memory";
  let description = [{
    ```mlir
    %memory = cuda.shared 4096 from 128 : memref<?xi8>
    ```

    Returns `bytes` bytes from byte `begin` on of the dynamic shared memory of the block. The
    compiler plans the parts. Clause shared_c1: `begin` is a multiple of 16 that is not negative,
    and `bytes` is positive.
  }];
  let arguments = (ins I64Attr:$bytes, I64Attr:$begin);
  let results = (outs MemRefRankOf<[I8], [1]>:$memory);
  let assemblyFormat = "$bytes `from` $begin attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def CUDA_SelectTilesOp : CUDA_Op<"select_tiles", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>]> {
  let summary = "the best elements of rows that come as tiles";
  let description = [{
    ```mlir
    cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory : memref<?xi8> limit {
    ^bb0(%tile_row: index):
      cuda.tile_yield %length : index
    } source {
    ^bb0(%consume: !cuda.callable):
      engine.score_tiles %consume, %scratch, %queries, %keys, %first_row
      cuda.tile_yield
    } emit {
    ^bb0(%tile_row: index, %rank: index, %index: index, %value: f32):
      ...
      cuda.tile_yield
    }
    ```

    Selects, from each of the `rows` rows of a block, the min(`k`, limit) elements that come first
    in the order of `dsv4.topk`. A row has at most `max` elements.

    * `limit` returns the number of elements of row `tile_row`, or 0 if the row does not exist;
    * `source` runs once, on all threads of the block. Its device call passes fragments of the
      elements to `consume`, with at most `columns` columns of one row at a time. The first `warps`
      warps call `consume` together. A list of candidates has room for `calls` calls after it was
      reduced to the best;
    * `score`, if present, returns the score of the element `value` of the source. It runs only for
      elements below the limit;
    * `emit` runs once for every row and every rank below `k`, with the index and the score of the
      element. Ranks after the last element have index -1 and score -infinity, +infinity with
      `smallest`.

    `ties high` and `nan first` mean the same as in `dsv4.topk`; with `nan first` `emit` gets the
    scores + 0. `memory` is a part of the block's shared memory, of `getSharedBytes()` bytes.
    Clauses:

    * select_tiles_c1: the regions have the arguments `tile_row`; a `!cuda.callable`; `tile_row`,
      `column` and `value`, a `vector<1x1xf32>`; and `tile_row`, `rank`, `index` and `value`. They
      end in a `cuda.tile_yield`: the first of an integer, the third of a `vector<1x1xf32>`, the
      others of nothing;
    * select_tiles_c2: `k` is between 1 and 4096; `max`, `rows`, `columns` and `calls` are positive;
      there are between 1 and 32 `warps`.
  }];
  let arguments = (ins I64Attr:$k, I64Attr:$max, I64Attr:$rows, I64Attr:$columns, I64Attr:$calls,
                       I64Attr:$warps,
                       MemRefRankOf<[I8], [1]>:$memory,
                       DefaultValuedAttr<CUDA_SelectOrder,
                       "::dsv4::cuda::SelectOrder::Unordered">:$order,
                       UnitAttr:$smallest, UnitAttr:$ties_high, UnitAttr:$nan_first);
  let regions = (region SizedRegion<1>:$limit, SizedRegion<1>:$source, MaxSizedRegion<1>:$score,
                        SizedRegion<1>:$emit);
  let assemblyFormat = [{
    $k `of` $max `rows` $rows `columns` $columns `calls` $calls `warps` $warps `in` $memory
    (`order` $order^)? (`smallest` $smallest^)? (`ties` `high` $ties_high^)?
    (`nan` `first` $nan_first^)?
    attr-dict-with-keyword `:` type($memory)
    `limit` $limit `source` $source (`score` $score^)? `emit` $emit
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxK = 4096, kMaxWarps = 32;
    /// `sizeof(TopkTilesShared<Config>)` of the device library, which checks it.
    static int64_t getSharedBytes(int64_t k, int64_t rows, int64_t columns, int64_t calls);
    int64_t getSharedBytes() {
      return getSharedBytes(getK(), getRows(), getColumns(), getCalls());
    }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_SelectResidentOp : CUDA_Op<"select_resident", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>]> {
  let summary = "the best elements of rows that come as tiles, which stay in shared memory";
  let description = [{
    ```mlir
    cuda.select_resident 20 of 333 rows 1 threads 128 vectors 1 cluster 2 in %memory : memref<?xi8>
        limit {
    ^bb0(%tile_row: index):
      cuda.tile_yield %length : index
    } source {
    ^bb0(%consume: !cuda.callable):
      engine.score_tiles %consume, %scratch, %queries, %keys, %first_row
      cuda.tile_yield
    } emit {
    ^bb0(%tile_row: index, %rank: index, %index: index, %value: f32):
      ...
      cuda.tile_yield
    }
    ```

    Selects as `cuda.select_tiles` does, with the same regions, from elements that are in shared
    memory until the source has ended. Each of the `cluster` blocks of a cluster has an equal part
    of the columns of its rows. Then all `threads` threads of each block have `vectors` vectors of
    four elements of a row in registers. `emit` runs in the first block. `memory` is a part of the
    block's shared memory, of `getSharedBytes()` bytes. Clauses:

    * select_resident_c1: the regions are those of select_tiles_c1;
    * select_resident_c2: `k` is between 1 and 4096; `max` and `rows` are positive; `threads` is a
      power of two between 64 and 1024; `cluster` is between 1 and 16; and `vectors` between 1 and
      8 are enough for `max` elements.
  }];
  let arguments = (ins I64Attr:$k, I64Attr:$max, I64Attr:$rows, I64Attr:$threads, I64Attr:$vectors,
                       I64Attr:$cluster,
                       MemRefRankOf<[I8], [1]>:$memory,
                       DefaultValuedAttr<CUDA_SelectOrder,
                       "::dsv4::cuda::SelectOrder::Unordered">:$order,
                       UnitAttr:$smallest, UnitAttr:$ties_high, UnitAttr:$nan_first);
  let regions = (region SizedRegion<1>:$limit, SizedRegion<1>:$source, MaxSizedRegion<1>:$score,
                        SizedRegion<1>:$emit);
  let assemblyFormat = [{
    $k `of` $max `rows` $rows `threads` $threads `vectors` $vectors `cluster` $cluster `in` $memory
    (`order` $order^)? (`smallest` $smallest^)? (`ties` `high` $ties_high^)?
    (`nan` `first` $nan_first^)?
    attr-dict-with-keyword `:` type($memory)
    `limit` $limit `source` $source (`score` $score^)? `emit` $emit
  }];
  let extraClassDeclaration = [{
    /// `topk_resident_shared()` of the device library, which checks it.
    static int64_t getSharedBytes(int64_t rows, int64_t threads, int64_t vectors);
    int64_t getSharedBytes() { return getSharedBytes(getRows(), getThreads(), getVectors()); }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_StoreTilesOp : CUDA_Op<"store_tiles", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>]> {
  let summary = "store rows that come as tiles";
  let description = [{
    ```mlir
    cuda.store_tiles rows 3 max 333 source {
    ^bb0(%consume: !cuda.callable):
      engine.score_tiles %consume, %scratch, %queries, %keys, %first_row
      cuda.tile_yield
    } emit {
    ^bb0(%tile_row: index, %column: index, %value: f32):
      ...
      cuda.tile_yield
    }
    ```

    Stores the rows of a tile source (docs/TileSources.md), of at most `max` elements each. `rows`
    is the number of tile rows: rows of the block, or of all blocks at most if these share them.

    * `source` runs once, on all threads of the block. Its device call passes fragments of the
      elements to `consume`;
    * `emit` runs once for every element that the source passes, on the thread that owns it.

    Clauses:

    * store_tiles_c1: the regions have the arguments `consume`, a `!cuda.callable`; and `tile_row`,
      `column` and `value`, an f32. They end in a `cuda.tile_yield` of nothing;
    * store_tiles_c2: `rows` and `max` are positive.
  }];
  let arguments = (ins I64Attr:$rows, I64Attr:$max);
  let regions = (region SizedRegion<1>:$source, SizedRegion<1>:$emit);
  let assemblyFormat = [{
    `rows` $rows `max` $max attr-dict-with-keyword `source` $source `emit` $emit
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_HoldRowsOp : CUDA_Op<"hold_rows", [
    RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>]> {
  let summary = "give whole rows of a source to warps";
  let description = [{
    ```mlir
    cuda.hold_rows rows 64 source {
    ^bb0(%consume: !cuda.callable):
      engine.compute_rows %consume, %scratch, %x
      cuda.tile_yield
    } emit {
    ^bb0(%row: index, %values: vector<2x4xf32>):
      ...
      cuda.tile_yield
    }
    ```

    Runs a source that hands over whole rows (docs/TileSources.md). A launch has `rows` rows at
    most.

    * `source` runs once, on all threads of the block. Its device call passes rows to `consume`;
    * `emit` runs once for every row, on all lanes of one warp, with the number of the row and the
      lane's part of it.

    Clauses:

    * hold_rows_c1: the regions have the arguments `consume`, a `!cuda.callable`; and `row` and
      `values`, a vector of f32 of rank 2. They end in a `cuda.tile_yield` of nothing;
    * hold_rows_c2: `rows` is positive.
  }];
  let arguments = (ins I64Attr:$rows);
  let regions = (region SizedRegion<1>:$source, SizedRegion<1>:$emit);
  let assemblyFormat = "`rows` $rows attr-dict-with-keyword `source` $source `emit` $emit";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_TileYieldOp : CUDA_Op<"tile_yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["SelectTilesOp", "SelectResidentOp", "StoreTilesOp", "HoldRowsOp",
                 "IndexScoreOp"]>]> {
  let summary = "result of a region of an op of tiles";
  let description = [{
    ```mlir
    cuda.tile_yield %length : index
    ```

    Ends a region of a `cuda.select_tiles`, a `cuda.select_resident`, a `cuda.store_tiles`, a
    `cuda.hold_rows` or a `cuda.index_score`, and returns its results.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[Index, I32, I64,
                       VectorOfRankAndType<[2], [F32]>]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // CUDA_TILE_OPS_TD
