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
    ```mlir
    func.func @example(%state: memref<?xf32>, %all: i1, %valid: i1) {
      %row = row.window_reduce 8 : vector<64xf32> {
        row.window %all scores {
        ^bb0(%member: index):
          %x = row.read %state[%member] : memref<?xf32> -> vector<64xf32>
          row.yield %x : vector<64xf32>
        } values {
        ^bb0(%member: index):
          %x = row.read %state[%member] : memref<?xf32> -> vector<64xf32>
          row.yield %x : vector<64xf32>
        } else {
        ^bb0(%member: index):
          %x = row.read %state[%member] if %valid : memref<?xf32> -> vector<64xf32>
          row.window_row %valid, %x, %x : vector<64xf32>, vector<64xf32>
        }
      }
      return
    }
    ```

    Reduces the `members` rows of a window to one row, channel by channel: the sum of the
    values, weighted by the softmax of the scores, as `dsv4.compress` defines it. The body
    runs once per row, and ends in a `row.window` that describes the window. The region
    `offsets` returns the row that is added to the scores of member `member`, if the first
    two regions of `row.window` return the rows. It depends on no window, so it can be
    loaded early. Clauses:

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
    ```mlir
    row.window %all scores {
    ^bb0(%member: index):
      row.yield %scores : vector<64xf32>
    } values {
    ^bb0(%member: index):
      row.yield %values : vector<64xf32>
    } else {
    ^bb0(%member: index):
      row.window_row %valid, %scores, %values : vector<64xf32>, vector<64xf32>
    }
    ```

    The last region returns member `member` of the window. If `all` is true, every member
    exists. Then the first region returns its scores, without the offsets of the reduction,
    and the second its values: separately, so that rows of one tensor are loaded one after
    another. Clauses:

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
    ```mlir
    row.window_row %valid, %scores, %values : vector<64xf32>, vector<64xf32>
    ```

    Returns whether the row exists, its scores and its values. The scores of a row that does
    not exist are ignored, and its values are zeros.
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
    ```mlir
    func.func @example(%rows: memref<?xbf16>, %state: memref<?xf32>, %n: index, %known: i1,
                       %kept: i1, %ends: i1) {
      %row = row.window_reduce_online 128 : vector<64xf32> {
        row.window_segment %n known %known kept %kept ends %ends begin {
          %m = row.read %state[%n] : memref<?xf32> -> vector<64xf32>
          row.yield %m, %m, %m : vector<64xf32>, vector<64xf32>, vector<64xf32>
        } member {
        ^bb0(%member: index):
          %x = row.read %rows[%member] : memref<?xbf16> -> vector<64xbf16>
          row.yield %x, %x : vector<64xbf16>, vector<64xbf16>
        } end {
        ^bb0(%max: vector<64xf32>, %weights: vector<64xf32>, %sum: vector<64xf32>):
          row.write %max, %state[%n] : vector<64xf32>, memref<?xf32>
          row.yield
        }
      }
      return
    }
    ```

    Reduces one segment of a window of at most `members` rows, as `dsv4.compress` with
    `algorithm online` defines it. The body ends in a `row.window_segment` that describes
    the segment. Clauses:

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
    ```mlir
    row.window_segment %n known %known kept %kept ends %ends begin {
      row.yield %max, %weights, %sum : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index):
      row.yield %scores, %values : vector<64xbf16>, vector<64xbf16>
    } end {
    ^bb0(%new_max: vector<64xf32>, %new_weights: vector<64xf32>, %new_sum: vector<64xf32>):
      row.yield
    }
    ```

    A segment of `count` rows. If `known` is true, the first region returns the state: the
    largest score, the sum of weights and the weighted sum so far. Otherwise the segment
    begins its window. The second region returns scores and values of row `member`, below
    `count`, and an optional row that is added to the scores. They are returned as they are
    stored, because arithmetic there would wait for the load. If `kept` is true, the third
    region stores the state after the last row. If `ends` is true, the row of the result is
    the quotient of the sums, otherwise it is zeros. Clause window_segment_c1: the arguments
    of the regions are none, `member`, and three rows. The first ends in a `row.yield` of
    three rows of f32, which are those of the third. The second ends in one of two or three
    rows of the same extent, with scores and values of one type.
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
