//===- RowOps.cpp - rms_norm, rope, hadamard ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

#define GET_OP_CLASSES
#include "DSV4RowOps.cpp.inc"

//===----------------------------------------------------------------------===//
// RMSNormOp
//===----------------------------------------------------------------------===//

void RMSNormOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "normed");
}
Value RMSNormOp::getRowOperand() { return getX(); }
SmallVector<RowSegment> RMSNormOp::getRowSegments() {
  return getOneSegment(getX());
}
SmallVector<ScaleGroup> RMSNormOp::getScaleGroups() { return {}; }
bool RMSNormOp::allowsMaskedTail() { return true; }
bool RMSNormOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> RMSNormOp::getTiedAxes() {
  return tieRows(getX(), getOut());
}

LogicalResult RMSNormOp::verify() {
  if (failed(verifyRows(*this, getX(), getOut(), "rms_norm_c1", "rms_norm_c3")))
    return failure();
  if (Value weight = getWeight()) {
    auto type = dyn_cast<RankedTensorType>(weight.getType());
    if (!type ||
        type.getShape() != ArrayRef<int64_t>(dsv4::getRowExtent(getX())))
      return emitOpError() << "rms_norm_c2: expected 'weight' of shape ["
                           << dsv4::getRowExtent(getX()) << "], got "
                           << weight.getType();
  }
  if (!getEps().isFinite() || getEps().isNegative())
    return emitOpError() << "rms_norm_c4: expected a finite 'eps' >= 0, got "
                         << getEpsAttr();
  return success();
}

//===----------------------------------------------------------------------===//
// RopeOp
//===----------------------------------------------------------------------===//

void RopeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "rotated");
}
Value RopeOp::getRowOperand() { return getX(); }
SmallVector<RowSegment> RopeOp::getRowSegments() {
  int64_t extent = dsv4::getRowExtent(getX());
  int64_t rotated = dsv4::getRowExtent(getTable());
  int64_t bits = getElementBits(getElementTypeOrSelf(getX().getType()));
  SmallVector<RowSegment> segments;
  if (extent != rotated)
    segments.push_back({extent - rotated, bits});
  // Lanes hold the same fragment of each segment, so both elements of a pair.
  if (getNeox())
    segments.append(2, {rotated / 2, bits});
  else
    segments.push_back({rotated, bits});
  return segments;
}
SmallVector<ScaleGroup> RopeOp::getScaleGroups() {
  if (getNeox())
    return {};
  return {{2, 1, /*inVector=*/true}};
}
bool RopeOp::allowsMaskedTail() { return false; }
bool RopeOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> RopeOp::getTiedAxes() {
  auto pairs = tieRows(getX(), getOut());
  tieAxes(getX(), getPositions(),
          cast<ShapedType>(getPositions().getType()).getRank(), pairs);
  return pairs;
}

LogicalResult RopeOp::verify() {
  if (failed(verifyRows(*this, getX(), getOut(), "rope_c1", "rope_c4")))
    return failure();
  auto table = dyn_cast<RankedTensorType>(getTable().getType());
  int64_t extent = dsv4::getRowExtent(getX());
  if (!table || table.getRank() != 2 || table.isDynamicDim(1) ||
      table.getDimSize(1) < 2 || table.getDimSize(1) % 2 != 0 ||
      table.getDimSize(1) > extent)
    return emitOpError() << "rope_c2: expected 'table' of shape [positions, D] "
                            "with an even D of at most "
                         << extent << ", got " << getTable().getType();
  if (failed(verifyPositions(*this, getX(), getPositions(), "rope_c3")))
    return failure();
  if (getInterleaved() && getNeox())
    return emitOpError() << "rope_c5: an 'interleaved' table is for pairs of "
                            "neighbours, not for the halves of 'neox': split "
                            "the table into cosines and sines";
  return success();
}

//===----------------------------------------------------------------------===//
// HadamardOp
//===----------------------------------------------------------------------===//

void HadamardOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "transformed");
}
Value HadamardOp::getRowOperand() { return getX(); }
SmallVector<RowSegment> HadamardOp::getRowSegments() {
  return getOneSegment(getX());
}
SmallVector<ScaleGroup> HadamardOp::getScaleGroups() { return {}; }
bool HadamardOp::allowsMaskedTail() { return false; }
bool HadamardOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable();
}
SmallVector<std::pair<TensorAxis, TensorAxis>> HadamardOp::getTiedAxes() {
  return tieRows(getX(), getOut());
}

LogicalResult HadamardOp::verify() {
  if (failed(verifyRows(*this, getX(), getOut(), "hadamard_c1", "hadamard_c2")))
    return failure();
  if (!llvm::isPowerOf2_64(dsv4::getRowExtent(getX())))
    return emitOpError() << "hadamard_c1: expected a last extent that is a "
                            "power of two, got "
                         << getX().getType();
  if (!getScale().isFinite())
    return emitOpError() << "hadamard_c3: expected a finite 'scale', got "
                         << getScaleAttr();
  return success();
}
