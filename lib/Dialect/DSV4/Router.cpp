//===- Router.cpp - Ops that route tokens to experts ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

#define GET_OP_CLASSES
#include "DSV4RouteOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

LogicalResult dsv4::verifyValidRows(Operation *op, Value validRows,
                                    StringRef clause) {
  if (!validRows)
    return success();
  return verifyShape(op, validRows, {1}, clause, "valid_rows");
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
  if (getTokenExperts())
    setName(getFound().back(), "token_experts");
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
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  for (Value out : getOuts())
    tieAxes(getIds(), out, 1, pairs);
  if (getPadding())
    tieAxes(getIds(), getPadding(), 1, pairs);
  return pairs;
}

/// Clauses lookup_c3 and c4.
static LogicalResult verifyDestinations(LookupOp op) {
  size_t expected = op.getTokenExperts() ? 2 : 1;
  if (op.getOuts().size() != expected)
    return op.emitOpError()
           << "lookup_c3: expected " << expected << " destination"
           << (expected == 1 ? "" : "s, the second for 'token_experts'")
           << ", got " << op.getOuts().size();
  IntegerAttr shared = op.getSharedAttr(), experts = op.getExpertsAttr();
  auto isBetween = [](IntegerAttr number, int64_t max) {
    return number && number.getInt() >= 1 && number.getInt() <= max;
  };
  if ((shared || experts) && (!isBetween(shared, LookupOp::kMaxShared) ||
                              !isBetween(experts, RecordAttr::kMaxRowExtent))) {
    InFlightDiagnostic error = op.emitOpError();
    error << "lookup_c4: expected 'shared' between 1 and "
          << LookupOp::kMaxShared << " and 'experts' between 1 and "
          << RecordAttr::kMaxRowExtent << ", got ";
    for (auto [number, end] : {std::pair(shared, " and "), {experts, ""}}) {
      if (number)
        error << number.getInt() << end;
      else
        error << "none" << end;
    }
    return error;
  }
  SmallVector<int64_t> shape = {getTensor(op.getIds()).getDimSize(0),
                                getTensor(op.getTable()).getDimSize(1) +
                                    op.getSharedCount()};
  for (Value out : op.getOuts())
    if (failed(verifyShape(op, out, shape, "lookup_c3",
                           out == op.getOut() ? "outs" : "token_experts")))
      return failure();
  return success();
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
  if (failed(verifyDestinations(*this)) ||
      failed(verifyValidRows(*this, getValidRows(), "lookup_c5")))
    return failure();
  if (!getPadding())
    return success();
  return verifyShape(*this, getPadding(), ids.getShape(), "lookup_c5",
                     "padding");
}

//===----------------------------------------------------------------------===//
// MapIndicesOp
//===----------------------------------------------------------------------===//

void MapIndicesOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getMapped(), "mapped");
}
Value MapIndicesOp::getRowOperand() { return getIndices(); }
SmallVector<RowSegment> MapIndicesOp::getRowSegments() {
  return getOneSegment(getOut());
}
bool MapIndicesOp::allowsMaskedTail() { return true; }
bool MapIndicesOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getIndicesMutable();
}
SmallVector<Access> MapIndicesOp::getDemandedAccesses(OpOperand &,
                                                      Access access) {
  return {access, Access::ranks()};
}
bool MapIndicesOp::isAlsoStored() { return true; }
SmallVector<std::pair<TensorAxis, TensorAxis>> MapIndicesOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t axes = getTensor(getIndices()).getRank() - 1;
  tieAxes(getIndices(), getOut(), axes, pairs);
  if (getPadding())
    tieAxes(getIndices(), getPadding(), axes, pairs);
  return pairs;
}

LogicalResult MapIndicesOp::verify() {
  if (failed(verifyHasRows(*this, getIndices(), "map_indices_c1", "indices")))
    return failure();
  if (getTable()) {
    RankedTensorType table = getTensor(getTable());
    if (!table || table.getRank() != 1)
      return emitOpError() << "map_indices_c2: expected 'table' of rank 1, got "
                           << getTable().getType();
    if (failed(verifyHasRows(*this, getTable(), "map_indices_c2", "table")))
      return failure();
  }
  ArrayRef<int64_t> shape = getTensor(getIndices()).getShape();
  if (failed(verifyShape(*this, getOut(), shape, "map_indices_c3", "outs")) ||
      failed(verifyValidRows(*this, getValidRows(), "map_indices_c4")))
    return failure();
  if (!getPadding())
    return success();
  return verifyShape(*this, getPadding(), shape.drop_back(), "map_indices_c4",
                     "padding");
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

/// Clauses route_weights_c7 and c8.
std::string RouteWeightsOp::explainProducer(OpOperand &operand) {
  if (&operand != &getIndicesMutable())
    return "";
  Operation *producer = getIndices().getDefiningOp();
  auto selection = dyn_cast_if_present<TopkOp>(producer);
  if (selection && selection.getNanFirst() && getNanZero())
    return "route_weights_c8: has 'nan zero', but 'dsv4.topk', which computes "
           "its indices, chooses a NaN before every number with 'nan first': "
           "remove one of them";
  int64_t shared;
  if (selection)
    shared = selection.getSharedCount();
  else if (auto lookup = dyn_cast_if_present<LookupOp>(producer))
    shared = lookup.getSharedCount();
  else
    return "";
  if (shared == getSharedCount())
    return "";
  return llvm::formatv(
      "route_weights_c7: has {0} as the number of 'shared' experts (0 without "
      "the clause), but '{1}', which computes its indices, has {2}: give both "
      "the same",
      getSharedCount(), producer->getName(), shared);
}

/// Clause route_weights_c6.
static LogicalResult verifyShared(RouteWeightsOp op) {
  IntegerAttr shared = op.getSharedAttr();
  FloatAttr weight = op.getWeightAttr(), part = op.getOfSumAttr();
  if (!shared && !weight && !part)
    return success();
  if (!shared || bool(weight) == bool(part))
    return op.emitOpError()
           << "route_weights_c6: expected 'shared' with one of 'weight' and "
              "'of_sum', which say how much shared experts weigh";
  if (shared.getInt() < 1 || shared.getInt() >= op.getColumns())
    return op.emitOpError()
           << "route_weights_c6: expected 'shared' between 1 and "
           << op.getColumns() - 1 << ", fewer than the " << op.getColumns()
           << " columns of 'indices', got " << shared.getInt();
  if (!(weight ? weight : part).getValue().isFinite())
    return op.emitOpError() << "route_weights_c6: expected a finite '"
                            << (weight ? "weight" : "of_sum") << "', got "
                            << (weight ? weight : part);
  return success();
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
  if (getUniform() && getNanZero())
    return emitOpError() << "route_weights_c5: 'uniform' weights are 1 / k, "
                            "whatever the scores: remove 'nan zero'";
  return verifyShared(*this);
}
