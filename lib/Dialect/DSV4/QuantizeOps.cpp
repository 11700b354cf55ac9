//===- QuantizeOps.cpp - dequantize and quantize -------------------------===//
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
#include "DSV4QuantizeOps.cpp.inc"

//===----------------------------------------------------------------------===//
// DequantizeOp
//===----------------------------------------------------------------------===//

void DequantizeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getValues(), "values");
}

Value DequantizeOp::getRowOperand() { return getData(); }

SmallVector<RowSegment> DequantizeOp::getRowSegments() {
  return {{cast<ShapedType>(getData().getType()).getShape().back(),
           getElementBits(getFormat().getElement())}};
}

SmallVector<ScaleGroup> DequantizeOp::getScaleGroups() {
  SmallVector<ScaleGroup> groups;
  for (ScaleAttr scale : getFormat().getScales())
    if (scale.getGroup() > 0)
      groups.push_back({scale.getGroup(), 1});
  return groups;
}

// A group of scales is of whole vectors of one lane, or of whole steps.
bool DequantizeOp::allowsMaskedTail() { return getScaleGroups().empty(); }
bool DequantizeOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getDataMutable();
}
SmallVector<Access> DequantizeOp::getDemandedAccesses(OpOperand &,
                                                      Access access) {
  return {access};
}
SmallVector<Access> DequantizeOp::getProvidedAccesses(OpResult) {
  // Two elements of 4 bits are a byte.
  int64_t unit = getElementBits(getFormat().getElement()) < 8 ? 2 : 1;
  // Scales that are not a row are not read column by column.
  if (getScaleLayout() != ScaleLayout::RowMajor)
    return {Access::row()};
  return {Access::row(), Access::columns(unit)};
}

SmallVector<std::pair<TensorAxis, TensorAxis>> DequantizeOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t rank = cast<ShapedType>(getData().getType()).getRank();
  tieAxes(getData(), getOut(), rank, pairs);
  for (auto [i, level, scale] :
       llvm::enumerate(getFormat().getScales(), getScales()))
    if (level.getGroup() != FieldAttr::kPerTensor &&
        getLayoutOfScales(i) == ScaleLayout::RowMajor)
      tieAxes(getData(), scale, rank - 1, pairs);
  return pairs;
}

SmallVector<AxisBound> DequantizeOp::getAxisBounds() {
  SmallVector<AxisBound> bounds;
  for (auto [i, scale] : llvm::enumerate(getScales()))
    addScaleBound(getLayoutOfScales(i), scale, getData(), bounds);
  return bounds;
}

LogicalResult DequantizeOp::verify() {
  auto data = cast<RankedTensorType>(getData().getType());
  FormatAttr format = getFormat();
  if (data.getRank() < 1 || data.getElementType() != format.getElement() ||
      ShapedType::isDynamic(data.getShape().back()) ||
      data.getShape().back() < 1 ||
      data.getShape().back() > RecordAttr::kMaxRowExtent)
    return emitOpError() << "dequantize_c1: expected 'data' of "
                         << format.getElement()
                         << " with a constant last extent between 1 and "
                         << RecordAttr::kMaxRowExtent << ", got " << data;
  ArrayRef<ScaleAttr> levels = format.getScales();
  if (getScales().size() != levels.size())
    return emitOpError() << "dequantize_c2: expected " << levels.size()
                         << " scale operands, one per level of the format, got "
                         << getScales().size();
  if (failed(verifyScaleLayout(*this, getScaleLayout(), format, getData(),
                               "data", "dequantize_c6")))
    return failure();
  for (auto [i, level] : llvm::enumerate(levels)) {
    auto type = cast<RankedTensorType>(getScales()[i].getType());
    auto shape = getScaleShape(data.getShape(), level);
    if (failed(shape))
      return emitOpError() << "dequantize_c3: the group " << level.getGroup()
                           << " of scale operand " << i
                           << " does not divide the last extent "
                           << data.getShape().back() << " of 'data'";
    auto [expected, element] =
        getScaleTensor(getLayoutOfScales(i), *shape, level.getElement());
    if (type.getElementType() != element)
      return emitOpError() << "dequantize_c2: expected scale operand " << i
                           << " of " << element << ", got " << type;
    bool tied = level.getGroup() != FieldAttr::kPerTensor &&
                getLayoutOfScales(i) == ScaleLayout::RowMajor;
    if (!fitsShape(type, expected, tied ? data.getRank() - 1 : 0))
      return emitOpError() << "dequantize_c3: expected scale operand " << i
                           << " of shape " << formatShape(expected) << ", got "
                           << type;
    if (failed(verifyScaleBlocks(*this, getLayoutOfScales(i), getScales()[i],
                                 "dequantize_c6")))
      return failure();
  }
  auto out = cast<ShapedType>(getOut().getType());
  if (!out.hasRank() || !compatible(out.getShape(), data.getShape()) ||
      ShapedType::isDynamic(out.getShape().back()))
    return emitOpError() << "dequantize_c4: expected 'outs' of the shape of "
                            "'data', got "
                         << out;
  if (format.getElement().getIntOrFloatBitWidth() == 4 &&
      data.getShape().back() % 2 != 0)
    return emitOpError() << "dequantize_c5: expected 4-bit 'data' with an even "
                            "last extent, got "
                         << data;
  return success();
}

//===----------------------------------------------------------------------===//
// QuantizeOp
//===----------------------------------------------------------------------===//

void QuantizeOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  for (auto [i, result] : llvm::enumerate(getResults()))
    setName(result, i == 0 ? "payload" : "scales");
}

std::pair<int64_t, int64_t> QuantizeOp::getColumnRange() {
  return dsv4::getColumns(getColumns(), getX());
}

int64_t QuantizeOp::getResultGroup(unsigned index) {
  if (index == 0)
    return 1;
  // Results follow the levels; only the last can be left out, per tensor.
  int64_t group = getFormat().getScales()[index - 1].getGroup();
  return group > 0 ? group : getColumnRange().second;
}

ScaleLayout QuantizeOp::getResultLayout(unsigned index) {
  return index == 1 ? getScaleLayout() : ScaleLayout::RowMajor;
}

SmallVector<Access> QuantizeOp::getProvidedAccesses(OpResult result) {
  // Scales in another order are for memory alone.
  if (getResultLayout(result.getResultNumber()) != ScaleLayout::RowMajor)
    return {};
  return {Access::row()};
}

Value QuantizeOp::getRowOperand() { return getX(); }

SmallVector<RowSegment> QuantizeOp::getRowSegments() {
  auto [begin, count] = getColumnRange();
  SmallVector<RowSegment> segments;
  if (begin)
    segments.push_back({begin, 16});
  segments.push_back({count, getElementBits(getFormat().getElement())});
  return segments;
}

SmallVector<ScaleGroup> QuantizeOp::getScaleGroups() {
  SmallVector<ScaleGroup> groups;
  for (ScaleAttr scale : getFormat().getScales())
    if (scale.getGroup() > 0)
      groups.push_back({scale.getGroup(), 1});
  return groups;
}

bool QuantizeOp::acceptsProducer(OpOperand &operand) {
  return &operand == &getXMutable();
}

SmallVector<std::pair<TensorAxis, TensorAxis>> QuantizeOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  int64_t rank = cast<ShapedType>(getX().getType()).getRank();
  for (auto [i, out] : llvm::enumerate(getOuts()))
    if (getResultLayout(i) == ScaleLayout::RowMajor)
      tieAxes(getX(), out, rank - 1, pairs);
  return pairs;
}

SmallVector<AxisBound> QuantizeOp::getAxisBounds() {
  SmallVector<AxisBound> bounds;
  for (auto [i, out] : llvm::enumerate(getOuts()))
    addScaleBound(getResultLayout(i), out, getX(), bounds);
  return bounds;
}

/// Clause quantize_c3.
static LogicalResult verifyFormat(QuantizeOp op, int64_t count) {
  FormatAttr format = op.getFormat();
  Type element = format.getElement();
  auto refuse = [&](const Twine &why) {
    return op.emitOpError() << "quantize_c3: " << why << ", got " << format;
  };
  if (!isa<Float8E4M3FNType, Float4E2M1FNType>(element))
    return refuse("expected f8E4M3FN or f4E2M1FN elements");
  if (format.getHighFirst())
    return refuse("expected the even element of a pair in the low nibble");
  ArrayRef<ScaleAttr> levels = format.getScales();
  if (levels.empty()) {
    if (isa<Float8E4M3FNType>(element))
      return success();
    return refuse("expected scales of f4E2M1FN elements");
  }
  if (levels.size() > 2)
    return refuse("expected at most two levels of scales");
  Type scaleType = levels[0].getElement();
  if (op.hasGivenScaleAlone()) {
    if (isa<Float8E4M3FNType>(element) && scaleType.isF32())
      return success();
    return refuse("expected f8E4M3FN elements and a scale of f32 where the "
                  "only level is per tensor");
  }
  if (levels[0].getGroup() == FieldAttr::kPerTensor ||
      !(scaleType.isF32() ||
        isa<Float8E8M0FNUType, Float8E4M3FNType>(scaleType)))
    return refuse("expected first scales of f8E8M0FNU, f8E4M3FN or f32 per "
                  "group or per row");
  if (levels.size() == 2 &&
      (!levels[1].getElement().isF32() || levels[1].getGroup() > 0 ||
       levels[0].getGroup() <= 0 || !isa<Float8E4M3FNType>(scaleType)))
    return refuse("expected second scales of f32, per row or per tensor, over "
                  "first ones of f8E4M3FN per group");
  if (levels[0].getGroup() > 0 && count % levels[0].getGroup() != 0)
    return refuse("groups of " + Twine(levels[0].getGroup()) +
                  " do not divide the " + Twine(count) + " columns");
  if (element.getIntOrFloatBitWidth() == 4 && count % 2 != 0)
    return refuse("expected an even number of 4-bit columns");
  return success();
}

/// Clauses quantize_c5 and c6 of an op without computed scales.
static LogicalResult verifyGivenScaleAlone(QuantizeOp op) {
  QuantizerAttr recipe = op.getRecipeAttr();
  auto none = FloatAttr::get(Float32Type::get(op.getContext()), 0.0);
  auto plain = QuantizerAttr::get(op.getContext(), none, FloorKind::Amax,
                                  Quotient::Divide, ScaleRounding::Nearest,
                                  recipe.getPayload(), Ties::Even,
                                  /*drop_negative_zero=*/false);
  if (recipe != plain)
    return op.emitOpError()
           << "quantize_c5: no scale is computed where the only level is per "
              "tensor: expected "
           << plain << ", got " << recipe;
  if (op.getInverse() && recipe.getPayload() != Quotient::Divide)
    return op.emitOpError()
           << "quantize_c6: values are multiplied by an 'inverse' that is "
              "given: expected 'payload = divide', the default, got "
           << recipe;
  return success();
}

/// Clauses quantize_c5 and c6.
static LogicalResult verifyRecipe(QuantizeOp op) {
  ArrayRef<ScaleAttr> levels = op.getFormat().getScales();
  QuantizerAttr recipe = op.getRecipeAttr();
  if (levels.empty() != !recipe)
    return op.emitOpError()
           << "quantize_c5: "
           << (recipe ? "a format without scales has no 'recipe'"
                      : "expected a 'recipe' (#dsv4.quantizer) for the scales "
                        "of the format");
  if (recipe) {
    std::string misfit = recipe.explainMisfit(op.getFormat().getElement(),
                                              levels.front().getElement());
    if (!misfit.empty())
      return op.emitOpError() << "quantize_c5: " << misfit;
  }
  if (op.hasGivenScaleAlone() && failed(verifyGivenScaleAlone(op)))
    return failure();
  bool needed = recipe && levels.back().getGroup() == FieldAttr::kPerTensor;
  if (needed != static_cast<bool>(op.getGiven()))
    return op.emitOpError()
           << "quantize_c6: "
           << (needed ? "expected 'given', the scale per tensor"
                      : "the format has no level per tensor");
  if (op.getInverse() && !op.hasGivenScaleAlone())
    return op.emitOpError()
           << "quantize_c6: 'inverse' is for a format whose only level is per "
              "tensor, got "
           << op.getFormat();
  if (op.getGiven() &&
      !fitsShape(cast<ShapedType>(op.getGiven().getType()), {1}, /*tied=*/0))
    return op.emitOpError()
           << "quantize_c6: expected 'given' of shape [1], got "
           << op.getGiven().getType();
  return success();
}

/// The leading axes of destination `i` that are tied to those of 'x'.
static size_t getTiedCount(QuantizeOp op, unsigned i) {
  if (op.getResultLayout(i) != ScaleLayout::RowMajor)
    return 0;
  return cast<ShapedType>(op.getX().getType()).getRank() - 1;
}

/// Clause quantize_c4.
static LogicalResult verifyDestinations(QuantizeOp op, int64_t count) {
  SmallVector<int64_t> shape =
      llvm::to_vector(cast<RankedTensorType>(op.getX().getType()).getShape());
  shape.back() = count;
  SmallVector<std::pair<SmallVector<int64_t>, Type>> expected = {
      {shape, op.getFormat().getElement()}};
  for (ScaleAttr level : op.getFormat().getScales())
    if (level.getGroup() != FieldAttr::kPerTensor) {
      auto scales = std::pair(*getScaleShape(shape, level), level.getElement());
      if (expected.size() == 1)
        scales =
            getScaleTensor(op.getScaleLayout(), scales.first, scales.second);
      expected.push_back(std::move(scales));
    }
  if (op.getOuts().size() != expected.size())
    return op.emitOpError()
           << "quantize_c4: expected " << expected.size()
           << " destinations, the payload and a tensor of scales "
              "for every level that is not per tensor, got "
           << op.getOuts().size();
  for (auto [i, want, out] : llvm::enumerate(expected, op.getOuts())) {
    auto type = cast<RankedTensorType>(out.getType());
    if (type.getElementType() != want.second ||
        !fitsShape(type, want.first, getTiedCount(op, i)))
      return op.emitOpError() << "quantize_c4: expected destination " << i
                              << " of " << want.second << " and shape "
                              << formatShape(want.first) << ", got " << type;
    if (failed(
            verifyScaleBlocks(op, op.getResultLayout(i), out, "quantize_c7")))
      return failure();
  }
  return success();
}

LogicalResult QuantizeOp::verify() {
  if (!hasRows(getX().getType()))
    return emitOpError() << "quantize_c1: expected 'x' of rank >= 1 with a "
                            "constant last extent between 1 and "
                         << RecordAttr::kMaxRowExtent << ", got "
                         << getX().getType();
  if (failed(verifyColumns(*this, getColumnsAttr(), getX(), "quantize_c2")))
    return failure();
  int64_t count = getColumnRange().second;
  return failure(failed(verifyFormat(*this, count)) ||
                 failed(verifyScaleLayout(*this, getScaleLayout(), getFormat(),
                                          getX(), "x", "quantize_c7")) ||
                 failed(verifyDestinations(*this, count)) ||
                 failed(verifyRecipe(*this)));
}
