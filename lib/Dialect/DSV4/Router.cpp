//===- Router.cpp - Ops that route tokens to experts ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// Kernels of several ops
//===----------------------------------------------------------------------===//

bool dsv4::isOfPlaces(RowwiseOpInterface op) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto producer = operand.get().getDefiningOp<RowwiseOpInterface>();
    return producer && producer.getSelection().places != 0 &&
           operand.get() == producer->getResult(0) && op.acceptsPlaces(operand);
  });
}

bool dsv4::computesSingly(RowwiseOpInterface op) {
  return op.isPointwise() || op.takesRowNumbers();
}

bool dsv4::isPicked(RowwiseOpInterface op) {
  return computesSingly(op) &&
         llvm::all_of(op->getResult(0).getUses(), [](OpOperand &use) {
           auto user = dyn_cast<RowwiseOpInterface>(use.getOwner());
           return user && user.picksElements(use);
         });
}

bool dsv4::hasShares(RowwiseOpInterface op) {
  return !isPicked(op) || op.takesRowNumbers();
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static RankedTensorType getTensor(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// The one piece of a row of `value`.
static SmallVector<RowPiece> getWholeRow(Value value) {
  auto type = cast<ShapedType>(value.getType());
  return {{type.getShape().back(), getElementBits(type.getElementType())}};
}

/// Clause `clause`: `value` has rows of constant extent.
static LogicalResult verifyHasRows(Operation *op, Value value, StringRef clause,
                                   StringRef name) {
  if (hasRows(value.getType()))
    return success();
  return op->emitOpError()
         << clause << ": expected '" << name
         << "' of rank >= 1 with a constant last extent between 1 and "
         << RecordAttr::kMaxRowExtent << ", got " << value.getType();
}

/// Clause `clause`: `value` has the given shape.
static LogicalResult verifyShape(Operation *op, Value value,
                                 ArrayRef<int64_t> shape, StringRef clause,
                                 StringRef name) {
  RankedTensorType type = getTensor(value);
  if (type && type.getRank() == static_cast<int64_t>(shape.size()) &&
      compatible(type.getShape(), shape) &&
      (shape.empty() || type.isDynamicDim(type.getRank() - 1) ==
                            ShapedType::isDynamic(shape.back())))
    return success();
  return op->emitOpError() << clause << ": expected '" << name << "' of shape "
                           << formatShape(shape) << ", got " << value.getType();
}

//===----------------------------------------------------------------------===//
// GateOp
//===----------------------------------------------------------------------===//

void GateOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getScores(), "scores");
}
Value GateOp::getRowOperand() { return getLogits(); }
SmallVector<RowPiece> GateOp::getRowPieces() {
  return getWholeRow(getLogits());
}
SmallVector<RowGroup> GateOp::getRowGroups() { return {}; }
bool GateOp::isPointwise() { return getFunction() != GateFunction::Softmax; }
bool GateOp::takesRowNumbers() { return !isPointwise(); }
int64_t GateOp::getColumnUnit() { return 1; }
bool GateOp::allowsUnevenShares() { return true; }
bool GateOp::acceptsRow(OpOperand &operand) {
  return &operand == &getLogitsMutable();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> GateOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  tieAxes(getLogits(), getOut(), getTensor(getLogits()).getRank() - 1, pairs);
  return pairs;
}

LogicalResult GateOp::verify() {
  if (failed(verifyHasRows(*this, getLogits(), "gate_c1", "logits")))
    return failure();
  return verifyShape(*this, getOut(), getTensor(getLogits()).getShape(),
                     "gate_c2", "outs");
}

//===----------------------------------------------------------------------===//
// LookupOp
//===----------------------------------------------------------------------===//

void LookupOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "found");
}
// The ids have no axis that is not of the row space.
Value LookupOp::getRowOperand() { return getOut(); }
SmallVector<RowPiece> LookupOp::getRowPieces() { return getWholeRow(getOut()); }
SmallVector<RowGroup> LookupOp::getRowGroups() { return {}; }
bool LookupOp::isStoredToo() { return true; }
bool LookupOp::allowsUnevenShares() { return true; }
bool LookupOp::acceptsRow(OpOperand &) { return false; }
SmallVector<std::pair<TensorAxis, TensorAxis>> LookupOp::getTiedAxes() {
  return {{{getIds(), 0}, {getOut(), 0}}};
}

LogicalResult LookupOp::verify() {
  RankedTensorType table = getTensor(getTable());
  if (!table || table.getRank() != 2)
    return emitOpError() << "lookup_c1: expected 'table' of rank 2, got "
                         << getTable().getType();
  if (failed(verifyHasRows(*this, getTable(), "lookup_c1", "table")))
    return failure();
  RankedTensorType ids = getTensor(getIds());
  if (!ids || ids.getRank() != 1)
    return emitOpError() << "lookup_c2: expected 'ids' of rank 1, got "
                         << getIds().getType();
  return verifyShape(*this, getOut(), {ids.getDimSize(0), table.getDimSize(1)},
                     "lookup_c3", "outs");
}

//===----------------------------------------------------------------------===//
// RouteWeightsOp
//===----------------------------------------------------------------------===//

void RouteWeightsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getWeights(), "weights");
}
Value RouteWeightsOp::getRowOperand() { return getScores(); }
SmallVector<RowPiece> RouteWeightsOp::getRowPieces() {
  return getWholeRow(getOut());
}
SmallVector<RowGroup> RouteWeightsOp::getRowGroups() { return {}; }
bool RouteWeightsOp::picksElements(OpOperand &operand) {
  return &operand == &getScoresMutable();
}
bool RouteWeightsOp::allowsUnevenShares() { return true; }
bool RouteWeightsOp::acceptsPlaces(OpOperand &operand) {
  return &operand == &getIndicesMutable();
}
bool RouteWeightsOp::acceptsRow(OpOperand &operand) {
  return &operand != &getOutMutable();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> RouteWeightsOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t axes = getTensor(getScores()).getRank() - 1;
  tieAxes(getScores(), getIndices(), axes, pairs);
  tieAxes(getScores(), getOut(), axes, pairs);
  return pairs;
}

LogicalResult RouteWeightsOp::verify() {
  if (failed(verifyHasRows(*this, getScores(), "route_weights_c1", "scores")) ||
      failed(verifyHasRows(*this, getIndices(), "route_weights_c2", "indices")))
    return failure();
  SmallVector<int64_t> shape(getTensor(getScores()).getShape());
  shape.back() = getTensor(getIndices()).getShape().back();
  if (failed(verifyShape(*this, getIndices(), shape, "route_weights_c2",
                         "indices")) ||
      failed(verifyShape(*this, getOut(), shape, "route_weights_c3", "outs")))
    return failure();
  if (getScale() && !getScale()->isFinite())
    return emitOpError() << "route_weights_c4: expected a finite 'scale', got "
                         << getScaleAttr();
  if (getUniform() && (getRenormalize() || getScale()))
    return emitOpError() << "route_weights_c5: 'uniform' weights are 1 / k, "
                            "neither renormalised nor scaled";
  return success();
}
