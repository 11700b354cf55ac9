//===- RandomCompressPlan.cpp - Tokens of a launch, for work lists --------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include <algorithm>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// What uses a list
//===----------------------------------------------------------------------===//

/// The first op of a kind that reads result `index` of a work list.
template <typename OpTy>
static OpTy findUser(CompressPlanOp op, unsigned index) {
  if (index < op.getList().size())
    for (Operation *user : op.getList()[index].getUsers())
      if (auto found = dyn_cast<OpTy>(user))
        return found;
  return nullptr;
}

static PagedAppendOp findAppend(CompressPlanOp op) {
  return op.hasSlots() ? findUser<PagedAppendOp>(op, 2) : nullptr;
}

/// Whether hostile tokens cannot give two entries one slot of a cache that they
/// are appended to, where they would race.
static bool keepsSlotsApart(CompressPlanOp op) {
  if (op.isOnline())
    return false;
  return !findAppend(op) || (op.getSlots() && !op.hasRowPerEntry());
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

int64_t InputMaker::countListTokens(CompressPlanOp op) const {
  for (Value value : {op.getPositions(), op.getRequests(), op.getSlots()})
    if (value && isa<BlockArgument>(value))
      return getShape(value).front();
  auto compress = findUser<CompressOp>(op, 0);
  if (compress && isa<BlockArgument>(compress.getValues()))
    return getShape(compress.getValues()).front();
  for (Value out : op.getOuts())
    if (isa<BlockArgument>(out))
      return getShape(out).front() *
             (op.hasRowPerEntry() ? int64_t(op.getWindow()) : 1);
  return 16;
}

InputMaker::Launch InputMaker::makeLaunch(CompressPlanOp op) const {
  // The same for all operands.
  Random random(seeds.front() ^ 0x5DEECE66DULL);
  int64_t tokens = countListTokens(op), window = op.getWindow(), requests = 8;
  for (Value value : {op.getStarts(), op.getEntryStarts()})
    if (value && isa<BlockArgument>(value))
      requests = getShape(value).front() - 1;
  for (Value value :
       {op.getLengths(), op.getPageTable(), op.getFrom(), op.getTo()})
    if (value && isa<BlockArgument>(value))
      requests = getShape(value).front();
  requests = std::max<int64_t>(requests, 0);
  auto compress = findUser<CompressOp>(op, 0);
  int64_t positions = compress ? getMaxPositions(compress) : 6 * window;
  if (op.getPageTable() && isa<BlockArgument>(op.getPageTable()))
    positions =
        std::min<int64_t>(positions, getShape(op.getPageTable()).back() *
                                         int64_t(*op.getPage()) * window);

  // Some at the end may be padding of a captured graph.
  int64_t used =
      random.below(2) ? tokens : tokens - int64_t(random.below(tokens / 4 + 1));
  Launch launch;
  launch.starts = {0};
  if (used <= 2 * requests ? random.below(2) : random.below(8) == 0) {
    // A token each.
    for (int64_t b = 0; b < requests; ++b)
      launch.starts.push_back(std::min(b + 1, used));
  } else {
    for (int64_t b = 1; b < requests; ++b)
      launch.starts.push_back(random.below(used + 1));
    if (requests > 0)
      launch.starts.push_back(used);
    std::sort(launch.starts.begin(), launch.starts.end());
  }
  launch.entryStarts = {0};
  for (int64_t b = 0; b < requests; ++b) {
    int64_t count = launch.starts[b + 1] - launch.starts[b];
    int64_t room = std::max<int64_t>(positions - count + 1, 1);
    int64_t first = random.below(3) == 0 ? 0 : random.below(room);
    // Of many a window ends in the launch.
    if (count > 0 && random.below(2))
      first = first / window * window + window - 1 -
              int64_t(random.below(std::min(count, window)));
    launch.firsts.push_back(first);
    int64_t rows = (first + count) / window - first / window;
    if (op.isOnline())
      rows = count ? (first + count - 1) / window - first / window + 1 : 0;
    launch.entryStarts.push_back(launch.entryStarts.back() + rows);
  }
  return launch;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void InputMaker::fillListTokens(CompressPlanOp op, unsigned argument,
                                Random &random) {
  Launch launch = makeLaunch(op);
  BlockArgument value = func.getArgument(argument);
  int64_t window = op.getWindow(), count = getCount(argument), ends = 0;
  PagedAppendOp append = findAppend(op);
  int64_t pool = int64_t(1) << 20;
  if (append)
    pool = std::min<int64_t>(getPages(append.getCache()) *
                                 append.getCache().getType().getPage(),
                             pool);
  for (int64_t token = 0; token < count; ++token)
    store(argument, token, random.below(2) ? -1 : 0);
  for (size_t b = 0; b < launch.firsts.size(); ++b)
    for (int64_t token = launch.starts[b];
         token < std::min(launch.starts[b + 1], count); ++token) {
      int64_t position = launch.firsts[b] + token - launch.starts[b];
      bool isEnd = (position + 1) % window == 0;
      int64_t number = value == op.getPositions() ? position : int64_t(b);
      if (value == op.getSlots())
        number = isEnd && ends < pool ? ends++ : -1;
      store(argument, token, number);
    }
  if (value == op.getSlots()) {
    // Padding has none.
    int64_t used = launch.starts.back();
    for (int64_t token = used; token < count; ++token)
      store(argument, token, -1);
    spoil(count, 2, 24, random, [&](int64_t at, uint64_t kind) {
      store(argument, at, kind ? -1 : INT32_MIN);
    });
    return;
  }
  bool isPosition = value == op.getPositions();
  int64_t requests = launch.firsts.size();
  spoil(count, keepsSlotsApart(op) ? 5 : 3, 24, random,
        [&](int64_t at, uint64_t kind) {
          int64_t other = isPosition ? load(value, at) + 1
                                     : int64_t(random.below(requests + 1));
          const int64_t bad[] = {-1, INT32_MIN, INT32_MAX, requests, other};
          store(argument, at, bad[kind]);
        });
}

void InputMaker::fillListRequests(CompressPlanOp op, unsigned argument,
                                  Random &random) {
  Launch launch = makeLaunch(op);
  BlockArgument value = func.getArgument(argument);
  int64_t count = getCount(argument), tokens = countListTokens(op);
  bool isLength = value == op.getLengths();
  std::vector<int64_t> numbers = value == op.getStarts() ? launch.starts
                                 : value == op.getEntryStarts()
                                     ? launch.entryStarts
                                     : launch.firsts;
  for (int64_t at = 0; at < count; ++at) {
    int64_t number = at < int64_t(numbers.size()) ? numbers[at] : -1;
    if (isLength && number >= 0)
      number += launch.starts[at + 1] - launch.starts[at];
    store(argument, at, number);
  }
  if (!isLength && !keepsSlotsApart(op))
    return;
  spoil(count, 5, 24, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, INT32_MIN, INT32_MAX, load(value, at) + 1,
                           int64_t(random.below(tokens + 3))};
    store(argument, at, bad[kind]);
  });
}

/// Entries of the state, none of two requests. That before a launch may be that
/// after it if no segment follows the one that continues it.
void InputMaker::fillListStates(CompressPlanOp op, unsigned argument,
                                Random &random) {
  Launch launch = makeLaunch(op);
  int64_t window = op.getWindow(), count = getCount(argument);
  auto compress = findUser<CompressOp>(op, 0);
  int64_t pool = 2 * count;
  if (compress)
    pool =
        getPages(compress.getState()) * compress.getState().getType().getPage();
  // The same for both operands.
  Random shared(seeds.front() ^ 0x2545F491ULL);
  std::vector<int32_t> order = shuffle(pool, shared);
  bool isTo = func.getArgument(argument) == op.getTo();
  for (int64_t b = 0; b < count; ++b) {
    bool inPlace = shared.below(2);
    if (b < int64_t(launch.firsts.size())) {
      int64_t first = launch.firsts[b];
      int64_t tokens = launch.starts[b + 1] - launch.starts[b];
      inPlace &= first % window + tokens <= window;
    }
    int64_t at = 2 * b + (isTo && !inPlace);
    store(argument, b, at < pool ? order[at] : -1);
  }
  spoil(count, 4, 24, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, INT32_MIN, INT32_MAX, pool};
    store(argument, at, bad[kind]);
  });
}

/// Pages of the compressed cache, none of two requests.
void InputMaker::fillListTable(CompressPlanOp op, unsigned argument,
                               Random &random) {
  PagedAppendOp append = findAppend(op);
  int64_t count = getCount(argument);
  int64_t pages = append ? getPages(append.getCache()) : count;
  std::vector<int32_t> order = shuffle(pages, random);
  for (int64_t at = 0; at < count; ++at)
    store(argument, at, at < pages ? order[at] : -1);
  spoil(count, append ? 2 : 3, 24, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, INT32_MIN, INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

void InputMaker::fillWorkList(unsigned argument, Random &random) {
  CompressPlanOp op = uses[argument].plan;
  BlockArgument value = func.getArgument(argument);
  if (value == op.getPageTable())
    return fillListTable(op, argument, random);
  if (value == op.getFrom() || value == op.getTo())
    return fillListStates(op, argument, random);
  bool ofRequests = value == op.getStarts() || value == op.getEntryStarts() ||
                    value == op.getLengths();
  return ofRequests ? fillListRequests(op, argument, random)
                    : fillListTokens(op, argument, random);
}
