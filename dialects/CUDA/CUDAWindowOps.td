//===- CUDAWindowOps.td - Window reductions -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_WINDOW_OPS_TD
#define CUDA_WINDOW_OPS_TD

include "CUDAOpBase.td"

def CUDA_PoolOp : CUDA_Op<"pool", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32", "getOffsetSum"]>]> {
  let summary = "softmax-weighted sum of the rows of a window";
  let description = [{
    Channel by channel, the sum over the `members` rows of a window of values weighted by the
    softmax of their scores, as `dsv4.compress` defines it. The region, whose argument is the row of
    the kernel, ends in a `cuda.pool_window` that gives the window. The region `offsets` gives what
    lane `lane` of a team adds to the scores of member `member`, of every window whose rows its
    first two regions give: it waits for no window.

    All `threads` threads of the block take part: for `count` rows, from `row` on, those below
    `rows`, one after another; four and more are as far from each other as the grid has blocks or
    clusters. Thread t has what lane t mod `lanes` holds of row t div `lanes` of these. With
    `cluster` so many blocks, a thread block cluster, share the channels, and the threads of the
    first have the result. Clauses:

    * pool_c1: the region has the row as its argument, and ends in a `cuda.pool_window`;
    * pool_c2: members, threads, count and cluster are positive, and a row of the window is the
      teams' lanes times what one holds, in one piece and as many in every block of a cluster;
    * pool_c3: `offsets` has the arguments `member` and `lane`, and ends in a `cuda.pool_yield` of
      one vector, of the type of scores.
  }];
  let arguments = (ins CUDA_Offset:$row, CUDA_Offset:$rows, I64Attr:$members,
                       DefaultValuedAttr<I64Attr, "1">:$count,
                       DefaultValuedAttr<I64Attr, "1">:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$lanes,
                       DefaultValuedAttr<I64Attr, "1">:$cluster);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$pooled);
  let regions = (region MaxSizedRegion<1>:$offsets, SizedRegion<1>:$body);
  let assemblyFormat = [{
    $members `at` $row `of` $rows (`count` $count^)? (`threads` $threads^)? (`lanes` $lanes^)?
    (`cluster` $cluster^)?
    attr-dict-with-keyword `:` type($row) `,` type($rows) `to` type($pooled) $body
    (`offsets` $offsets^)?
  }];
  let extraClassDeclaration = [{
    PoolWindowOp getWindow();
    /// Channels of a row.
    int64_t getChannels();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_PoolWindowOp : CUDA_Op<"pool_window", [
    RecursiveMemoryEffects, Terminator, SingleBlock, HasParent<"PoolOp">,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["getOffsetSum"]>]> {
  let summary = "the rows of one window";
  let description = [{
    The last region gives what lane `lane` of a team holds of member `member` of the window. Where
    `all` is true the first two give its scores, but for the offsets of the pool, and its values,
    with less ado: each by itself, so that rows of one tensor can be loaded one after another.
    Clauses:

    * pool_window_c1: all regions have the arguments `member` and `lane`; the first two end in a
      `cuda.pool_yield` of one vector, the last in a `cuda.pool_row`;
    * pool_window_c2: scores and values are of one type in all of them.
  }];
  let arguments = (ins I1:$all);
  let regions = (region SizedRegion<1>:$scores, SizedRegion<1>:$values,
                        SizedRegion<1>:$any);
  let assemblyFormat = "$all `scores` $scores `values` $values `else` $any attr-dict";
  let hasRegionVerifier = 1;
}

def CUDA_PoolRowOp : CUDA_Op<"pool_row", [
    Pure, Terminator, ReturnLike, HasParent<"PoolWindowOp">]> {
  let summary = "one row of a window";
  let description = [{
    Whether the row is there, its scores and its values. Of a row that is not there nothing
    but that counts, and its values are zeros.
  }];
  let arguments = (ins I1:$there, VectorOfRankAndType<[1, 2], [F32]>:$scores,
                       VectorOfRankAndType<[1, 2], [F32]>:$values);
  let assemblyFormat = "$there `,` $scores `,` $values attr-dict `:` type($scores) `,` type($values)";
}

def CUDA_PoolOnlineOp : CUDA_Op<"pool_online", [
    RecursiveMemoryEffects, SingleBlock,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_SharedMemoryOpInterface>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getConfig", "getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32"]>]> {
  let summary = "softmax-weighted sum of the rows of a window, piece by piece";
  let description = [{
    What `dsv4.compress` with `algorithm online` makes of one piece of a window, which has at most
    `members` rows. The region, whose argument is the row of the kernel, ends in a `cuda.pool_piece`
    that gives the piece.

    It is for rows `row` to `row + count - 1`, those below `rows`: teams of threads take part, each
    for every so many rows. With `cluster` so many blocks, a thread block cluster, share the
    channels, and the threads of the first have the result. Of the rows of a piece `groups` times
    four are loaded before the first is used, to registers or, where they are `staged`, to dynamic
    shared memory: then every warp has channels of one team, which its lanes have side by side, from
    a multiple of 16 bytes on. Clauses:

    * pool_online_c1: the region has the row as its argument, and ends in a `cuda.pool_piece`;
    * pool_online_c2: members, threads, count, cluster and groups are positive, and a row of the
      window is the teams' lanes times what one holds, in one piece and as many in every block of a
      cluster;
    * pool_online_c3: where rows are staged, a block and a team have whole warps, and a lane one
      chunk.
  }];
  let arguments = (ins CUDA_Offset:$row, CUDA_Offset:$rows, I64Attr:$members,
                       DefaultValuedAttr<I64Attr, "1">:$count,
                       DefaultValuedAttr<I64Attr, "1">:$threads,
                       DefaultValuedAttr<I64Attr, "1">:$lanes,
                       DefaultValuedAttr<I64Attr, "1">:$cluster,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs VectorOfRankAndType<[1, 2], [F32]>:$pooled);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $members `at` $row `of` $rows (`count` $count^)? (`threads` $threads^)? (`lanes` $lanes^)?
    (`cluster` $cluster^)? (`groups` $groups^)?
    attr-dict-with-keyword `:` type($row) `,` type($rows) `to` type($pooled) $body
  }];
  let extraClassDeclaration = [{
    PoolPieceOp getPiece();
    /// Channels of a row.
    int64_t getChannels();
    /// Rows of a group: `group_rows` of the device library.
    static constexpr int64_t kGroupRows = 4;
    /// What a block has of a group in dynamic shared memory, `bits` a lane and row.
    static int64_t getGroupBytes(int64_t threads, int64_t bits) {
      return threads * kGroupRows * bits / 8;
    }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def CUDA_PoolPieceOp : CUDA_Op<"pool_piece", [
    RecursiveMemoryEffects, Terminator, SingleBlock, HasParent<"PoolOnlineOp">,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>,
    DeclareOpInterfaceMethods<CUDA_DeviceCallOpInterface, ["getCallArguments"]>,
    DeclareOpInterfaceMethods<CUDA_IndexWidthOpInterface, ["isInt32", "getOffsetSum"]>]> {
  let summary = "one piece of a window";
  let description = [{
    A piece of `count` rows. Where `known` is true the first region gives what lane `lane` of a team
    holds of the largest score, the sum of weights and the weighted sum so far; elsewhere nothing
    comes before the piece. The second gives its scores and values of row `member`, below `count`,
    and what is to be added to the scores, if anything is: as they are loaded, since what is
    computed there waits for the load. Where `kept` is true the third stores what it is given, the
    same three behind the last row. Where `ends` is true the row of the result is the quotient of
    the sums, else zeros. Clause pool_piece_c1: the arguments of the regions are `lane`, `member`
    and `lane`, and `lane` and three vectors; the first ends in a `cuda.pool_yield` of three vectors
    of f32, which are those of the third, and the second in one of two or three of the same shape,
    scores and values of one type. Clause pool_piece_c2: of the second all or none are staged loads.
  }];
  let arguments = (ins CUDA_Offset:$count, I1:$known, I1:$kept, I1:$ends);
  let regions = (region SizedRegion<1>:$begin, SizedRegion<1>:$member, SizedRegion<1>:$end);
  let assemblyFormat = [{
    $count `known` $known `kept` $kept `ends` $ends attr-dict-with-keyword `:` type($count)
    `begin` $begin `member` $member `end` $end
  }];
  let extraClassDeclaration = [{
    /// What a lane holds of the sums.
    ::mlir::VectorType getPart();
    /// Whether rows go through shared memory.
    bool isStaged();
  }];
  let hasRegionVerifier = 1;
}

def CUDA_PoolYieldOp : CUDA_Op<"pool_yield", [
    Pure, Terminator, ReturnLike,
    ParentOneOf<["PoolOp", "PoolWindowOp", "PoolPieceOp"]>]> {
  let summary = "what a region of a pool, a window or a piece gives";
  let arguments = (ins Variadic<VectorOfRankAndType<[1, 2], [F32, BF16]>>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // CUDA_WINDOW_OPS_TD
