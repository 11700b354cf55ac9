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
    Reduces the `members` rows of a window to one row, channel by channel: the sum of the values,
    weighted by the softmax of the scores, as `dsv4.compress` defines it. The region has the row of
    the kernel as its argument and ends in a `cuda.window` that gives the window. The region
    `offsets` gives what lane `lane` adds to the scores of member `member` in every window whose
    rows the first two regions of `cuda.window` give. It waits for no window.

    All `threads` threads of the block take part. They reduce `count` windows, from row `row` on and
    below `rows`, one after another. Four windows and more are as far apart as the grid has blocks
    or clusters. Thread t holds the fragment that lane t mod `lanes` has of row t div `lanes` of
    these. With `cluster`, the blocks of a thread block cluster divide the channels, and the threads
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
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["getOffsetSum"]>]> {
  let summary = "the rows of one window";
  let description = [{
    The last region gives the fragment that lane `lane` holds of member `member` of the window.
    Where `all` is true, every member is there. Then the first region gives its scores, without the
    offsets of the reduction, and the second its values: each by itself, so that rows of one tensor
    are loaded one after another. Clauses:

    * window_c1: all regions have the arguments `member` and `lane`; the first two end in a
      `cuda.window_yield` of one vector, the last in a `cuda.window_row`;
    * window_c2: scores and values are of one type in all of them.
  }];
  let arguments = (ins I1:$all);
  let regions = (region SizedRegion<1>:$scores, SizedRegion<1>:$values,
                        SizedRegion<1>:$any);
  let assemblyFormat = "$all `scores` $scores `values` $values `else` $any attr-dict";
  let hasRegionVerifier = 1;
}

def CUDA_WindowRowOp : CUDA_Op<"window_row", [
    Pure, Terminator, ReturnLike, HasParent<"WindowOp">]> {
  let summary = "one row of a window";
  let description = [{
    Gives whether the row is there, its scores and its values. If it is not there, its scores are
    ignored and its values are zeros.
  }];
  let arguments = (ins I1:$there, VectorOfRankAndType<[1, 2], [F32]>:$scores,
                       VectorOfRankAndType<[1, 2], [F32]>:$values);
  let assemblyFormat = [{
    $there `,` $scores `,` $values attr-dict `:` type($scores) `,` type($values)
  }];
}

def CUDA_WindowReduceOnlineOp : CUDA_Op<"window_reduce_online", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_SharedMemoryOpInterface>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "softmax-weighted sum of the rows of a window, segment by segment";
  let description = [{
    Reduces one segment of a window of at most `members` rows, as `dsv4.compress` with
    `algorithm online` defines it. The region has the row of the kernel as its argument and ends in
    a `cuda.window_segment` that gives the segment.

    The op handles rows `row` to `row + count - 1`, those below `rows`. Groups of threads, each with
    all lanes of a row, take the rows in turn. With `cluster`, the blocks of a thread block cluster
    divide the channels, and the threads of the first block hold the result. `groups` times four
    rows of a segment are in flight before the first is used. They go to registers or, where they
    are `staged`, to dynamic shared memory: then the lanes of every warp hold neighbouring channels
    of one row, from a multiple of 16 bytes on. Clauses:

    * window_reduce_online_c1: the region has the row as its argument, and ends in a
      `cuda.window_segment`;
    * window_reduce_online_c2: members, threads, count, cluster and groups are positive, and the
      channels of a row are whole fragments, the same number of them in every block of a cluster;
    * window_reduce_online_c3: where rows are staged, a block and the lanes of a row are whole
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
    A segment of `count` rows. Where `known` is true, the first region gives the fragments that lane
    `lane` holds of the state: the largest score, the sum of weights and the weighted sum so far.
    Elsewhere nothing comes before the segment. The second region gives scores and values of row
    `member`, below `count`, and what is added to the scores, if anything. They are given as they
    are loaded, because what is computed there waits for the load. Where `kept` is true, the third
    region stores the state after the last row. Where `ends` is true, the row of the result is the
    quotient of the sums, and else zeros. Clauses:

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
  let arguments = (ins Variadic<VectorOfRankAndType<[1, 2], [F32, BF16]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // CUDA_WINDOW_OPS_TD
