//===- Topk.cpp - The best elements of rows -------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// topk
//===----------------------------------------------------------------------===//

/// Leaves of `elements`, which are in the order of their indices, those of the
/// best groups of a row of `columns`. precedes(a, b): of two elements.
template <typename Precedes>
static void keepGroups(TopkOp op, ArrayRef<float> keys, int64_t columns,
                       Precedes precedes, std::vector<int32_t> &elements) {
  struct Group {
    int64_t number;
    float key;
  };
  int64_t size = columns / int64_t(*op.getGroups());
  std::vector<Group> groups;
  for (int64_t begin = 0, count = keys.size(); begin < count; begin += size) {
    std::vector<int32_t> members(std::min(size, count - begin));
    std::iota(members.begin(), members.end(), begin);
    std::sort(members.begin(), members.end(), precedes);
    float key = keys[members[0]];
    for (size_t i = 1; i < members.size() && i < *op.getBy(); ++i)
      key = addF32(key, keys[members[i]]);
    groups.push_back({begin / size, key});
  }
  std::stable_sort(groups.begin(), groups.end(), [&](Group a, Group b) {
    if (std::isnan(a.key) != std::isnan(b.key))
      return std::isnan(op.getNanFirst() ? a.key : b.key);
    return op.getSmallest() ? a.key < b.key : a.key > b.key;
  });
  groups.resize(std::min<size_t>(groups.size(), *op.getKeep()));
  llvm::erase_if(elements, [&](int32_t element) {
    return llvm::none_of(
        groups, [&](Group group) { return group.number == element / size; });
  });
}

/// The number that `lengths` give row `row`, before it is limited to a row.
static int64_t getLength(TopkOp op, const Tensor &lengths, int64_t row) {
  if (!op.getNextN()) {
    int64_t given = lengths.length(row);
    if (!op.getRatio())
      return given;
    return given < 0 ? 0 : (given + 1) / int64_t(*op.getRatio());
  }
  int64_t rows = *op.getNextN(), request = row / rows;
  if (request >= lengths.shape[0])
    return 0;
  // One element less for every row of the request after this one.
  int64_t after = rows - 1 - row % rows, given = lengths.length(request);
  return given <= after ? 0
                        : (given - after) / int64_t(op.getRatio().value_or(1));
}

Interpreter::Candidates Interpreter::findCandidates(TopkOp op,
                                                    int64_t row) const {
  int64_t columns = values.at(op.getScores()).shape.back();
  if (!countsRow(op.getValidRows(), op.getPadding(), row))
    return {0, 0};
  int64_t start = op.getStarts() ? values.at(op.getStarts()).index(row) : 0;
  if (start < 0 || start >= columns)
    return {0, 0};
  int64_t left = columns - start;
  if (op.getLengths())
    return {start,
            std::clamp<int64_t>(getLength(op, values.at(op.getLengths()), row),
                                0, left)};
  if (!op.getEnds())
    return {start, left};
  int64_t end = values.at(op.getEnds()).index(row);
  return {start, end <= start ? 0 : std::min(end, columns) - start};
}

Elements Interpreter::findBias(TopkOp op, int64_t row) const {
  bool isOther = op.getOtherBias() && values.at(op.getOtherRows()).data[row];
  return values.at(isOther ? op.getOtherBias() : op.getBias()).elements();
}

std::vector<int32_t> Interpreter::chooseElements(TopkOp op, int64_t row) const {
  const Tensor &scores = values.at(op.getScores());
  int64_t columns = scores.shape.back();
  auto [start, count] = findCandidates(op, row);
  Elements elements = scores.elements();
  std::vector<float> keys(count);
  for (int64_t i = 0; i < count; ++i) {
    keys[i] = elements.f32(row * columns + start + i);
    if (op.getBias())
      keys[i] = addF32(keys[i], findBias(op, row).f32(i));
  }
  bool smallest = op.getSmallest(), high = op.getTiesHigh();
  bool nanFirst = op.getNanFirst();
  auto precedes = [&](int32_t a, int32_t b) {
    float x = keys[a], y = keys[b];
    if (std::isnan(x) || std::isnan(y)) {
      if (std::isnan(x) != std::isnan(y))
        return std::isnan(nanFirst ? x : y);
    } else if (x != y) {
      return smallest ? x < y : x > y;
    }
    return high ? a > b : a < b;
  };
  std::vector<int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (op.getGroups())
    keepGroups(op, keys, columns, precedes, order);
  int64_t chosen = std::min<int64_t>(order.size(), op.getK());
  std::partial_sort(order.begin(), order.begin() + chosen, order.end(),
                    precedes);
  order.resize(chosen);
  if (op.getOrder() != TopkOrder::Sorted)
    std::sort(order.begin(), order.end());
  return order;
}

/// The row of the page table that row `row` has, -1 if none.
int64_t Interpreter::findTableRow(TopkOp op, int64_t row) const {
  if (op.getRequests())
    return values.at(op.getRequests()).index(row);
  if (!op.getCuSeqLens())
    return row;
  const Tensor &starts = values.at(op.getCuSeqLens());
  int64_t request = findRequest(op.getCuSeqLens(), /*hasEnd=*/true, row);
  if (request + 1 >= starts.size())
    return -1;
  int64_t first = starts.index(request), end = starts.index(request + 1);
  return first >= 0 && first <= row && row < end ? request : -1;
}

int32_t Interpreter::findSlot(TopkOp op, int64_t row, int64_t index) const {
  const Tensor &table = values.at(op.getPageTable());
  int64_t page = *op.getPage(), pages = table.shape[1];
  int64_t first = 0, tableRow = findTableRow(op, row);
  if (op.getPageStarts())
    first = values.at(op.getPageStarts()).index(row);
  if (tableRow < 0 || tableRow >= table.shape[0] || first < 0 ||
      first + index / page >= pages)
    return -1;
  int64_t entry = table.index(tableRow * pages + first + index / page);
  int64_t slot = entry * page + index % page;
  return entry < 0 || slot > std::numeric_limits<int32_t>::max()
             ? -1
             : int32_t(slot);
}

/// A key: the fp32 sum of a score, which is known within a bound, and a bias.
static BoundedValue addBias(BoundedValue score, float bias) {
  if (score.bound == 0)
    return {addF32(float(score.exact), bias), 0};
  double sum = score.exact + bias, reach = std::fabs(sum) + score.bound;
  // From there on the sum may be rounded to infinity.
  if (reach >= double(std::numeric_limits<float>::max()))
    return {sum, std::numeric_limits<double>::infinity()};
  return {sum, score.bound + std::ldexp(reach, -24)};
}

static SelectionOracle::Order getOracleOrder(TopkOrder order) {
  switch (order) {
  case TopkOrder::Sorted:
    return SelectionOracle::Order::Sorted;
  case TopkOrder::IndexAscending:
    return SelectionOracle::Order::IndexAscending;
  case TopkOrder::Unordered:
    return SelectionOracle::Order::Unordered;
  }
  llvm_unreachable("unknown order");
}

void Interpreter::expectSelection(TopkOp op) {
  const Tensor &scores = values.at(op.getScores());
  int64_t rows = scores.rows(), columns = scores.shape.back();
  auto oracle = std::make_shared<SelectionOracle>();
  oracle->k = op.getK();
  oracle->columns = columns;
  oracle->smallest = op.getSmallest();
  oracle->tiesHigh = op.getTiesHigh();
  oracle->nanFirst = op.getNanFirst();
  oracle->order = getOracleOrder(op.getOrder());
  oracle->keys = *knowledge.at(op.getScores()).bounds;
  for (int64_t row = 0; row < rows; ++row) {
    auto [start, count] = findCandidates(op, row);
    oracle->counts.push_back(count);
    if (op.getOffsets())
      oracle->offsets.push_back(values.at(op.getOffsets()).index(row));
    // Keys are known by index, from that of the first candidate on.
    auto keys = oracle->keys.begin() + row * columns;
    std::rotate(keys, keys + start, keys + columns);
  }
  if (op.getBias()) {
    oracle->scores = oracle->keys;
    for (int64_t at = 0; at < rows * columns; ++at)
      oracle->keys[at] = addBias(oracle->keys[at],
                                 findBias(op, at / columns).f32(at % columns));
  }
  if (op.getSlots())
    for (int64_t at = 0; at < rows * columns; ++at)
      oracle->slots.push_back(findSlot(op, at / columns, at % columns));
  const std::pair<Value, Knowledge::Part> parts[] = {
      {op.getIndices(), Knowledge::Part::Indices},
      {op.getValues(), Knowledge::Part::Values},
      {op.getSlots(), Knowledge::Part::Slots}};
  for (OpOperand &out : op.getOutsMutable())
    for (auto [destination, part] : parts)
      if (out.get() == destination)
        knowledge[op.getTiedOpResult(&out)] = {nullptr, oracle, part};
}

rt::Status Interpreter::choose(TopkOp op) {
  const Tensor scores = values.at(op.getScores());
  SmallVector<int64_t> shape(scores.shape);
  ArrayRef<int64_t> iterationSpace =
      ArrayRef<int64_t>(scores.shape).drop_back();
  shape.back() = op.getRanks();
  for (Value out : op.getOuts())
    if (rt::Status status = checkShape(op, "outs", out, shape); !status)
      return status;
  const std::tuple<StringRef, Value, ArrayRef<int64_t>> operands[] = {
      {"lengths", op.getNextN() ? Value() : Value(op.getLengths()),
       iterationSpace},
      {"starts", op.getStarts(), iterationSpace},
      {"ends", op.getEnds(), iterationSpace},
      {"requests", op.getRequests(), iterationSpace},
      {"offsets", op.getOffsets(), iterationSpace},
      {"padding", op.getPadding(), iterationSpace},
      {"page_starts", op.getPageStarts(), iterationSpace},
      {"bias", op.getBias(), ArrayRef<int64_t>(scores.shape).take_back()},
      {"other_bias", op.getOtherBias(),
       ArrayRef<int64_t>(scores.shape).take_back()},
      {"other_bias", op.getOtherRows(), iterationSpace}};
  for (auto [name, value, expected] : operands)
    if (value)
      if (rt::Status status = checkShape(op, name, value, expected); !status)
        return status;
  if (op.getPageTable() && !op.hasTableOfRequests() &&
      iterationSpace.size() == 1 &&
      values.at(op.getPageTable()).shape[0] != scores.rows())
    return invalid("dsv4.topk: expected 'pages' with " + Twine(scores.rows()) +
                   " rows, one a row of scores, got " +
                   Twine(values.at(op.getPageTable()).shape[0]));
  if (op.getOrder() == TopkOrder::Unordered)
    for (Operation *user : op->getUsers())
      if (!isa<func::ReturnOp>(user))
        return invalid("dsv4.topk: what it chooses without an order is an "
                       "operand of '" +
                       user->getName().getStringRef() +
                       "', so its result is not unique: give it "
                       "'order sorted' or 'order index_ascending'");
  auto result = [&](Value destination) -> Tensor * {
    if (!destination)
      return nullptr;
    for (OpOperand &out : op.getOutsMutable())
      if (out.get() == destination)
        return &makeResult(op.getTiedOpResult(&out), shape);
    return nullptr;
  };
  // Each is made before the next can move it.
  int64_t k = op.getRanks(), columns = scores.shape.back();
  std::vector<int32_t> indices(scores.rows() * k, -1);
  for (int64_t row = 0; row < scores.rows(); ++row) {
    std::vector<int32_t> chosen = chooseElements(op, row);
    std::copy(chosen.begin(), chosen.end(), indices.begin() + row * k);
  }
  std::vector<int32_t> experts = indices;
  for (int64_t row = 0; row < scores.rows(); ++row)
    for (int64_t i = op.getK(); i < k; ++i)
      if (countsRow(op.getValidRows(), op.getPadding(), row))
        experts[row * k + i] = int32_t(columns + i - op.getK());
  if (Tensor *out = result(op.getIndices()))
    for (size_t at = 0; at < experts.size(); ++at) {
      int64_t index = experts[at];
      if (op.getOffsets() && index >= 0)
        index += values.at(op.getOffsets()).index(at / k);
      out->setIndex(at, static_cast<int32_t>(index));
    }
  if (Value out = op.getTokenExpertIndices())
    for (OpOperand &operand : op.getOutsMutable())
      if (operand.get() == out)
        numberTokenExperts(op.getTiedOpResult(&operand), shape);
  if (Tensor *out = result(op.getValues())) {
    Elements from = scores.elements(), to = out->elements();
    float none = std::numeric_limits<float>::infinity();
    none = op.getSmallest() ? none : -none;
    for (size_t at = 0; at < indices.size(); ++at) {
      int64_t source =
          at / k * columns + findCandidates(op, at / k).start + indices[at];
      if (indices[at] < 0)
        to.round(at, none);
      else if (op.getNanFirst())
        to.round(at, addF32(from.f32(source), 0));
      else if (to.format == Format::F32 && from.format != Format::F16)
        to.setCode(at, from.code(source) << (32 - bitWidth(from.format)));
      else
        to.round(at, from.f32(source));
    }
  }
  if (Tensor *out = result(op.getSlots()))
    for (size_t at = 0; at < indices.size(); ++at)
      out->setIndex(at,
                    indices[at] < 0 ? -1 : findSlot(op, at / k, indices[at]));
  if (!op.getContract(op.getOutsMutable()[0]).isExact())
    expectSelection(op);
  return {};
}

//===----------------------------------------------------------------------===//
// Comparing what has no order
//===----------------------------------------------------------------------===//

/// Puts the ranks of a row in the order that `order` has.
static void permute(char *row, ArrayRef<int32_t> order, int64_t width) {
  std::vector<char> from(row, row + order.size() * width);
  for (auto [rank, old] : llvm::enumerate(order))
    std::memcpy(row + rank * width, from.data() + old * width, width);
}

/// Whether `row` of a result certainly has all elements of its row, which then
/// have an order. Elements outside the chosen groups, and with `offsets` an
/// index of -1, look like padding.
static bool isSelectedWhole(TopkOp op, const Tensor &row) {
  if (op.getGroups() || op.getOffsets())
    return false;
  int64_t columns =
      cast<ShapedType>(op.getScores().getType()).getShape().back();
  if (!ShapedType::isDynamic(columns) && columns <= int64_t(op.getK()))
    return true;
  for (int64_t rank = 0, k = op.getK(); rank < k; ++rank)
    if (row.integer(rank) == -1)
      return true;
  return false;
}

void dsv4::reference::sortUnordered(func::FuncOp func,
                                    const Signature &signature,
                                    ArrayRef<Buffer> buffers) {
  auto bindingOf = [&](Value destination) -> std::optional<unsigned> {
    auto argument = dyn_cast_if_present<BlockArgument>(destination);
    if (!argument)
      return std::nullopt;
    return signature.firstBinding[argument.getArgNumber()];
  };
  auto rowOf = [&](unsigned binding, int64_t row) {
    return getRow(signature.bindings[binding], buffers[binding], row);
  };
  for (auto op : func.getBody().front().getOps<TopkOp>()) {
    std::optional<unsigned> indices = bindingOf(op.getIndices());
    if (op.getOrder() != TopkOrder::Unordered || !indices)
      continue;
    // Ranks of shared experts have their order.
    int64_t k = op.getK();
    int64_t rows =
        llvm::product_of(buffers[*indices].shape, int64_t(1)) / op.getRanks();
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<int32_t> order(k);
      Type element = getElementTypeOrSelf(op.getIndices().getType());
      Tensor found{element, {1, k}, rowOf(*indices, row)};
      if (isSelectedWhole(op, found))
        continue;
      std::iota(order.begin(), order.end(), 0);
      // Padding last.
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        return uint64_t(found.integer(a)) < uint64_t(found.integer(b));
      });
      for (Value out : op.getOuts())
        if (std::optional<unsigned> binding = bindingOf(out);
            binding && out != op.getTokenExpertIndices()) {
          int64_t width =
              cast<RankedTensorType>(out.getType()).getElementTypeBitWidth() /
              8;
          permute(rowOf(*binding, row), order, width);
        }
    }
  }
}
