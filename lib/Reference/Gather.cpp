//===- Gather.cpp - paged_gather and dequantize ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "dsv4/Dialect/RecordLayout.h"

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

Interpreter::Gathered Interpreter::findIndexedRow(PagedGatherOp op,
                                                  int64_t row) const {
  const Tensor &indices = values.at(op.getIndices());
  Gathered found{true, indices.index(row), 0};
  if (op.getInBytes())
    found.position = indices.integer(row);
  // One token has all indices of rank 1, unless each has a request.
  int64_t token = 0;
  if (indices.shape.size() == 2)
    token = row / indices.shape.back();
  else if (op.getRequests())
    token = row;
  found.request =
      op.getRequests() ? values.at(op.getRequests()).index(token) : token;
  if (Value lengths = op.getLengths()) {
    int64_t at = op.hasLengthsPerRequest() ? found.request : token;
    const Tensor &tensor = values.at(lengths);
    bool inside =
        at >= 0 && at < tensor.size() && found.position < tensor.length(at);
    if (!inside)
      found.position = -1;
  }
  return found;
}

int64_t Interpreter::findRequest(Value value, bool hasEnd, int64_t row) const {
  const Tensor &starts = values.at(value);
  int64_t request = 0;
  int64_t count = starts.size() - (hasEnd ? 1 : 0);
  while (count > 1) {
    int64_t middle = request + count / 2;
    count -= count / 2;
    if (starts.integer(middle) <= row)
      request = middle;
  }
  return request;
}

Interpreter::Gathered Interpreter::findRaggedRow(PagedGatherOp op, int64_t row,
                                                 int64_t perRequest) const {
  auto read = [&](Value operand, int64_t at) {
    return std::max<int64_t>(values.at(operand).length(at), 0);
  };
  Gathered found{false, -1, 0};
  Value cumulative = op.getCuSeqLens(), starts = op.getRowStarts();
  int64_t nth = row, requests = 0;
  if (!op.hasFlatRows()) {
    found.request = row / perRequest;
    int64_t offset = op.getRowOffset() ? read(op.getRowOffset(), 0)
                                       : int64_t(op.getOffset().value_or(0));
    nth = row % perRequest - offset;
    requests = values.at(op.getSeqLens()).size();
  } else {
    found.request = op.getRequests()
                        ? values.at(op.getRequests()).index(row)
                        : findRequest(cumulative ? cumulative : starts,
                                      bool(cumulative), row);
    requests = cumulative ? values.at(cumulative).size() - 1
                          : values.at(starts).size();
  }
  if (found.request < 0 || found.request >= requests)
    return found;
  if (op.hasFlatRows())
    nth -= read(cumulative ? cumulative : starts, found.request);
  int64_t count = 0, first = 0;
  if (cumulative) {
    count = values.at(cumulative).index(found.request + 1) -
            read(cumulative, found.request);
    Value given = op.getSeqStarts();
    if (given && found.request < values.at(given).size())
      first = read(given, found.request);
  } else {
    int64_t length = read(op.getSeqLens(), found.request);
    count = length;
    if (op.getGatherLens())
      count = std::min(count, read(op.getGatherLens(), found.request));
    first = length - count;
  }
  found.exists = nth >= 0 && nth < count;
  found.position = first + nth;
  return found;
}

int64_t Interpreter::findPage(PagedGatherOp op, int64_t request,
                              int64_t page) const {
  const Tensor &table = values.at(op.getPageTable());
  if (op.getIndptr()) {
    const Tensor &indptr = values.at(op.getIndptr());
    if (request < 0 || request >= indptr.size() - 1)
      return -1;
    int64_t begin = indptr.index(request), end = indptr.index(request + 1);
    bool listed =
        begin >= 0 && begin + page < std::min<int64_t>(end, table.size());
    return listed ? table.index(begin + page) : -1;
  }
  int64_t width = table.shape.back();
  int64_t row = 0, rows = 1;
  if (table.shape.size() == 2) {
    rows = table.shape.front();
    row = request;
  }
  if (row < 0 || row >= rows || page >= width)
    return -1;
  return table.index(row * width + page);
}

std::optional<Interpreter::Entry>
Interpreter::findEntryAtByte(CacheType cache, int64_t offset) const {
  RecordLayout::Position at = getPosition(cache, getFirstField(cache));
  if (offset < 0)
    return std::nullopt;
  int64_t page = offset / at.pageStride;
  int64_t begin = offset - page * at.pageStride - at.base;
  if (begin < 0 || begin % at.slotStride != 0 ||
      begin / at.slotStride >= cache.getPage())
    return std::nullopt;
  return Entry{page, begin / at.slotStride};
}

std::optional<Interpreter::Entry>
Interpreter::findNamedEntry(PagedGatherOp op, const Gathered &row) const {
  if (op.getInBytes())
    return findEntryAtByte(op.getCache().getType(), row.position);
  if (row.position < 0)
    return std::nullopt;
  int64_t pageSize = op.getCache().getType().getPage();
  int64_t page = row.position / pageSize;
  if (op.getPageTable())
    page = findPage(op, row.request, page);
  if (page < 0)
    return std::nullopt;
  return Entry{page, row.position % pageSize};
}

std::optional<Interpreter::Entry>
Interpreter::findEntry(PagedGatherOp op, const Gathered &row) const {
  std::optional<Entry> entry = findNamedEntry(op, row);
  int64_t pages = getPages(cast<BlockArgument>(op.getCache()));
  return entry && entry->page < pages ? entry : std::nullopt;
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

void Interpreter::copyField(PagedGatherOp op, FieldAttr field, Entry entry,
                            char *row) const {
  Elements stored = locate(cast<BlockArgument>(op.getCache()), field, entry);
  std::memcpy(row, stored.bytes, field.getByteSize());
}

rt::Status Interpreter::checkGather(PagedGatherOp op,
                                    ArrayRef<int64_t> rows) const {
  SmallVector<int64_t> tokens(rows);
  if (!op.isRagged() && (rows.size() == 2 || !op.getRequests()))
    tokens.pop_back();
  SmallVector<int64_t> tokenOf = op.isRagged() ? llvm::to_vector(rows) : tokens;
  if (rows.size() == 2 && !op.isRagged())
    tokenOf = {rows.front()};
  SmallVector<int64_t> lengths = tokens;
  if (op.hasLengthsPerRequest() && !op.getIndptr())
    lengths = {values.at(op.getPageTable()).shape.front()};
  SmallVector<std::tuple<StringRef, Value, SmallVector<int64_t>>> operands = {
      {"mask", op.getMask(), llvm::to_vector(rows)},
      {"requests", op.getRequests(), tokenOf}};
  if (!op.hasLengthsPerRequest() || !op.getIndptr())
    operands.push_back({"lengths", op.getLengths(), lengths});
  if (op.getSeqLens()) {
    SmallVector<int64_t> requests = {
        op.getRowStarts() ? values.at(op.getRowStarts()).size() : rows.front()};
    operands.push_back({"seq_lens", op.getSeqLens(), requests});
    operands.push_back({"gather_lens", op.getGatherLens(), requests});
  }
  for (auto &[name, value, shape] : operands)
    if (value)
      if (rt::Status status = checkShape(op, name, value, shape); !status)
        return status;
  return {};
}

rt::Status Interpreter::gather(PagedGatherOp op) {
  SmallVector<int64_t> rows;
  if (op.isRagged()) {
    // Only their destination says how many rows there are.
    auto destination = values.find(op.getRowOperand());
    if (destination == values.end())
      return invalid("dsv4.paged_gather: the rows of ragged requests need a "
                     "destination that is an argument");
    rows = llvm::to_vector(
        ArrayRef<int64_t>(destination->second.shape).drop_back());
  } else {
    rows = values.at(op.getIndices()).shape;
  }
  if (rt::Status status = checkGather(op, rows); !status)
    return status;

  // Rows are zeros, and false, until an entry is found; but those that do not
  // exist keep what the destination has.
  int64_t count = llvm::product_of(rows, int64_t(1));
  SmallVector<FieldAttr> fields = op.getCopiedFields();
  SmallVector<std::vector<char> *> results;
  for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
    SmallVector<int64_t> shape = rows;
    if (i < fields.size() || (op.getOut() && i == 0)) {
      auto type = cast<ShapedType>(init.getType());
      if (type.getRank() > op.getRowRank())
        shape.push_back(type.getShape().back());
    }
    if (rt::Status status =
            checkShape(op, op.getOut() ? "outs" : "fields", init, shape);
        !status)
      return status;
    std::vector<char> &bytes = *makeResult(op->getResult(i), shape).owned;
    auto old = values.find(init);
    if (op.isRagged() && old != values.end())
      std::memcpy(bytes.data(), old->second.data, bytes.size());
    results.push_back(&bytes);
  }

  for (int64_t row = 0; row < count; ++row) {
    Gathered found = op.isRagged() ? findRaggedRow(op, row, rows.back())
                                   : findIndexedRow(op, row);
    if (!found.exists)
      continue;
    auto entry = findEntry(op, found);
    for (auto [i, bytes] : llvm::enumerate(results)) {
      int64_t size = bytes->size() / count;
      char *at = bytes->data() + row * size;
      std::memset(at, 0, size);
      if (!entry)
        continue;
      if (i < fields.size())
        copyField(op, fields[i], *entry, at);
      else if (op.getOut() && i == 0)
        gatherRow(op, *entry, at);
      else
        *at = 1;
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// dequantize
//===----------------------------------------------------------------------===//

/// The scales of the first level in the order of rows, in `ordered`.
Elements Interpreter::orderScales(DequantizeOp op, const Tensor &scales,
                                  std::vector<char> &ordered) const {
  const Tensor &data = values.at(op.getData());
  ScaleAttr level = op.getFormat().getScales()[0];
  int64_t groups = data.shape.back() / level.getGroup();
  Elements from = scales.elements();
  from.format = *reference::getFormat(level.getElement());
  // Those that the tensor does not have are zeros.
  ordered.assign(data.rows() * groups * (bitWidth(from.format) / 8), 0);
  Elements to{ordered.data(), from.format};
  for (int64_t row = 0; row < data.rows(); ++row)
    for (int64_t group = 0; group < groups; ++group)
      if (auto at =
              findScale(op.getScaleLayout(), scales.shape, groups, row, group))
        to.setCode(row * groups + group, from.code(*at));
  return to;
}

rt::Status Interpreter::dequantize(DequantizeOp op) {
  const Tensor data = values.at(op.getData());
  if (rt::Status status = checkShape(op, "outs", op.getOut(), data.shape);
      !status)
    return status;
  int64_t extent = data.shape.back();
  SmallVector<Level> levels;
  std::vector<char> ordered;
  for (auto [i, level, scales] :
       llvm::enumerate(op.getFormat().getScales(), op.getScales())) {
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
    if (op.getLayoutOfScales(i) != ScaleLayout::RowMajor) {
      levels.push_back({orderScales(op, values.at(scales), ordered), group});
      continue;
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
