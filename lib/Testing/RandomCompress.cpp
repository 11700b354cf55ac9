//===- RandomCompress.cpp - Windows, and where their tokens are -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Requests that the state has room for.
int64_t InputMaker::getRequests(CompressOp op) const {
  if (op.getPageTable())
    return isa<BlockArgument>(op.getPageTable())
               ? getShape(op.getPageTable()).front()
               : 1;
  if (!op.getState())
    return 1;
  TypedValue<CacheType> state = op.getState();
  return getPages(state) * state.getType().getPage() / int64_t(*op.getRing());
}

/// Positions of a request that the state may hold.
int64_t InputMaker::getMaxPositions(CompressOp op) const {
  if (!op.getState())
    return 2 * op.getWindow();
  // A state of sums has no positions.
  if (op.isOnline())
    return 6 * op.getWindow();
  if (op.getRing())
    return std::min<int64_t>(5 * int64_t(*op.getRing()), INT32_MAX / 2);
  if (!isa<BlockArgument>(op.getPageTable()))
    return 2 * op.getWindow();
  return std::min<int64_t>(getShape(op.getPageTable()).back() *
                               op.getState().getType().getPage(),
                           INT32_MAX / 2);
}

/// Every window that becomes complete in a launch of `tokens` tokens of some
/// requests.
std::vector<InputMaker::PlanRow> InputMaker::makeWindows(CompressOp op,
                                                         int64_t tokens,
                                                         int64_t entries,
                                                         Random &random) const {
  int64_t window = op.getWindow(), requests = getRequests(op);
  int64_t starts = std::max<int64_t>(getMaxPositions(op) / window, 1);
  std::vector<PlanRow> rows;
  // One token of many requests, or more of fewer.
  int64_t max = std::max<int64_t>(std::min(entries, tokens), 1);
  int64_t runs = random.below(2) ? max : 1 + random.below(max);
  for (int64_t run = 0, token = 0; run < runs; ++run) {
    int64_t last = tokens * (run + 1) / runs;
    // The first window begins before the launch, or with it, and ends in it;
    // some are the first of their request.
    int64_t w = random.below(3) == 0 ? 0 : random.below(starts) * window;
    int64_t reach = std::min(std::max<int64_t>(last - token, 1), window);
    int64_t position = w + window - 1 - int64_t(random.below(reach));
    int64_t request = run % std::max<int64_t>(requests, 1);
    for (; w + window <= position + (last - token); w += window)
      rows.push_back({w, request, position, token});
    token = last;
  }
  // Without tokens, windows of the state.
  if (rows.empty())
    rows.push_back({0, 0, window, 0});
  return rows;
}

void InputMaker::fillPlan(unsigned argument, Random &random) {
  CompressOp op = uses[argument].compress;
  if (op.isOnline())
    return fillSegments(argument, random);
  int64_t entries = getCount(argument) / 4, window = op.getWindow();
  bool known = isa<BlockArgument>(op.getValues());
  int64_t tokens = known ? getShape(op.getValues()).front() : entries;
  std::vector<PlanRow> rows = makeWindows(op, tokens, entries, random);
  auto put = [&](int64_t entry, const PlanRow &row) {
    for (auto [i, value] : llvm::enumerate(row))
      store(argument, 4 * entry + i, value);
  };
  for (int64_t entry = 0; entry < entries; ++entry)
    put(entry, rows[entry % rows.size()]);

  int64_t requests = getRequests(op);
  spoil(entries, 13, 24, random, [&](int64_t entry, uint64_t kind) {
    auto [w, request, position, token] = rows[entry % rows.size()];
    int64_t some = random.below(2 * window);
    const PlanRow bad[] = {
        {-1, request, position, token},
        {INT32_MIN, request, position, token},
        {INT32_MAX, request, INT32_MAX - some, token},
        {w + some, request, position, token}, // Not a multiple of the window.
        {w, -1, position, token},
        {w, requests, position, token},
        {w, INT32_MAX, position, token},
        {w, request, -some, token},
        {w, request, INT32_MIN, token},
        {w, request, INT32_MAX, token}, // All of the state.
        {w, request, position, tokens - some % 3},
        {w, request, position, -some},
        {w, request, position, INT32_MAX}};
    put(entry, bad[kind]);
  });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Pages of the state, which several requests may share.
void InputMaker::fillStateTable(unsigned argument, Random &random) {
  CompressOp op = uses[argument].compress;
  bool ofScores = func.getArgument(argument) == op.getScorePageTable();
  int64_t pages = getPages(ofScores ? op.getScoreState() : op.getState());
  int64_t count = getCount(argument);
  std::vector<int32_t> order = shuffle(pages, random);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, pages ? order[i % pages] : 0);
  spoil(count, 4, 24, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, pages, -7, INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Fills rows of numbers whose softmax is no single 1; in some it is.
void InputMaker::fillScores(BlockArgument argument, Random &random) {
  std::vector<char> &bytes = set.bytes[getBinding(argument)];
  Format format = *reference::getFormat(
      cast<RankedTensorType>(argument.getType()).getElementType());
  int64_t width = bitWidth(format) / 8, extent = getShape(argument).back();
  for (size_t at = 0; at < bytes.size(); at += extent * width) {
    uint64_t kind = random.below(16);
    // Kind 1: so far apart that weights are subnormal, or vanish.
    double limit = kind == 1 ? 120 : kind == 2 ? 0.01 : 4;
    auto row = kind == 0 ? randomElements(format, extent, random, codes)
                         : randomReals(format, extent, random, limit);
    auto strew = [&](uint64_t rows, double value) {
      if (random.below(rows) != 0)
        return;
      uint32_t code = encode(format, value);
      std::memcpy(row.data() + random.below(extent) * width, &code, width);
    };
    if (codes != Codes::Finite) {
      strew(8, -std::numeric_limits<double>::infinity());
      strew(24, std::numeric_limits<double>::infinity());
    }
    if (codes == Codes::All)
      strew(8, std::numeric_limits<double>::quiet_NaN());
    std::copy(row.begin(), row.end(), bytes.begin() + at);
  }
}
