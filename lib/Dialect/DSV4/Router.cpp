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

#define GET_OP_CLASSES
#include "DSV4RouteOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static RankedTensorType getTensor(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
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
SmallVector<RowSegment> GateOp::getRowSegments() {
  return getOneSegment(getLogits());
}
bool GateOp::allowsMaskedTail() { return true; }
bool GateOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getLogitsMutable();
}
SmallVector<Access> GateOp::getDemandedAccesses(OpOperand &, Access access) {
  // Statistics are found in logits that are read.
  if (getFunction() == GateFunction::Softmax && !access.isRow())
    return {};
  return {access};
}
SmallVector<Access> GateOp::getProvidedAccesses(OpResult) {
  int64_t statistics = getFunction() == GateFunction::Softmax
                           ? getTensor(getLogits()).getShape().back()
                           : 0;
  return {Access::row(), Access::columns(1).withStatistics(statistics),
          Access::elements().withStatistics(statistics)};
}
std::string GateOp::getAccessNote(Access access) {
  if (getFunction() != GateFunction::Softmax || access.isRow())
    return "";
  return "a softmax needs statistics of the whole row first";
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
// The ids have no axis but those of the iteration space.
Value LookupOp::getRowOperand() { return getOut(); }
SmallVector<RowSegment> LookupOp::getRowSegments() {
  return getOneSegment(getOut());
}
bool LookupOp::allowsMaskedTail() { return true; }
bool LookupOp::acceptsProducer(OpOperand &) { return false; }
bool LookupOp::isAlsoStored() { return true; }
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
SmallVector<RowSegment> RouteWeightsOp::getRowSegments() {
  return getOneSegment(getOut());
}
bool RouteWeightsOp::allowsMaskedTail() { return true; }
bool RouteWeightsOp::acceptsProducer(OpOperand &operand) {
  return &operand != &getOutMutable();
}
SmallVector<Access> RouteWeightsOp::getDemandedAccesses(OpOperand &operand,
                                                        Access access) {
  if (&operand == &getIndicesMutable())
    return {Access::row(), Access::ranks()};
  // The thread that has a rank computes the one column that it needs.
  if (access.isRanks())
    return {Access::columns(1).withStatistics(access.statistics)};
  return {Access::elements().withStatistics(Access::kAnyRow)};
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
                            "neither renormalised nor scaled: remove "
                            "'renormalize' and 'scale'";
  return success();
}
