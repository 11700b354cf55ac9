//===- RowLimits.cpp - How many elements of a row count -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLimits.h"

using namespace mlir;
using namespace dsv4;

/// The number of elements that count of a row of a request that has several.
static Value buildLengthOfRequest(RowContext &row, const RowLengths &given,
                                  Value columns, StringRef name) {
  OpBuilder &b = row.getBuilder();
  Value lengths = given.lengths;
  auto rows = static_cast<int64_t>(*given.nextN);
  Value request = row.div(row.getRow(), row.constant(rows), "request_of_row");
  // Rows need not be those of the requests.
  Value length = row.loadIndexIf(
      row.isBelow(request, row.getExtent(lengths, 0)), lengths,
      [&] { return row.getOffset(lengths, {request}); }, 0, "given",
      IntegerKind::Length);
  // The last row of a request has all of it.
  Value after =
      arith::SubIOp::create(b, row.getLoc("rows_after"), row.constant(rows - 1),
                            row.rem(row.getRow(), row.constant(rows)));
  length = arith::MaxSIOp::create(b, row.getLoc(), length, row.constant(0));
  length = arith::SubIOp::create(b, row.getLoc(), length, after);
  length = arith::MaxSIOp::create(b, row.getLoc(), length, row.constant(0));
  if (given.ratio)
    length = row.div(length, row.constant(*given.ratio), "complete");
  return arith::MinSIOp::create(b, row.getLoc(name), length, columns);
}

Value dsv4::buildRowLength(RowContext &row, const RowLengths &given,
                           Value columns, StringRef name) {
  if (given.nextN)
    return buildLengthOfRequest(row, given, columns, name);
  OpBuilder &b = row.getBuilder();
  Value length = row.loadIndexOfRow(
      given.lengths, given.ratio ? "position" : "given", IntegerKind::Length);
  if (given.ratio)
    length = row.div(row.add(length, row.constant(1)),
                     row.constant(*given.ratio), "complete");
  length = arith::MaxSIOp::create(b, row.getLoc(), length, row.constant(0));
  return arith::MinSIOp::create(b, row.getLoc(name), length, columns);
}
