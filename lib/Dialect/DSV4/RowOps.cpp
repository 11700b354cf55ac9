//===- RowOps.cpp - quantize, rms_norm, rope, hadamard --------------------===//
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

static int64_t getRowExtent(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
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
    if (!type || type.getShape() != ArrayRef<int64_t>(::getRowExtent(getX())))
      return emitOpError() << "rms_norm_c2: expected 'weight' of shape ["
                           << ::getRowExtent(getX()) << "], got "
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
  int64_t extent = ::getRowExtent(getX());
  int64_t rotated = ::getRowExtent(getTable());
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
  int64_t extent = ::getRowExtent(getX());
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
  if (!llvm::isPowerOf2_64(::getRowExtent(getX())))
    return emitOpError() << "hadamard_c1: expected a last extent that is a "
                            "power of two, got "
                         << getX().getType();
  if (!getScale().isFinite())
    return emitOpError() << "hadamard_c3: expected a finite 'scale', got "
                         << getScaleAttr();
  return success();
}

//===----------------------------------------------------------------------===//
// PagedAppendOp
//===----------------------------------------------------------------------===//

SmallVector<FieldAttr> PagedAppendOp::getWrittenFields() {
  SmallVector<FieldAttr> fields;
  for (FieldAttr field : getCache().getType().getRecord().getFields())
    if (field.getGroup() != FieldAttr::kPerTensor)
      fields.push_back(field);
  return fields;
}

int64_t PagedAppendOp::getColumn(unsigned index) {
  auto columns = getColumns();
  return columns ? (*columns)[index] : 0;
}

Value PagedAppendOp::getRowOperand() {
  for (Value field : getFields())
    if (cast<RankedTensorType>(field.getType()).getRank() == 2)
      return field;
  return getFields().front();
}

SmallVector<RowSegment> PagedAppendOp::getRowSegments() {
  SmallVector<RowSegment> segments;
  for (auto [i, field] : llvm::enumerate(getWrittenFields())) {
    if (!field.isData())
      continue;
    if (int64_t column = getColumn(i))
      segments.push_back({column, 16});
    segments.push_back({field.getExtent(), getElementBits(field.getElement())});
  }
  return segments;
}

SmallVector<ScaleGroup> PagedAppendOp::getScaleGroups() {
  SmallVector<ScaleGroup> groups;
  for (FieldAttr field : getWrittenFields())
    if (field.isScale() && field.getGroup() > 0)
      groups.push_back({field.getGroup(), field.getInterleave()});
  return groups;
}

bool PagedAppendOp::acceptsProducer(OpOperand &operand) {
  return llvm::is_contained(getFields(), operand.get());
}

SmallVector<std::pair<TensorAxis, TensorAxis>> PagedAppendOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  for (Value field : getFields())
    tieAxes(getIndices(), field, 1, pairs);
  if (getRequests())
    tieAxes(getIndices(), getRequests(), 1, pairs);
  if (getLengths() && hasLengthsPerToken())
    tieAxes(getIndices(), getLengths(), 1, pairs);
  // Without 'requests' every token is a request.
  if (getPageTable() && !getRequests())
    tieAxes(getIndices(), getPageTable(), 1, pairs);
  else if (getPageTable() && getLengths() && !hasLengthsPerToken())
    tieAxes(getLengths(), getPageTable(), 1, pairs);
  return pairs;
}

/// Clause paged_append_c2.
static LogicalResult verifyFields(PagedAppendOp op) {
  SmallVector<FieldAttr> fields = op.getWrittenFields();
  if (op.getFields().size() != fields.size())
    return op.emitOpError()
           << "paged_append_c2: expected " << fields.size()
           << " field operands, one for every field of the record that is not "
              "per tensor, got "
           << op.getFields().size();
  auto tokens = cast<RankedTensorType>(op.getIndices().getType()).getShape();
  for (auto [i, field, operand] : llvm::enumerate(fields, op.getFields())) {
    auto type = cast<RankedTensorType>(operand.getType());
    int64_t column = op.getColumn(i);
    bool scalar = type.getRank() == 1 && column == 0 &&
                  (field.getGroup() == FieldAttr::kPerRow ||
                   (field.isMetadata() && field.getExtent() == 1));
    if (type.getElementType() != field.getElement() || type.getRank() < 1 ||
        !compatible(type.getShape().take_front(), tokens) ||
        !(scalar || (type.getRank() == 2 && hasRows(type) &&
                     column <= type.getDimSize(1) - field.getExtent())))
      return op.emitOpError()
             << "paged_append_c2: expected field operand " << i << " ('"
             << field.getName() << "') of " << field.getElement()
             << " and shape [tokens, n], with " << field.getExtent()
             << " columns from " << column << " on, got " << type;
    if (getElementBits(field.getElement()) == 4 &&
        (column % 2 != 0 || type.getDimSize(1) % 2 != 0))
      return op.emitOpError()
             << "paged_append_c2: expected field operand " << i << " ('"
             << field.getName()
             << "') of 4-bit elements to have an even last extent and first "
                "column, got "
             << type << " from column " << column << " on";
  }
  return success();
}

/// Clause paged_append_c6.
static LogicalResult verifyWidths(PagedAppendOp op) {
  if (op.getColumns())
    return success();
  for (auto [i, field, operand] :
       llvm::enumerate(op.getWrittenFields(), op.getFields())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getRank() == 2 && type.getDimSize(1) > field.getExtent())
      return op.emitOpError()
             << "paged_append_c6: field operand " << i << " ('"
             << field.getName() << "') has " << type.getDimSize(1)
             << " columns and its field " << field.getExtent()
             << ": list in 'columns' the first column of every field operand "
                "that is stored";
  }
  return success();
}

/// Clause paged_append_c8.
static LogicalResult verifyIndptr(PagedAppendOp op) {
  Value indptr = op.getIndptr();
  if (!indptr)
    return success();
  auto type = dyn_cast<RankedTensorType>(indptr.getType());
  if (!type || type.getRank() != 1)
    return op.emitOpError()
           << "paged_append_c8: expected 'indptr' of shape [requests + 1], got "
           << indptr.getType();
  if (!op.getPageTable() || !op.getRequests() || op.getRing())
    return op.emitOpError() << "paged_append_c8: 'indptr' divides up the pages "
                               "of requests: expected 'pages' and 'requests' "
                               "and no 'ring' with it";
  return success();
}

/// Clauses paged_append_c3 and c4: operands per token and per request.
static LogicalResult verifyRequests(PagedAppendOp op, int64_t tokens) {
  auto hasShape = [](Value value, ArrayRef<int64_t> shape) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && compatible(type.getShape(), shape);
  };
  Value lengths = op.getLengths(), requests = op.getRequests();
  if (requests && !hasShape(requests, {tokens}))
    return op.emitOpError() << "paged_append_c4: expected 'requests' of the "
                               "shape of 'indices', got "
                            << requests.getType();
  if (!lengths && op.getLengthsPer())
    return op.emitOpError()
           << "paged_append_c3: 'per "
           << stringifyLengthsPer(*op.getLengthsPer()) << "' needs 'lengths'";
  // Without 'requests' every token is a request.
  int64_t count = requests ? ShapedType::kDynamic : tokens;
  bool perToken = op.hasLengthsPerToken();
  SmallVector<int64_t> shape = {perToken ? tokens : count};
  if (lengths && !hasShape(lengths, shape))
    return op.emitOpError()
           << "paged_append_c3: expected 'lengths' of shape "
           << formatShape(shape) << ", one per "
           << (perToken ? "token" : "request") << ", got " << lengths.getType();
  if (lengths && !(perToken && requests) && ShapedType::isDynamic(count))
    count = cast<RankedTensorType>(lengths.getType()).getDimSize(0);
  shape = {count, ShapedType::kDynamic};
  if (op.getIndptr())
    shape = {ShapedType::kDynamic};
  if (op.getPageTable() && !hasShape(op.getPageTable(), shape)) {
    InFlightDiagnostic error = op.emitOpError()
                               << "paged_append_c4: expected 'pages' of shape "
                               << formatShape(shape) << ", got "
                               << op.getPageTable().getType();
    if (lengths && !perToken && requests)
      error << "; lengths of tokens are 'lengths per token'";
    return error;
  }
  return success();
}

LogicalResult PagedAppendOp::verify() {
  auto indices = dyn_cast<RankedTensorType>(getIndices().getType());
  if (!indices || indices.getRank() != 1)
    return emitOpError()
           << "paged_append_c1: expected 'indices' of rank 1, got "
           << getIndices().getType();
  if (auto columns = getColumns())
    if (columns->size() != getFields().size() ||
        llvm::any_of(*columns, [](int64_t column) { return column < 0; }))
      return emitOpError() << "paged_append_c5: expected one column >= 0 for "
                              "each of the "
                           << getFields().size() << " field operands, got "
                           << getColumnsAttr();
  if (failed(verifyFields(*this)) || failed(verifyWidths(*this)))
    return failure();
  int64_t page = getCache().getType().getPage();
  if (auto ring = getRing()) {
    int64_t length = *ring;
    if (length < 1 || length > INT32_MAX ||
        (length % page != 0 && page % length != 0))
      return emitOpError()
             << "paged_append_c3: expected the length of a ring to be below "
                "2^31 and a multiple or a divisor of the "
             << page << " entries of a page, got " << length;
    if (!getLengths())
      return emitOpError()
             << "paged_append_c3: expected 'lengths' with a 'ring'";
  } else if (getLengths() || (getRequests() && !getPageTable())) {
    return emitOpError() << "paged_append_c3: 'lengths' describe a ring, and "
                            "'requests' a ring or 'pages': add 'ring' or "
                            "remove them";
  } else if (getPageTable() && !getUnique()) {
    return emitOpError()
           << "paged_append_c7: expected 'unique' with 'pages' and no 'ring': "
              "tokens of a launch must have different positions";
  }
  if (getInBytes() && (getRing() || getPageTable() || !getUnique()))
    return emitOpError()
           << "paged_append_c9: expected 'unique' with indices 'in_bytes', and "
              "no 'pages' and no 'ring', which take positions";
  if (failed(verifyIndptr(*this)))
    return failure();
  return verifyRequests(*this, indices.getDimSize(0));
}
