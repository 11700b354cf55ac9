//===- PadAddScale.cpp - pad_rows, concat_rows, add_rows, scale_weights ---===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include <cmath>

using namespace mlir;
using namespace dsv4;

//===----------------------------------------------------------------------===//
// PadRowsOp
//===----------------------------------------------------------------------===//

void PadRowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "padded");
}
// Rows of zeros are rows of the result alone.
Value PadRowsOp::getRowOperand() { return getOut(); }
SmallVector<RowSegment> PadRowsOp::getRowSegments() {
  return getOneSegment(getX());
}
SmallVector<ScaleGroup> PadRowsOp::getScaleGroups() { return {}; }
bool PadRowsOp::allowsMaskedTail() { return true; }
bool PadRowsOp::acceptsProducer(OpOperand &) { return false; }
SmallVector<std::pair<TensorAxis, TensorAxis>> PadRowsOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  tieAxes(getX(), getOut(), getTensor(getX()).getRank() - 2, pairs);
  return pairs;
}

LogicalResult PadRowsOp::verify() {
  RankedTensorType x = getTensor(getX()), out = getTensor(getOut());
  if (!hasRows(getX().getType()) || x.getRank() < 2)
    return emitOpError() << "pad_rows_c1: expected 'x' of rank >= 2 with a "
                            "constant last extent between 1 and "
                         << RecordAttr::kMaxRowExtent << ", got "
                         << getX().getType();
  int64_t padded = x.getRank() - 2;
  SmallVector<int64_t> shape = llvm::to_vector(x.getShape());
  shape[padded] = ShapedType::kDynamic;
  if (!out || out.getElementType() != x.getElementType() ||
      !compatible(out.getShape(), shape) || out.isDynamicDim(padded + 1))
    return emitOpError() << "pad_rows_c2: expected 'outs' of "
                         << x.getElementType() << " and shape "
                         << formatShape(shape) << ", got "
                         << getOut().getType();
  if (out.isDynamicDim(padded) ||
      (!x.isDynamicDim(padded) &&
       out.getDimSize(padded) < x.getDimSize(padded)))
    return emitOpError() << "pad_rows_c3: expected axis " << padded
                         << " of 'outs' to be constant and not smaller than "
                            "that of 'x', "
                         << x << ", got " << out;
  return success();
}

//===----------------------------------------------------------------------===//
// ConcatRowsOp
//===----------------------------------------------------------------------===//

void ConcatRowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "joined");
}
Value ConcatRowsOp::getRowOperand() { return getX(); }
SmallVector<RowSegment> ConcatRowsOp::getRowSegments() {
  SmallVector<RowSegment> segments = getOneSegment(getX());
  segments.append(getOneSegment(getY()));
  return segments;
}
SmallVector<ScaleGroup> ConcatRowsOp::getScaleGroups() { return {}; }
// The elements of one segment follow those of the other in every lane.
bool ConcatRowsOp::allowsMaskedTail() { return false; }
bool ConcatRowsOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable() || &operand == &getYMutable();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> ConcatRowsOp::getTiedAxes() {
  auto pairs = tieRows(getX(), getOut());
  pairs.append(tieRows(getX(), getY()));
  return pairs;
}

LogicalResult ConcatRowsOp::verify() {
  for (auto [name, value] : {std::pair("x", getX()), std::pair("y", getY())})
    if (!hasRows(value.getType()))
      return emitOpError() << "concat_rows_c1: expected '" << name
                           << "' of rank >= 1 with a constant last extent "
                              "between 1 and "
                           << RecordAttr::kMaxRowExtent << ", got "
                           << value.getType();
  RankedTensorType x = getTensor(getX()), y = getTensor(getY());
  SmallVector<int64_t> shape = llvm::to_vector(x.getShape());
  shape.back() = y.getShape().back();
  if (y.getElementType() != x.getElementType() ||
      !compatible(y.getShape(), shape))
    return emitOpError() << "concat_rows_c2: expected 'y' of "
                         << x.getElementType() << " and shape "
                         << formatShape(shape) << ", got " << y;
  shape.back() += x.getShape().back();
  RankedTensorType out = getTensor(getOut());
  if (!out || !hasRows(out) || out.getElementType() != x.getElementType() ||
      !compatible(out.getShape(), shape))
    return emitOpError() << "concat_rows_c3: expected 'outs' of "
                         << x.getElementType() << " and shape "
                         << formatShape(shape) << ", with at most "
                         << RecordAttr::kMaxRowExtent << " columns, got "
                         << getOut().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// AddRowsOp
//===----------------------------------------------------------------------===//

void AddRowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "biased");
}
std::pair<int64_t, int64_t> AddRowsOp::getColumnRange() {
  return dsv4::getColumns(getColumns(), getX());
}
Value AddRowsOp::getRowOperand() { return getX(); }
SmallVector<RowSegment> AddRowsOp::getRowSegments() {
  auto [begin, count] = getColumnRange();
  int64_t bits = getElementBits(getTensor(getX()).getElementType());
  SmallVector<RowSegment> segments;
  if (begin)
    segments.push_back({begin, bits});
  segments.push_back({count, bits});
  return segments;
}
SmallVector<ScaleGroup> AddRowsOp::getScaleGroups() { return {}; }
// Columns of a row that the kernel computes are whole steps of its lanes.
bool AddRowsOp::allowsMaskedTail() { return !getColumns(); }
bool AddRowsOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> AddRowsOp::getTiedAxes() {
  auto pairs = tieRows(getX(), getOut());
  tieAxes(getX(), getPositions(), getTensor(getPositions()).getRank(), pairs);
  return pairs;
}

LogicalResult AddRowsOp::verify() {
  if (!hasRows(getX().getType()))
    return verifyRows(*this, getX(), getOut(), "add_rows_c1", "add_rows_c5");
  if (failed(verifyColumns(*this, getColumnsAttr(), getX(), "add_rows_c2")))
    return failure();
  int64_t count = getColumnRange().second;
  RankedTensorType bias = getTensor(getBias());
  if (!bias || bias.getRank() != 2 || bias.isDynamicDim(0) ||
      bias.getDimSize(0) < 1 || bias.getDimSize(1) != count)
    return emitOpError() << "add_rows_c3: expected 'bias' of shape [W, "
                         << count << "] with a constant W of at least 1, got "
                         << getBias().getType();
  if (failed(verifyPositions(*this, getX(), getPositions(), "add_rows_c4")))
    return failure();
  return verifyRows(*this, getX(), getOut(), "add_rows_c1", "add_rows_c5",
                    count);
}

//===----------------------------------------------------------------------===//
// ScaleWeightsOp
//===----------------------------------------------------------------------===//

/// The op whose rows the scales are of, if they stand for several elements of
/// one each, and their number; else null.
static RowLayoutOpInterface getScaledRows(ScaleWeightsOp op, int64_t &group) {
  auto scales = dyn_cast_if_present<OpResult>(op.getScales());
  auto producer = scales ? dyn_cast<RowLayoutOpInterface>(scales.getOwner())
                         : RowLayoutOpInterface();
  group = producer ? producer.getResultGroup(scales.getResultNumber()) : 1;
  return group == 1 ? RowLayoutOpInterface() : producer;
}

void ScaleWeightsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getProducts(), "folded");
}
Value ScaleWeightsOp::getRowOperand() {
  return getScales() ? getScales() : getWeights();
}
SmallVector<RowSegment> ScaleWeightsOp::getRowSegments() {
  int64_t group;
  if (RowLayoutOpInterface scaled = getScaledRows(*this, group))
    return scaled.getRowSegments();
  return getOneSegment(getWeights());
}
SmallVector<ScaleGroup> ScaleWeightsOp::getScaleGroups() {
  int64_t group;
  if (RowLayoutOpInterface scaled = getScaledRows(*this, group))
    return scaled.getScaleGroups();
  return {};
}
int64_t ScaleWeightsOp::getResultGroup(unsigned) {
  int64_t group;
  getScaledRows(*this, group);
  return group;
}
bool ScaleWeightsOp::allowsMaskedTail() {
  int64_t group;
  RowLayoutOpInterface scaled = getScaledRows(*this, group);
  return !scaled || scaled.allowsMaskedTail();
}
// Weights belong to rows of which the kernel has scales only.
bool ScaleWeightsOp::acceptsProducer(OpOperand &operand) {
  return operand.get() == getRowOperand() &&
         operand.getOperandNumber() < getOutMutable().getOperandNumber();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> ScaleWeightsOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t rank = getTensor(getWeights()).getRank();
  tieAxes(getWeights(), getOut(), rank, pairs);
  if (getScales())
    tieAxes(getWeights(), getScales(), rank, pairs);
  return pairs;
}

LogicalResult ScaleWeightsOp::verify() {
  if (!hasRows(getWeights().getType()))
    return emitOpError() << "scale_weights_c1: expected 'weights' of rank >= 1 "
                            "with a constant last extent between 1 and "
                         << RecordAttr::kMaxRowExtent << ", got "
                         << getWeights().getType();
  ArrayRef<int64_t> shape = getTensor(getWeights()).getShape();
  auto hasShape = [&](Value value) {
    RankedTensorType type = getTensor(value);
    return type && compatible(type.getShape(), shape) &&
           !type.isDynamicDim(type.getRank() - 1);
  };
  if (getScales() && !hasShape(getScales()))
    return emitOpError() << "scale_weights_c2: expected 'scales' of shape "
                         << formatShape(shape) << ", got "
                         << getScales().getType();
  if (!hasShape(getOut()))
    return emitOpError() << "scale_weights_c3: expected 'outs' of shape "
                         << formatShape(shape) << ", got "
                         << getOut().getType();
  ArrayRef<float> constants = getConstants().value_or(ArrayRef<float>());
  for (float constant : constants)
    if (!std::isfinite(constant))
      return emitOpError() << "scale_weights_c4: expected finite 'constants', "
                              "got "
                           << getConstantsAttr();
  if (!getScales() && constants.empty())
    return emitOpError()
           << "scale_weights_c5: expected 'scales' or 'constants', "
              "which the weights are multiplied by";
  return success();
}
