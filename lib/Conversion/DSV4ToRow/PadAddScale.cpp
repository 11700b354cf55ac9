//===- PadAddScale.cpp - pad_rows, concat_rows, add_rows, scale_weights ---===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;

namespace {

struct PadRowsLowering
    : RowLoweringInterface::ExternalModel<PadRowsLowering, PadRowsOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<PadRowsOp>(operation);
    auto type = cast<RankedTensorType>(op.getX().getType());
    int64_t padded = type.getRank() - 2;
    SmallVector<Value> indices = row.getRowIndices(padded + 1);
    StoredVector stored =
        locateRow(row, op.getX(), 0, type.getShape().back(), "x");
    stored.offset = row.getOffset(op.getX(), indices);
    // A row that is not read is zeros.
    stored.predicate =
        row.isBelow(indices[padded], row.getExtent(op.getX(), padded));
    return SmallVector<RowValue>{{buildRead(row, stored)}};
  }
};

struct ConcatRowsLowering
    : RowLoweringInterface::ExternalModel<ConcatRowsLowering, ConcatRowsOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<ConcatRowsOp>(operation);
    return SmallVector<RowValue>{
        {row.takeRow(op.getX(), "x"), row.takeRow(op.getY(), "y")}};
  }
};

struct AddRowsLowering
    : RowLoweringInterface::ExternalModel<AddRowsLowering, AddRowsOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<AddRowsOp>(operation);
    OpBuilder &b = row.getBuilder();
    auto [begin, count] = op.getColumnRange();
    Value x = row.takeRow(op.getX(), begin, count, "x");
    Value position = row.loadIndexOfRow(op.getPositions(), "position");
    Value hasPosition = arith::CmpIOp::create(b, row.getLoc("has_position"),
                                              arith::CmpIPredicate::sge,
                                              position, row.constant(0));
    StoredVector stored = locateRow(row, op.getBias(), 0, count, "bias");
    Value window = row.getExtent(op.getBias(), 0);
    stored.offset =
        row.getOffset(op.getBias(), row.rem(position, window, "bias_row"));
    stored.predicate = hasPosition;
    Value bias = row.toF32(buildRead(row, stored));
    Type result = getElementTypeOrSelf(op.getOut().getType());
    Value sum = row.fromF32(
        arith::AddFOp::create(b, row.getLoc(), row.toF32(x), bias), result);
    // -0 + 0 would be 0, so rows without a position do not take the sum.
    Value biased = arith::SelectOp::create(b, row.getLoc("biased"), hasPosition,
                                           sum, row.copy(x, result));
    return SmallVector<RowValue>{{biased}};
  }
};

struct ScaleWeightsLowering
    : RowLoweringInterface::ExternalModel<ScaleWeightsLowering,
                                          ScaleWeightsOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<ScaleWeightsOp>(operation);
    Location loc = row.getLoc("folded");
    OpBuilder &b = row.getBuilder();
    // Of rows that the kernel quantises, a scale and a weight are rows of one
    // element.
    auto type = cast<RankedTensorType>(op.getWeights().getType());
    bool hasAxis = type.getRank() > row.getSpaceRank();
    int64_t count = hasAxis ? type.getShape().back() : 1;
    Value y = row.toF32(row.takeRow(op.getWeights(), 0, count, "weights"));
    if (op.getScales())
      y = arith::MulFOp::create(
          b, loc, y, row.takeRow(op.getScales(), 0, count, "scales"));
    for (float constant : op.getConstants().value_or(ArrayRef<float>()))
      y = arith::MulFOp::create(b, loc, y, row.splat(constant, count));
    return SmallVector<RowValue>{
        {row.fromF32(y, getElementTypeOrSelf(op.getOut().getType()))}};
  }
};

} // namespace

void dsv4::attachPadAddScaleLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    PadRowsOp::attachInterface<PadRowsLowering>(*context);
    ConcatRowsOp::attachInterface<ConcatRowsLowering>(*context);
    AddRowsOp::attachInterface<AddRowsLowering>(*context);
    ScaleWeightsOp::attachInterface<ScaleWeightsLowering>(*context);
  });
}
