//===- ValidLens.cpp - Row program of dsv4.valid_lens ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLimits.h"
#include "RowLowerings.h"

#include "dsv4/Dialect/Row/ElementOps.h"

using namespace mlir;
using namespace dsv4;

/// The valid entries of this row.
static Value buildCount(ValidLensOp op, RowContext &row) {
  Value limit = row.constant(
      op.getWindow().value_or(std::numeric_limits<int32_t>::max()));
  if (op.getPositions())
    return buildRowLength(row,
                          {op.getPositions(), {}, op.getRatio().value_or(1)},
                          limit, "count");
  Value length =
      row.loadIndexOfRow(op.getLengths(), "length", IntegerKind::Length);
  length = row.max(length, row.constant(0));
  if (op.getRatio())
    length = row.div(length, row.constant(*op.getRatio()), "complete");
  return row.min(length, limit, "count");
}

/// A row of numbers from `count` on, each `less` below the one before.
static Value buildSequenceFrom(RowContext &row, Value count, int64_t less,
                               int64_t numbers) {
  OpBuilder &b = row.getBuilder();
  return row::SequenceOp::create(b, row.getLoc("left"),
                                 VectorType::get({numbers}, b.getI32Type()),
                                 count, row.constant(-less));
}

/// The valid entries of pages: each leaves those of a page less to the next.
static Value buildCountsOfPages(RowContext &row, Value count, int64_t page,
                                int64_t pages) {
  OpBuilder &b = row.getBuilder();
  Value left = buildSequenceFrom(row, count, page, pages);
  left = arith::MaxSIOp::create(b, row.getLoc(), left,
                                repeatInteger(row, 0, pages));
  return arith::MinSIOp::create(
      b, row.getLoc("lens"), left,
      repeatInteger(row, static_cast<int32_t>(page), pages));
}

namespace {
struct ValidLensLowering
    : RowLoweringInterface::ExternalModel<ValidLensLowering, ValidLensOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<ValidLensOp>(operation);
    Value count = buildCount(op, row);
    if (!op.getPage())
      return SmallVector<RowValue>{{buildSequenceFrom(row, count, 0, 1)}};
    int64_t pages = cast<ShapedType>(op.getOut().getType()).getShape().back();
    return SmallVector<RowValue>{{buildCountsOfPages(
        row, count, static_cast<int64_t>(*op.getPage()), pages)}};
  }
};
} // namespace

void dsv4::attachValidLensLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    ValidLensOp::attachInterface<ValidLensLowering>(*context);
  });
}
