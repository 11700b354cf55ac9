//===- ContractOps.cpp - Ops that are not compared exactly ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractOps.h"

#include "dsv4/Conversion/RowContext.h"
#include "dsv4/Reference/Evaluation.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace contract;

#include "ContractDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ContractOps.cpp.inc"

void ContractDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ContractOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// What both ops share
//===----------------------------------------------------------------------===//

/// All operands have the shape of the first one, with a constant last extent.
static LogicalResult verifyShapes(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  if (type.isDynamicDim(1))
    return op->emitOpError()
           << "expected rows of a constant extent, got " << type;
  for (Type other : op->getOperandTypes())
    if (failed(verifyCompatibleShape(type, other)) ||
        cast<RankedTensorType>(other).isDynamicDim(1))
      return op->emitOpError()
             << "expected operands of the shape of the first, got " << other;
  return success();
}

static int64_t getExtent(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(1);
}

static SmallVector<std::pair<dsv4::TensorAxis, dsv4::TensorAxis>>
tieRows(Operation *op) {
  SmallVector<std::pair<dsv4::TensorAxis, dsv4::TensorAxis>> pairs;
  for (Value operand : op->getOperands().drop_front())
    pairs.push_back({{op->getOperand(0), 0}, {operand, 0}});
  return pairs;
}

/// Any element of a result is computed from the same element of operands alone.
static SmallVector<dsv4::Access> getElementAccesses() {
  return {dsv4::Access::row(), dsv4::Access::columns(1),
          dsv4::Access::elements()};
}

//===----------------------------------------------------------------------===//
// SumOp
//===----------------------------------------------------------------------===//

LogicalResult SumOp::verify() { return verifyShapes(*this); }
Value SumOp::getRowOperand() { return getA(); }
SmallVector<dsv4::RowSegment> SumOp::getRowSegments() {
  return {{getExtent(*this), 32}};
}
SmallVector<dsv4::Access> SumOp::getDemandedAccesses(OpOperand &,
                                                     dsv4::Access access) {
  return {access};
}
SmallVector<dsv4::Access> SumOp::getProvidedAccesses(OpResult) {
  return getElementAccesses();
}
bool SumOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getAMutable();
}
SmallVector<std::pair<dsv4::TensorAxis, dsv4::TensorAxis>>
SumOp::getTiedAxes() {
  return tieRows(*this);
}

dsv4::ResultContract SumOp::getContract(OpOperand &) {
  return getExact() ? dsv4::ResultContract::exact()
                    : dsv4::ResultContract::bounded();
}

FailureOr<SmallVector<dsv4::RowValue>> SumOp::buildRow(dsv4::RowContext &row) {
  OpBuilder &b = row.getBuilder();
  Value first = row.takeRow(getA(), "a"), second = row.takeRow(getB(), "b");
  Value third = row.takeRow(getC(), "c");
  if (getSkew())
    third = arith::MulFOp::create(
        b, row.getLoc(), third,
        row.splat(1 + getSkew()->convertToFloat(), getExtent(*this)));
  Value inner = arith::AddFOp::create(b, row.getLoc(), second, third);
  Value sums = arith::AddFOp::create(b, row.getLoc("sums"), first, inner);
  return SmallVector<dsv4::RowValue>{{sums}};
}

dsv4::rt::Status SumOp::evaluate(dsv4::reference::Evaluation &evaluation) {
  ArrayRef<int64_t> shape = evaluation.getShape(getA());
  if (dsv4::rt::Status status = evaluation.makeResult(0, shape); !status)
    return status;
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i) {
    double sum = 0, magnitudes = 0;
    for (Value operand : {getA(), getB(), getC()}) {
      double term = evaluation.getValue(operand, i);
      sum += term;
      magnitudes += std::isfinite(term) ? std::fabs(term) : 0;
    }
    // A partial sum may be infinite where the whole is not.
    double bound = magnitudes < std::numeric_limits<float>::max()
                       ? 1.2e-7 * magnitudes
                       : std::numeric_limits<double>::infinity();
    evaluation.setBounded(0, i, sum, bound);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// ThirdOp
//===----------------------------------------------------------------------===//

LogicalResult ThirdOp::verify() { return verifyShapes(*this); }
Value ThirdOp::getRowOperand() { return getX(); }
SmallVector<dsv4::RowSegment> ThirdOp::getRowSegments() {
  return {{getExtent(*this), 32}};
}
SmallVector<dsv4::Access> ThirdOp::getDemandedAccesses(OpOperand &,
                                                       dsv4::Access access) {
  return {access};
}
SmallVector<dsv4::Access> ThirdOp::getProvidedAccesses(OpResult) {
  return getElementAccesses();
}
bool ThirdOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable();
}
SmallVector<std::pair<dsv4::TensorAxis, dsv4::TensorAxis>>
ThirdOp::getTiedAxes() {
  return tieRows(*this);
}

dsv4::ResultContract ThirdOp::getContract(OpOperand &) {
  return dsv4::ResultContract::ulp(getUlps());
}

FailureOr<SmallVector<dsv4::RowValue>>
ThirdOp::buildRow(dsv4::RowContext &row) {
  Value x = row.takeRow(getX(), "x");
  Value thirds =
      arith::MulFOp::create(row.getBuilder(), row.getLoc("thirds"), x,
                            row.splat(float(1.0 / 3), getExtent(*this)));
  return SmallVector<dsv4::RowValue>{{thirds}};
}

dsv4::rt::Status ThirdOp::evaluate(dsv4::reference::Evaluation &evaluation) {
  ArrayRef<int64_t> shape = evaluation.getShape(getX());
  if (dsv4::rt::Status status = evaluation.makeResult(0, shape); !status)
    return status;
  for (int64_t i = 0; i < shape[0] * shape[1]; ++i)
    evaluation.setValue(0, i, evaluation.getValue(getX(), i) / 3);
  return {};
}

//===----------------------------------------------------------------------===//
// BareOp
//===----------------------------------------------------------------------===//

Value BareOp::getRowOperand() { return getX(); }
bool BareOp::acceptsProducer(OpOperand &) { return true; }
SmallVector<std::pair<dsv4::TensorAxis, dsv4::TensorAxis>>
BareOp::getTiedAxes() {
  return {};
}
