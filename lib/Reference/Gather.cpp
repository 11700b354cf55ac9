//===- Gather.cpp - paged_gather and dequantize ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include <cmath>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {

/// Scales, each for `group` elements of a row in turn.
struct Level {
  Elements scales;
  int64_t group;
};

} // namespace

/// Writes element `at` of a bf16, f16 or f32 result: `element * scale_0 * ...`,
/// each product rounded to fp32.
static void storeScaled(double element, ArrayRef<float> scales, Format format,
                        char *result, int64_t at) {
  if (format == Format::BF16) {
    uint16_t code = scaledToBF16(element, scales);
    std::memcpy(result + at * sizeof(code), &code, sizeof(code));
    return;
  }
  float value = float(element);
  for (float scale : scales)
    value = roundToF32(double(value) * double(scale));
  if (format == Format::F16) {
    auto code = uint16_t(encode(format, value));
    std::memcpy(result + at * sizeof(code), &code, sizeof(code));
    return;
  }
  uint32_t code = 0x7FFFFFFF;
  if (!std::isnan(value))
    std::memcpy(&code, &value, sizeof(code));
  std::memcpy(result + at * sizeof(code), &code, sizeof(code));
}

/// Writes `count` elements, the first at `begin` of `result`. Elements that are
/// neither scaled nor converted keep their bits, those of a NaN too.
static void storeRow(const Elements &data, ArrayRef<Level> levels,
                     int64_t count, Format format, char *result,
                     int64_t begin) {
  if (levels.empty() && data.format == format) {
    int64_t bytes = bitWidth(format) / 8;
    for (int64_t i = 0; i < count; ++i) {
      uint32_t code = data.code(i);
      std::memcpy(result + (begin + i) * bytes, &code, bytes);
    }
    return;
  }
  SmallVector<float> scales(levels.size());
  for (int64_t i = 0; i < count; ++i) {
    for (auto [scale, level] : llvm::zip(scales, levels))
      scale = float(level.scales.value(i / level.group));
    storeScaled(data.value(i), scales, format, result, begin + i);
  }
}

//===----------------------------------------------------------------------===//
// paged_gather
//===----------------------------------------------------------------------===//

std::optional<Interpreter::Entry>
Interpreter::findEntry(PagedGatherOp op, int64_t token, int64_t index) const {
  if (index < 0)
    return std::nullopt;
  if (Value lengths = op.getLengths()) {
    int64_t at = op.hasLengthsPerRequest()
                     ? values.at(op.getRequests()).index(token)
                     : token;
    const Tensor &tensor = values.at(lengths);
    if (at < 0 || at >= tensor.size() || index >= tensor.length(at))
      return std::nullopt;
  }
  auto cache = cast<BlockArgument>(op.getCache());
  int64_t pageSize = op.getCache().getType().getPage();
  int64_t page = index / pageSize;
  if (Value pageTable = op.getPageTable()) {
    const Tensor &table = values.at(pageTable);
    int64_t row = 0, rows = 1;
    if (table.shape.size() == 2) {
      rows = table.shape.front();
      row = op.getRequests() ? values.at(op.getRequests()).index(token) : token;
    }
    int64_t width = table.shape.back();
    if (row < 0 || row >= rows || page >= width)
      return std::nullopt;
    page = table.index(row * width + page);
  }
  if (page < 0 || page >= getPages(cache))
    return std::nullopt;
  return Entry{page, index % pageSize};
}

void Interpreter::gatherRow(PagedGatherOp op, Entry entry, char *row) const {
  auto cache = cast<BlockArgument>(op.getCache());
  RecordAttr record = op.getCache().getType().getRecord();
  Type result = cast<ShapedType>(op.getOut().getType()).getElementType();
  int64_t begin = 0;
  for (FieldAttr field : record.getFields()) {
    if (!field.isData())
      continue;
    Elements data = locate(cache, field, entry);
    SmallVector<Level> levels;
    for (FieldAttr level : record.getScalesOf(field.getName()))
      levels.push_back({locate(cache, level, entry), level.getGroup() > 0
                                                         ? level.getGroup()
                                                         : field.getExtent()});
    storeRow(data, levels, field.getExtent(), *reference::getFormat(result),
             row, begin);
    begin += field.getExtent();
  }
}

rt::Status Interpreter::gather(PagedGatherOp op) {
  const Tensor indices = values.at(op.getIndices());
  bool perToken = indices.shape.size() == 2;
  int64_t tokens = perToken ? indices.shape.front() : 1;
  int64_t perRow = indices.shape.back();

  SmallVector<int64_t> rowShape = indices.shape;
  rowShape.push_back(op.getCache().getType().getRecord().getRowExtent());
  SmallVector<int64_t> tokenShape;
  if (perToken)
    tokenShape.push_back(tokens);
  SmallVector<int64_t> lengthShape = tokenShape;
  if (op.hasLengthsPerRequest())
    lengthShape = {values.at(op.getPageTable()).shape.front()};
  const std::tuple<StringRef, Value, ArrayRef<int64_t>> operands[] = {
      {"outs", op.getOut(), rowShape},
      {"mask", op.getMask(), indices.shape},
      {"lengths", op.getLengths(), lengthShape},
      {"requests", op.getRequests(), tokenShape}};
  for (auto [name, value, shape] : operands)
    if (value)
      if (rt::Status status = checkShape(op, name, value, shape); !status)
        return status;

  // Both are zeros, and false, until an entry is found.
  std::vector<char> &rows = *makeResult(op.getRows(), rowShape).owned;
  std::vector<char> *valid = nullptr;
  if (op.getMask())
    valid = makeResult(op.getValid(), indices.shape).owned.get();
  if (indices.size() == 0)
    return {};
  int64_t rowBytes = rows.size() / indices.size();
  for (int64_t token = 0; token < tokens; ++token)
    for (int64_t j = 0; j < perRow; ++j) {
      int64_t at = token * perRow + j;
      auto entry = findEntry(op, token, indices.index(at));
      if (!entry)
        continue;
      gatherRow(op, *entry, rows.data() + at * rowBytes);
      if (valid)
        (*valid)[at] = 1;
    }
  return {};
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

rt::Status Interpreter::dequantize(DequantizeOp op) {
  const Tensor data = values.at(op.getData());
  if (rt::Status status = checkShape(op, "outs", op.getOut(), data.shape);
      !status)
    return status;
  int64_t extent = data.shape.back();
  SmallVector<Level> levels;
  for (auto [level, scales] :
       llvm::zip(op.getFormat().getScales(), op.getScales())) {
    SmallVector<int64_t> shape(ArrayRef<int64_t>(data.shape).drop_back());
    int64_t group = level.getGroup();
    if (group == FieldAttr::kPerTensor) {
      shape.assign({1});
      group = data.size();
    } else if (group == FieldAttr::kPerRow) {
      group = extent;
    } else {
      shape.push_back(extent / group);
    }
    if (rt::Status status = checkShape(op, "scales", scales, shape); !status)
      return status;
    const Tensor &tensor = values.at(scales);
    levels.push_back({tensor.elements(), group});
  }

  Tensor &result = makeResult(op.getValues(), data.shape);
  Elements elements = data.elements(op.getFormat().getHighFirst());
  // Groups divide rows, so all rows together are one long row.
  storeRow(elements, levels, data.size(), *reference::getFormat(result.element),
           result.owned->data(), 0);
  return {};
}
