//===- RowSelectOps.td - Selection from a row -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_SELECT_OPS_TD
#define ROW_SELECT_OPS_TD

include "RowOpBase.td"

def Row_SelectOp : Row_Op<"select", [Pure]> {
  let summary = "the best elements of a row";
  let description = [{
    ```mlir
    %indices, %values = row.select %scores length %length
        : vector<4096xf32> -> vector<512xi32>, vector<512xf32>
    ```

    Selects the min(k, length) elements of the row that come first in the order of
    `dsv4.topk` without a bias, and returns their indices and values. k is the extent of the
    results. The row has `length` elements; elements of `scores` at or beyond `length` are
    undefined. Ranks after the last element have index -1 and value -infinity, +infinity with
    `smallest`. `groups`, `keep` and `by` mean the same as in `dsv4.topk`, and so do `ties high` and
    `nan first`, with which the values are the elements + 0.
    With `from` the row has the elements from `start`, which is not negative, to `length` - 1,
    and indices count from `start`. Distribution computes `scores` column by column, as the
    schedule reads them, and the users of the results rank by rank. With `padding` p the results
    have p more ranks, which are padding whatever the row has. Clauses:

    * select_c1: the results have one extent, k + p, with k from 1 to 4096;
    * select_c2: at most 32 groups, which divide the row; between 1 and all of them are
      kept, by at least 1 element of each;
    * select_c3: one group with a `start` or `ties high`.
  }];
  let arguments = (ins Row_Vector<[F32]>:$scores, Optional<Index>:$start, Index:$length,
                       DefaultValuedAttr<Row_SelectOrder,
                       "::dsv4::row::SelectOrder::Unordered">:$order,
                       UnitAttr:$smallest, UnitAttr:$ties_high, UnitAttr:$nan_first,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$keep,
                       DefaultValuedAttr<I64Attr, "1">:$by,
                       DefaultValuedAttr<I64Attr, "0">:$padding);
  let results = (outs Row_Vector<[I32]>:$indices, Row_Vector<[F32]>:$values);
  let assemblyFormat = [{
    $scores (`from` $start^)? `length` $length (`order` $order^)? (`smallest` $smallest^)?
    (`ties` `high` $ties_high^)? (`nan` `first` $nan_first^)?
    (`groups` $groups^)? (`keep` $keep^)? (`by` $by^)? (`padding` $padding^)? attr-dict
    `:` type($scores) `->` type($indices) `,` type($values)
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxK = 4096, kMaxGroups = 32;
    /// Ranks of the results.
    int64_t getRanks() { return getIndices().getType().getNumElements(); }
    /// Those of elements.
    int64_t getK() { return getRanks() - static_cast<int64_t>(getPadding()); }
  }];
  let hasVerifier = 1;
}

def Row_MapOp : Row_Op<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a scalar program per element";
  let description = [{
    ```mlir
    %slots = row.map %indices : vector<512xi32> -> vector<512xi32> {
    ^bb0(%index: index):
      ...
      row.yield %slot : i32
    }
    ```

    The region computes an element of the result from the same element of `indices`.
    Clause map_c1: the region has an index as its argument, and ends in a `row.yield` of
    one scalar, of the result's element type; the extents agree.
  }];
  let arguments = (ins Row_Vector<[I32]>:$indices);
  let results = (outs Row_AnyRow:$mapped);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$indices attr-dict `:` type($indices) `->` type($mapped) $body";
  let hasRegionVerifier = 1;
}

#endif // ROW_SELECT_OPS_TD
