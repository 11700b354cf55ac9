//===- RowDialect.td - The row dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ROW_DIALECT_TD
#define ROW_DIALECT_TD

include "mlir/IR/OpBase.td"

def Row_Dialect : Dialect {
  let name = "row";
  let cppNamespace = "::dsv4::row";
  let summary = "What happens to one row";
  let description = [{
    A row program computes one row per iteration of an `scf.forall`. Its values are
    scalars and whole rows, `vector<N x T>`. If the length of a row is known at run
    time only, N is its bound. A row is never materialised whole: distribution gives
    every thread a fragment of it.

    The dialect has no threads and no schedules. Upstream `arith`, `math` and `vector`
    are used where they suffice. The ops here add the rest: access to stored segments,
    reductions in a fixed order, exact recipes, windows, selection.

    Element-wise ops (`row.encode`, `row.activation`, `row.where_valid`, `row.one_nan`,
    `row.swap_nibbles`) are legal on rows and on fragments, until
    `cuda-form-device-calls` turns them into device calls. No other op of `row` survives
    distribution.
  }];
}

#endif // ROW_DIALECT_TD
