//===- RowWindowOps.td - Reductions of windows of rows -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_WINDOW_OPS_TD
#define ROW_WINDOW_OPS_TD

include "RowOpBase.td"

def Row_WindowReduceOp : Row_Op<"window_reduce", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "softmax-weighted sum of the rows of a window";
  let description = [{
    Channel by channel, the sum over the `members` rows of a window of values weighted by
    the softmax of their scores, as `dsv4.compress` defines it. The body, which runs once
    per row, ends in a `row.window` that gives the window. The region `offsets` gives what
    is added to the scores of member `member`, of every window whose rows the first two
    regions of `row.window` give: it waits for no window. Clauses:

    * window_reduce_c1: the body ends in a `row.window`, whose rows have the extent of the
      result;
    * window_reduce_c2: `members` is positive;
    * window_reduce_c3: `offsets` has the argument `member`, and ends in a `row.yield` of
      one row, of the type of scores.
  }];
  let arguments = (ins I64Attr:$members);
  let results = (outs Row_Vector<[F32]>:$reduced);
  let regions = (region MaxSizedRegion<1>:$offsets, SizedRegion<1>:$body);
  let assemblyFormat = [{
    $members attr-dict-with-keyword `:` type($reduced) $body (`offsets` $offsets^)?
  }];
  let extraClassDeclaration = [{
    WindowOp getWindow();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Row_WindowOp : Row_Op<"window", [
    RecursiveMemoryEffects, Terminator, SingleBlock, HasParent<"WindowReduceOp">]> {
  let summary = "the rows of one window";
  let description = [{
    The last region gives member `member` of the window. Where `all` is true the first two
    give its scores, but for the offsets of the reduction, and its values, with less ado:
    each by itself, so that rows of one tensor can be loaded one after another. Clauses:

    * window_c1: all regions have the argument `member`; the first two end in a `row.yield`
      of one row, the last in a `row.window_row`;
    * window_c2: scores and values are of one type in all of them.
  }];
  let arguments = (ins I1:$all);
  let regions = (region SizedRegion<1>:$scores, SizedRegion<1>:$values,
                        SizedRegion<1>:$any);
  let assemblyFormat = "$all `scores` $scores `values` $values `else` $any attr-dict";
  let hasRegionVerifier = 1;
}

def Row_WindowRowOp : Row_Op<"window_row", [
    Pure, Terminator, ReturnLike, HasParent<"WindowOp">]> {
  let summary = "one row of a window";
  let description = [{
    Whether the row is there, its scores and its values. Of a row that is not there
    nothing but that counts, and its values are zeros.
  }];
  let arguments = (ins I1:$there, Row_Vector<[F32]>:$scores, Row_Vector<[F32]>:$values);
  let assemblyFormat = [{
    $there `,` $scores `,` $values attr-dict `:` type($scores) `,` type($values)
  }];
}

def Row_WindowReduceOnlineOp : Row_Op<"window_reduce_online", [RecursiveMemoryEffects, SingleBlock]>
    {
  let summary = "softmax-weighted sum of the rows of a window, segment by segment";
  let description = [{
    What `dsv4.compress` with `algorithm online` makes of one segment of a window, which
    has at most `members` rows. The body ends in a `row.window_segment` that gives the
    segment. Clauses:

    * window_reduce_online_c1: the body ends in a `row.window_segment`, whose rows have the
      extent of the result;
    * window_reduce_online_c2: `members` is positive.
  }];
  let arguments = (ins I64Attr:$members);
  let results = (outs Row_Vector<[F32]>:$reduced);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$members attr-dict-with-keyword `:` type($reduced) $body";
  let extraClassDeclaration = [{
    WindowSegmentOp getSegment();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Row_WindowSegmentOp : Row_Op<"window_segment", [
    RecursiveMemoryEffects, Terminator, SingleBlock, HasParent<"WindowReduceOnlineOp">]> {
  let summary = "one segment of a window";
  let description = [{
    A segment of `count` rows. Where `known` is true the first region gives the largest
    score, the sum of weights and the weighted sum so far; elsewhere nothing comes before
    the segment. The second gives its scores and values of row `member`, below `count`, and
    what is to be added to the scores, if anything is: as they are stored, since what is
    computed there waits for the load. Where `kept` is true the third stores what it is
    given, the same three after the last row. Where `ends` is true the row of the result is
    the quotient of the sums, else zeros. Clause window_segment_c1: the arguments of the
    regions are none, `member`, and three rows; the first ends in a `row.yield` of three
    rows of f32, which are those of the third, and the second in one of two or three of the
    same extent, scores and values of one type.
  }];
  let arguments = (ins Index:$count, I1:$known, I1:$kept, I1:$ends);
  let regions = (region SizedRegion<1>:$begin, SizedRegion<1>:$member, SizedRegion<1>:$end);
  let assemblyFormat = [{
    $count `known` $known `kept` $kept `ends` $ends attr-dict-with-keyword
    `begin` $begin `member` $member `end` $end
  }];
  let hasRegionVerifier = 1;
}

#endif // ROW_WINDOW_OPS_TD
