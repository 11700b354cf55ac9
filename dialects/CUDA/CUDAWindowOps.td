//===- CUDAWindowOps.td - Window reductions -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_WINDOW_OPS_TD
#define CUDA_WINDOW_OPS_TD

include "CUDAOpBase.td"

def CUDA_WindowReduceOp : CUDA_Op<"window_reduce", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32", "getOffsetSum"]>]> {
  let summary = "softmax-weighted sum of the rows of a window";
  let description = [{
    ```mlir
    func.func @example(%values: memref<?xf32>, %at: i32, %n: i32, %all: i1) {
      %row = cuda.window_reduce 128 at %at of %n count 4 threads 128 lanes 16
          : i32, i32 to vector<1x4xf32> {
      ^bb0(%row: index):
        cuda.window %all scores {
        ^bb0(%member: index, %lane: index):
          %x = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
          cuda.window_yield %x : vector<1x2xf32>
        } values {
        ^bb0(%member: index, %lane: index):
          %x = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
          cuda.window_yield %x : vector<1x2xf32>
        } else {
        ^bb0(%member: index, %lane: index):
          %x = cuda.load %values[%lane] if %all : memref<?xf32>, index -> vector<1x2xf32>
          cuda.window_row %all, %x, %x : vector<1x2xf32>, vector<1x2xf32>
        }
      }
      return
    }
    ```

    Reduces the `members` rows of a window to one row, channel by channel: the sum of the values,
    weighted by the softmax of the scores, as `dsv4.compress` defines it. The region has the row of
    the kernel as its argument and ends in a `cuda.window` that describes the window. The region
    `offsets` returns the vector that lane `lane` adds to the scores of member `member`, if the
    first two regions of `cuda.window` return the rows. It depends on no window, so it can be loaded
    early.

    All `threads` threads of the block take part. They reduce `count` windows, from row `row` on and
    below `rows`, one after another. Four or more windows are as far apart as the grid has blocks or
    clusters. Thread t holds the fragment of lane t mod `lanes` of row t div `lanes` of these rows.
    With `cluster`, the blocks of a thread block cluster divide the channels, and the threads
    of the first block hold the result. Clauses:

    * window_reduce_c1: the region has the row as its argument, and ends in a `cuda.window`;
    * window_reduce_c2: members, threads, count and cluster are positive, and the channels of a row
      are whole fragments, the same number of them in every block of a cluster;
    * window_reduce_c3: `offsets` has the arguments `member` and `lane`, and ends in a
      `cuda.window_yield` of one vector, of the type of the scores.
  }];
  let arguments = (ins CUDA_Offset:$row, CUDA_Offset:$rows, I64Attr:$members,
                       DefaultValuedAttr<I64Attr, "1">:$count,
                       DefaultValuedAttr<I64Attr, "1">:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$lanes,
                       DefaultValuedAttr<I64Attr, "1">:$cluster);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$reduced);
  let regions = (region MaxSizedRegion<1>:$offsets, SizedRegion<1>:$body);
  let assemblyFormat = [{
    $members `at` $row `of` $rows (`count` $count^)? (`threads` $threads^)? (`lanes` $lanes^)?
    (`cluster` $cluster^)?
    attr-dict-with-keyword `:` type($row) `,` type($rows) `to` type($reduced) $body
    (`offsets` $offsets^)?
  }];
  let extraClassDeclaration = [{
    WindowOp getWindow();
    /// Channels of a row.
    int64_t getChannels();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_WindowOp : CUDA_Op<"window", [
    RecursiveMemoryEffects, Terminator, SingleBlock, HasParent<"WindowReduceOp">,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments", "getReceiver"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["getOffsetSum"]>]> {
  let summary = "the rows of one window";
  let description = [{
    ```mlir
    cuda.window %all scores {
    ^bb0(%member: index, %lane: index):
      cuda.window_yield %scores : vector<1x2xf32>
    } values {
    ^bb0(%member: index, %lane: index):
      cuda.window_yield %values : vector<1x2xf32>
    } address {
    ^bb0(%member: index):
      cuda.window_address %valid, %memory : i1, memref<?xi8>
    } else {
    ^bb0(%member: index, %lane: index, %there: i1, %row: memref<?xi8>):
      cuda.window_row %there, %scores, %values : vector<1x2xf32>, vector<1x2xf32>
    }
    ```

    The last region returns the fragment that lane `lane` holds of member `member` of the window. If
    `all` is true, every member exists. Then the first region returns its scores, without the
    offsets of the reduction, and the second its values: separately, so that rows of one tensor are
    loaded one after another. The region `address` returns what the last region gets after `lane`:
    where the member is, which is the same for all lanes. The lanes of a warp find the members
    together, each a member of its own, so that the way there takes few instructions and registers.
    Clauses:

    * window_c1: all regions but `address` have the arguments `member` and `lane`; the first two end
      in a `cuda.window_yield` of one vector, the last in a `cuda.window_row`;
    * window_c2: scores and values are of one type in all of them;
    * window_c3: `address` has the argument `member`, and ends in a `cuda.window_address` of what
      the last region has as further arguments. Without it there are none.
  }];
  let arguments = (ins I1:$all);
  let regions = (region SizedRegion<1>:$scores, SizedRegion<1>:$values,
                        MaxSizedRegion<1>:$address, SizedRegion<1>:$any);
  let assemblyFormat = [{
    $all `scores` $scores `values` $values (`address` $address^)? `else` $any attr-dict
  }];
  let hasRegionVerifier = 1;
}

def CUDA_WindowRowOp : CUDA_Op<"window_row", [
    Pure, Terminator, ReturnLike, HasParent<"WindowOp">]> {
  let summary = "one row of a window";
  let description = [{
    ```mlir
    cuda.window_row %valid, %scores, %values : vector<1x2xf32>, vector<1x2xf32>
    ```

    Returns whether the row exists, its scores and its values. The scores of a row that does not
    exist are ignored, and its values are zeros.
  }];
  let arguments = (ins I1:$there, VectorOfRankAndType<[1, 2], [F32]>:$scores,
                       VectorOfRankAndType<[1, 2], [F32]>:$values);
  let assemblyFormat = [{
    $there `,` $scores `,` $values attr-dict `:` type($scores) `,` type($values)
  }];
}

def CUDA_WindowAddressOp : CUDA_Op<"window_address", [
    Pure, Terminator, ReturnLike, HasParent<"WindowOp">]> {
  let summary = "where one row of a window is";
  let description = [{
    ```mlir
    cuda.window_address %valid, %memory : i1, memref<?xi8>
    ```

    Ends the region `address` of a `cuda.window`, and returns its results: conditions and memory.
  }];
  let arguments = (ins Variadic<AnyTypeOf<[I1, MemRefRankOf<[AnyType], [1]>]>>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def CUDA_WindowReduceOnlineOp : CUDA_Op<"window_reduce_online", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_SharedMemoryOpInterface>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "softmax-weighted sum of the rows of a window, segment by segment";
  let description = [{
    ```mlir
    func.func @example(%values: memref<?xf32>, %state: memref<?xi8>, %at: i32, %n: i32, %yes: i1) {
      %row = cuda.window_reduce_online 128 at %at of %n count 4 threads 128 lanes 16
          : i32, i32 to vector<1x4xf32> {
      ^bb0(%row: index):
        cuda.window_segment %n known %yes kept %yes ends %yes : i32 begin {
        ^bb0(%lane: index):
          %x = cuda.load %state[%lane] : memref<?xi8>, index -> vector<1x2xf32>
          cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
        } member {
        ^bb0(%member: index, %lane: index):
          %x = cuda.load %values[%member] staged : memref<?xf32>, index -> vector<1x2xf32>
          cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
        } end {
        ^bb0(%lane: index, %max: vector<1x2xf32>, %sum: vector<1x2xf32>, %acc: vector<1x2xf32>):
          cuda.store %max, %state[%lane] : vector<1x2xf32>, memref<?xi8>, index
          cuda.window_yield
        }
      }
      return
    }
    ```

    Reduces one segment of a window of at most `members` rows, as `dsv4.compress` with
    `algorithm online` defines it. The region has the row of the kernel as its argument and ends in
    a `cuda.window_segment` that describes the segment.

    The op handles rows `row` to `row + count - 1`, those below `rows`. Groups of threads, each with
    all lanes of a row, take the rows in turn. With `cluster`, the blocks of a thread block cluster
    divide the channels, and the threads of the first block hold the result. `groups` times four
    rows of a segment are in flight before the first is used. They go to registers or, if they are
    `staged`, to dynamic shared memory. Then the lanes of every warp hold neighbouring channels
    of one row, from a multiple of 16 bytes on. Clauses:

    * window_reduce_online_c1: the region has the row as its argument, and ends in a
      `cuda.window_segment`;
    * window_reduce_online_c2: members, threads, count, cluster and groups are positive, and the
      channels of a row are whole fragments, the same number of them in every block of a cluster;
    * window_reduce_online_c3: if rows are staged, a block and the lanes of a row are whole
      warps, and a lane holds one vector.
  }];
  let arguments = (ins CUDA_Offset:$row, CUDA_Offset:$rows, I64Attr:$members,
                       DefaultValuedAttr<I64Attr, "1">:$count,
                       DefaultValuedAttr<I64Attr, "1">:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$lanes,
                       DefaultValuedAttr<I64Attr, "1">:$cluster,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$reduced);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $members `at` $row `of` $rows (`count` $count^)? (`threads` $threads^)? (`lanes` $lanes^)?
    (`cluster` $cluster^)? (`groups` $groups^)?
    attr-dict-with-keyword `:` type($row) `,` type($rows) `to` type($reduced) $body
  }];
  let extraClassDeclaration = [{
    WindowSegmentOp getSegment();
    /// Channels of a row.
    int64_t getChannels();
    /// Dynamic shared memory of one group of rows, with `bits` per lane and row.
    static int64_t getGroupBytes(int64_t threads, int64_t bits) {
      return threads * ::dsv4::limits::kSegmentGroupRows * bits / 8;
    }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_WindowSegmentOp : CUDA_Op<"window_segment", [
    RecursiveMemoryEffects, Terminator, SingleBlock, HasParent<"WindowReduceOnlineOp">,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32", "getOffsetSum"]>]> {
  let summary = "one segment of a window";
  let description = [{
    ```mlir
    cuda.window_segment %n known %known kept %kept ends %ends : i32 begin {
    ^bb0(%lane: index):
      cuda.window_yield %max, %weights, %sum : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%member: index, %lane: index):
      cuda.window_yield %scores, %values : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%lane: index, %m: vector<1x2xf32>, %w: vector<1x2xf32>, %s: vector<1x2xf32>):
      cuda.window_yield
    }
    ```

    A segment of `count` rows. If `known` is true, the first region returns the fragments of the
    state that lane `lane` holds: the largest score, the sum of weights and the weighted sum so far.
    Otherwise the segment begins its window. The second region returns scores and values of row
    `member`, below `count`, and an optional vector that is added to the scores. They are returned
    as they are loaded, because arithmetic there would wait for the load. If `kept` is true, the
    third region stores the state after the last row. If `ends` is true, the row of the result is
    the quotient of the sums, otherwise it is zeros. Clauses:

    * window_segment_c1: the arguments of the regions are `lane`; `member` and `lane`; and `lane`
      and three vectors. The first ends in a `cuda.window_yield` of three vectors of f32, which are
      those of the third. The second ends in one of two or three of the same shape, with scores and
      values of one type;
    * window_segment_c2: in the second region all loads are staged, or none.
  }];
  let arguments = (ins CUDA_Offset:$count, I1:$known, I1:$kept, I1:$ends);
  let regions = (region SizedRegion<1>:$begin, SizedRegion<1>:$member, SizedRegion<1>:$end);
  let assemblyFormat = [{
    $count `known` $known `kept` $kept `ends` $ends attr-dict-with-keyword `:` type($count)
    `begin` $begin `member` $member `end` $end
  }];
  let extraClassDeclaration = [{
    /// The fragment of each sum that a lane holds.
    ::mlir::VectorType getPart();
    /// Whether rows go through shared memory.
    bool isStaged();
  }];
  let hasRegionVerifier = 1;
}

def CUDA_WindowYieldOp : CUDA_Op<"window_yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["WindowReduceOp", "WindowOp", "WindowSegmentOp"]>]> {
  let summary = "results of a region of a window reduction";
  let description = [{
    ```mlir
    cuda.window_yield %scores, %values : vector<1x2xf32>, vector<1x2xf32>
    ```

    Ends a region of a window reduction, and returns its results.
  }];
  let arguments = (ins Variadic<VectorOfRankAndType<[1, 2], [F32, BF16, F16]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // CUDA_WINDOW_OPS_TD
