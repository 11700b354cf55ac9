//===- CompressPlan.cpp - The work list of a compressor -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// Element `at` of an operand, if there are both.
std::optional<int64_t> Interpreter::findElement(Value value, int64_t at) const {
  const Tensor &tensor = values.at(value);
  if (at < 0 || at >= tensor.size())
    return std::nullopt;
  return tensor.index(at);
}

std::optional<int64_t> Interpreter::findListSlot(CompressPlanOp op, int64_t w,
                                                 int64_t request,
                                                 int64_t last) const {
  if (op.getSlots()) {
    auto slot = findElement(op.getSlots(), last);
    return slot && *slot >= 0 ? slot : std::nullopt;
  }
  const Tensor &table = values.at(op.getPageTable());
  int64_t page = *op.getPage(), number = w / int64_t(op.getWindow());
  if (number / page >= table.shape[1])
    return std::nullopt;
  auto found =
      findElement(op.getPageTable(), request * table.shape[1] + number / page);
  if (!found || *found < 0 || *found * page + number % page > INT32_MAX)
    return std::nullopt;
  return *found * page + number % page;
}

int64_t Interpreter::findListRequest(CompressPlanOp op, int64_t row) const {
  Value starts = op.hasRowPerEntry() ? op.getEntryStarts() : op.getStarts();
  int64_t request = op.getRequests()
                        ? values.at(op.getRequests()).index(row)
                        : findRequest(starts, /*hasEnd=*/true, row);
  bool inTable =
      !op.getPageTable() || request < values.at(op.getPageTable()).shape[0];
  return inTable ? request : -1;
}

std::optional<Interpreter::ListRow>
Interpreter::findListRow(CompressPlanOp op, int64_t row) const {
  const bool perEntry = op.hasRowPerEntry();
  int64_t window = op.getWindow();
  int64_t request = findListRequest(op, row);
  if (request < 0)
    return std::nullopt;

  // Without starts no token is in the launch.
  if (!op.getStarts()) {
    int64_t position = *findElement(op.getPositions(), row);
    if (position < 0 || (position + 1) % window != 0)
      return std::nullopt;
    return ListRow{position + 1 - window, request, position + 1, 0, row};
  }
  auto start = findElement(op.getStarts(), request);
  auto end = findElement(op.getStarts(), request + 1);
  if (!start || !end || *start < 0)
    return std::nullopt;
  if (!perEntry) {
    if (row < *start || row >= *end)
      return std::nullopt;
    int64_t position;
    if (op.getLengths()) {
      auto length = findElement(op.getLengths(), request);
      if (!length)
        return std::nullopt;
      position = *length - *end + row;
    } else {
      position = *findElement(op.getPositions(), row);
    }
    if (position < 0 || (position + 1) % window != 0)
      return std::nullopt;
    return ListRow{position + 1 - window, request, position - (row - *start),
                   *start, row};
  }
  auto firstEntry = findElement(op.getEntryStarts(), request);
  auto nextEntry = findElement(op.getEntryStarts(), request + 1);
  if (!firstEntry || !nextEntry || *firstEntry < 0 || row < *firstEntry ||
      row >= *nextEntry)
    return std::nullopt;
  auto first = op.getLengths() ? findElement(op.getLengths(), request)
                               : findElement(op.getPositions(), *start);
  if (first && op.getLengths())
    *first -= *end - *start;
  if (!first || *first < 0)
    return std::nullopt;
  int64_t w = (*first / window + row - *firstEntry) * window;
  int64_t last = *start + w + window - 1 - *first;
  if (last >= *end)
    return std::nullopt;
  return ListRow{w, request, *first, *start, last};
}

std::optional<Interpreter::ListSegment>
Interpreter::findListSegment(CompressPlanOp op, int64_t row) const {
  const bool perSegment = op.hasRowPerEntry();
  int64_t window = op.getWindow();
  int64_t request = findListRequest(op, row);
  if (request < 0)
    return std::nullopt;
  auto start = findElement(op.getStarts(), request);
  auto end = findElement(op.getStarts(), request + 1);
  if (!start || !end || *start < 0)
    return std::nullopt;
  // A row for each token has the position of its own token, another that of the
  // first token of the request.
  int64_t token = perSegment ? *start : row, nth = 0;
  if (perSegment) {
    auto first = findElement(op.getEntryStarts(), request);
    auto next = findElement(op.getEntryStarts(), request + 1);
    if (!first || !next || *first < 0 || row < *first || row >= *next)
      return std::nullopt;
    nth = row - *first;
  }
  if (token < *start || token >= *end)
    return std::nullopt;
  auto position = op.getLengths() ? findElement(op.getLengths(), request)
                                  : findElement(op.getPositions(), token);
  if (position && op.getLengths())
    *position -= *end - token;
  if (!position || *position < 0)
    return std::nullopt;
  if (!perSegment && token != *start && *position % window != 0)
    return std::nullopt;
  int64_t w = (*position / window + nth) * window;
  int64_t begin = std::max(*position, w);
  token += begin - *position;
  if (token >= *end || w > CompressOp::kMaxPosition)
    return std::nullopt;
  return ListSegment{w, request, begin,
                     std::min(w + window - begin, *end - token), token};
}

SmallVector<int64_t> Interpreter::listSegment(CompressPlanOp op,
                                              int64_t row) const {
  SmallVector<int64_t> numbers(7, -1);
  auto found = findListSegment(op, row);
  if (!found)
    return numbers;
  auto entryOf = [&](Value state) {
    return findElement(state, found->request).value_or(-1);
  };
  numbers = {found->position,
             found->count,
             found->token,
             entryOf(op.getFrom()),
             entryOf(op.getTo()),
             -1,
             -1};
  if (found->position + found->count != found->w + int64_t(op.getWindow()))
    return numbers;
  auto slot = op.hasSlots() ? findListSlot(op, found->w, found->request,
                                           found->token + found->count - 1)
                            : std::optional<int64_t>(-1);
  if (slot) {
    numbers[5] = found->w;
    numbers[6] = *slot;
  }
  return numbers;
}

SmallVector<int64_t> Interpreter::listRow(CompressPlanOp op,
                                          int64_t row) const {
  if (op.isOnline())
    return listSegment(op, row);
  auto found = findListRow(op, row);
  SmallVector<int64_t> none(6, -1);
  if (!found || found->w > CompressOp::kMaxPosition)
    return none;
  auto slot = op.hasSlots()
                  ? findListSlot(op, found->w, found->request, found->last)
                  : std::optional<int64_t>(-1);
  if (!slot)
    return none;
  return {found->w,     found->request, found->position,
          found->token, found->w,       *slot};
}

/// Rows of the destinations, as far as a program says.
static std::optional<int64_t>
findRows(Value out, const llvm::DenseMap<Value, Tensor> &values) {
  if (auto it = values.find(out); it != values.end())
    return it->second.shape.front();
  auto type = cast<RankedTensorType>(out.getType());
  if (!type.isDynamicDim(0))
    return type.getDimSize(0);
  auto empty = out.getDefiningOp<tensor::EmptyOp>();
  auto dim =
      empty ? empty.getDynamicSizes().front().getDefiningOp<tensor::DimOp>()
            : nullptr;
  if (!dim || !dim.getConstantIndex() || !values.contains(dim.getSource()))
    return std::nullopt;
  return values.at(dim.getSource()).shape[*dim.getConstantIndex()];
}

rt::Status Interpreter::listWindows(CompressPlanOp op) {
  std::optional<int64_t> rows;
  if (op.hasRowPerEntry())
    for (Value out : op.getOuts())
      rows = rows ? rows : findRows(out, values);
  else
    for (Value token : {op.getPositions(), op.getRequests(), op.getSlots()})
      rows = token ? values.at(token).size() : rows;
  for (Value out : op.getOuts())
    rows = rows ? rows : findRows(out, values);
  if (!rows)
    return invalid("compress_plan: the number of rows is not known: make an "
                   "argument a destination, or tensor.empty with the extent of "
                   "one");
  const std::pair<StringRef, Value> tokens[] = {
      {"positions", op.getPositions()},
      {"requests", op.getRequests()},
      {"slots", op.getSlots()}};
  if (!op.hasRowPerEntry())
    for (auto [name, value] : tokens)
      if (rt::Status status =
              value ? checkShape(op, name, value, *rows) : rt::Status();
          !status)
        return status;
  for (auto [i, out] : llvm::enumerate(op.getOuts())) {
    SmallVector<int64_t> shape = {*rows};
    if (i == 0)
      shape.push_back(op.getPlanColumns());
    if (rt::Status status = checkShape(op, "outs", out, shape); !status)
      return status;
    makeResult(op.getList()[i], shape);
  }
  for (int64_t row = 0; row < *rows; ++row) {
    SmallVector<int64_t> numbers = listRow(op, row);
    int64_t columns = op.getPlanColumns();
    auto put = [&](unsigned result, int64_t at, int64_t value) {
      values.at(op.getList()[result])
          .elements()
          .setCode(at, uint32_t(int32_t(value)));
    };
    for (int64_t i = 0; i < columns; ++i)
      put(0, columns * row + i, numbers[i]);
    for (unsigned i = 1; i < op.getOuts().size(); ++i)
      put(i, row, numbers[columns - 1 + i]);
  }
  return {};
}
