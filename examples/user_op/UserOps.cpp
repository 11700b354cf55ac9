//===- UserOps.cpp - A row-wise op outside of dsv4 ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UserOps.h"

#include "dsv4/Conversion/RowContext.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace user;

#include "UserDialect.cpp.inc"

#define GET_OP_CLASSES
#include "UserOps.cpp.inc"

void UserDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "UserOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Clauses
//===----------------------------------------------------------------------===//

LogicalResult AddWindowBiasOp::verify() {
  RankedTensorType x = getX().getType(), bias = getBias().getType();
  int64_t extent = x.getDimSize(1);
  if (x.isDynamicDim(1) || extent < 1 || extent > 65536)
    return emitOpError() << "add_window_bias_c1: expected 'x' of shape "
                            "[tokens, N] with N between 1 and 65536, got "
                         << x;
  if (bias.isDynamicDim(0) || bias.getDimSize(0) < 1 ||
      bias.getDimSize(1) != extent)
    return emitOpError() << "add_window_bias_c2: expected 'bias' of shape "
                            "[window, "
                         << extent << "] with a constant window, got " << bias;
  if (failed(verifyCompatibleShape(getPositions().getType().getShape(),
                                   x.getShape().drop_back())))
    return emitOpError() << "add_window_bias_c3: expected 'positions' of the "
                            "rows of 'x', got "
                         << getPositions().getType();
  if (failed(verifyCompatibleShape(getOut().getType(), x)) ||
      getOut().getType().isDynamicDim(1))
    return emitOpError()
           << "add_window_bias_c4: expected 'outs' of the shape of 'x', got "
           << getOut().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// RowwiseOpInterface, RowLayoutOpInterface: what kernels are formed and
// scheduled by
//===----------------------------------------------------------------------===//

Value AddWindowBiasOp::getRowOperand() { return getX(); }

// A row of `bias` belongs to many tokens, so it comes from memory.
bool AddWindowBiasOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable();
}

SmallVector<std::pair<dsv4::TensorAxis, dsv4::TensorAxis>>
AddWindowBiasOp::getTiedAxes() {
  return {{{getX(), 0}, {getOut(), 0}}, {{getX(), 0}, {getPositions(), 0}}};
}

SmallVector<dsv4::RowSegment> AddWindowBiasOp::getRowSegments() {
  return {{/*extent=*/getX().getType().getDimSize(1), /*bits=*/32}};
}

//===----------------------------------------------------------------------===//
// RowLoweringInterface: the program of one row
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<dsv4::RowValue>>
AddWindowBiasOp::buildRow(dsv4::RowContext &row) {
  OpBuilder &b = row.getBuilder();
  int64_t window = getBias().getType().getDimSize(0);
  int64_t extent = getX().getType().getDimSize(1);

  // From the op that computed it, or from memory.
  Value x = row.takeRow(getX(), "x");
  Value position = row.loadIndexOfRow(getPositions(), "position");
  Value hasPosition = arith::CmpIOp::create(b, row.getLoc("has_position"),
                                            arith::CmpIPredicate::sge, position,
                                            row.constant(0));

  // One row of the table; nothing is read where there is no position.
  dsv4::StoredVector stored =
      dsv4::locateRow(row, getBias(), 0, extent, "bias");
  Value biasRow = row.rem(position, row.constant(window), "bias_row");
  stored.offset = row.getOffset(getBias(), biasRow);
  stored.predicate = hasPosition;
  Value bias = dsv4::buildRead(row, stored);

  Value sum = arith::AddFOp::create(b, row.getLoc(), x, bias);
  // -0 + 0 would be 0, so rows without a position do not take the sum.
  Value biased =
      arith::SelectOp::create(b, row.getLoc("biased"), hasPosition, sum, x);
  return SmallVector<dsv4::RowValue>{{biased}};
}
