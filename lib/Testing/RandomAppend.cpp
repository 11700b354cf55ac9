//===- RandomAppend.cpp - Which entries an append writes ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two rows for one entry would race if the op does not define which of them
// wins. So the pages of a ring, and the positions of a request, are all
// different.
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Lengths after the launch, most of a ring that has wrapped.
void InputMaker::fillAppendLengths(unsigned argument, Random &random) {
  PagedAppendOp op = uses[argument].append;
  int64_t count = getCount(argument);
  int64_t max = 4 * *op.getRing() + getShape(op.getIndices()).front();
  // A table of rotations for the same positions has no more.
  for (Operation *user : op.getIndices().getUsers())
    if (auto rope = dyn_cast<RopeOp>(user))
      if (isa<BlockArgument>(rope.getTable()))
        max = std::min(max, getShape(rope.getTable()).front());
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, 1 + random.below(std::max<int64_t>(max, 1)));
  spoil(count, 3, 64, random, [&](int64_t at, uint64_t kind) {
    const int64_t lengths[] = {0, -5, INT32_MAX};
    store(argument, at, lengths[kind]);
  });
  if (!op.getRequests() || !op.hasLengthsPerToken())
    return;
  // Tokens of a request have the length of its first.
  llvm::DenseMap<int64_t, int64_t> first;
  for (int64_t i = 0; i < count; ++i)
    store(argument, i,
          load(op.getLengths(),
               first.try_emplace(load(op.getRequests(), i), i).first->second));
}

/// The number of requests: rows of lengths or of a page table, or rings in the
/// pool.
int64_t InputMaker::getRequests(PagedAppendOp op) const {
  if (op.getIndptr())
    return getShape(op.getIndptr()).front() - 1;
  if (!op.getRing())
    return getShape(op.getPageTable()).front();
  if (!op.hasLengthsPerToken())
    return getShape(op.getLengths()).front();
  if (op.getPageTable())
    return getShape(op.getPageTable()).front();
  return getPages(op.getCache()) * op.getCache().getType().getPage() /
         int64_t(*op.getRing());
}

/// Requests of tokens; one has many.
void InputMaker::fillAppendRequests(unsigned argument, Random &random) {
  int64_t rows = getRequests(uses[argument].append);
  int64_t count = getCount(argument);
  uint64_t bound = std::max<int64_t>(rows, 1), busy = random.below(bound);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, random.below(3) == 0 ? busy : random.below(bound));
  spoil(count, 4, 64, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, rows, INT32_MIN, INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

/// A page of its own for every entry of the table, as long as there are pages;
/// first for the begin of rings.
void InputMaker::fillAppendTable(unsigned argument, Random &random) {
  PagedAppendOp op = uses[argument].append;
  ArrayRef<int64_t> shape = getShape(op.getPageTable());
  int64_t pages = getPages(op.getCache()), count = getCount(argument);
  std::vector<int32_t> order = shuffle(pages, random);
  int64_t width = shape.size() == 1 ? 1 : shape[1];
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = i % shape[0], column = i / shape[0];
    store(argument, row * width + column, i < pages ? order[i] : -1);
  }
  spoil(count, 4, 32, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, pages, -7, INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

/// The last positions of every request, one for each of its tokens, in order or
/// not.
void InputMaker::fillRingPositions(unsigned argument, Random &random) {
  PagedAppendOp op = uses[argument].append;
  int64_t count = getCount(argument);
  auto getRequest = [&](int64_t token) -> int64_t {
    return op.getRequests() ? load(op.getRequests(), token) : token;
  };
  // Of an unknown request it does not matter.
  auto getLength = [&](int64_t token) -> int64_t {
    int64_t at = op.hasLengthsPerToken() ? token : getRequest(token);
    bool known = at >= 0 && at < getShape(op.getLengths()).front();
    return known ? load(op.getLengths(), at) : count;
  };
  std::map<int64_t, std::vector<int64_t>> tokens;
  for (int64_t token = 0; token < count; ++token)
    tokens[getRequest(token)].push_back(token);
  for (auto &[request, own] : tokens) {
    int64_t first = getLength(own.front()) - int64_t(own.size());
    std::vector<int32_t> order = shuffle(own.size(), random);
    bool inOrder = random.below(2);
    for (size_t i = 0; i < own.size(); ++i)
      store(argument, own[i], first + (inOrder ? int64_t(i) : order[i]));
  }
  spoil(count, 3, 24, random, [&](int64_t at, uint64_t kind) {
    int64_t left = getLength(at) - *op.getRing() - 1 - int64_t(random.below(9));
    const int64_t skipped[] = {-1, INT32_MIN, left};
    store(argument, at, skipped[kind]);
  });
}

//===----------------------------------------------------------------------===//
// Positions by pages
//===----------------------------------------------------------------------===//

/// The pages of a table in parts of several sizes, some of none; now and then
/// the first begins before the table, or the last ends after it.
void InputMaker::fillPageStarts(unsigned argument, Random &random) {
  PagedAppendOp op = uses[argument].append;
  int64_t count = getCount(argument);
  int64_t pages = getShape(op.getPageTable()).front();
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < count; ++i)
    starts.push_back(random.below(pages + 1));
  llvm::sort(starts);
  if (count > 0) {
    starts.front() = 0;
    starts.back() = count > 1 ? pages : 0;
  }
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, starts[i]);
  // Requests whose pages overlap could write one entry twice, so only ends that
  // nobody's pages follow are spoilt.
  spoil(count, 2, 64, random, [&](int64_t at, uint64_t kind) {
    if (at == count - 1 && kind == 0)
      store(argument, at, pages + 3);
    if (at == 0 && kind == 1)
      store(argument, at, -2);
  });
}

int64_t InputMaker::getPagesOf(PagedAppendOp op, int64_t request) const {
  if (request < 0 || request >= getRequests(op))
    return 0;
  if (!op.getIndptr())
    return getShape(op.getPageTable()).back();
  return load(op.getIndptr(), request + 1) - load(op.getIndptr(), request);
}

/// Different positions for the tokens of a request, as long as it has pages.
void InputMaker::fillPagedPositions(unsigned argument, Random &random) {
  PagedAppendOp op = uses[argument].append;
  int64_t count = getCount(argument);
  int64_t page = op.getCache().getType().getPage();
  std::map<int64_t, std::vector<int64_t>> tokens;
  for (int64_t token = 0; token < count; ++token)
    tokens[op.getRequests() ? load(op.getRequests(), token) : token].push_back(
        token);
  for (auto &[request, own] : tokens) {
    int64_t positions = getPagesOf(op, request) * page;
    int64_t left = positions - int64_t(own.size());
    int64_t first = left > 0 ? int64_t(random.below(left + 1)) : 0;
    std::vector<int32_t> order = shuffle(own.size(), random);
    for (size_t i = 0; i < own.size(); ++i)
      store(argument, own[i], first + order[i]);
  }
  spoil(count, 4, 24, random, [&](int64_t at, uint64_t kind) {
    int64_t request = op.getRequests() ? load(op.getRequests(), at) : at;
    int64_t end = getPagesOf(op, request) * page;
    const int64_t bad[] = {-1, end + int64_t(random.below(9)), INT32_MAX,
                           INT32_MIN};
    store(argument, at, bad[kind]);
  });
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Entries of the pool, all different, then none; without `unique` some come
/// again.
void InputMaker::fillSlots(unsigned argument, Random &random) {
  PagedAppendOp op = uses[argument].append;
  int64_t page = op.getCache().getType().getPage();
  int64_t entries = getPages(op.getCache()) * page;
  int64_t pool = std::min<int64_t>(entries, INT32_MAX);
  int64_t count = getCount(argument);
  // A shuffle of the pool of which only the beginning is made, as the pool may
  // be much larger than the launch.
  llvm::DenseMap<int64_t, int64_t> moved;
  auto get = [&](int64_t at) {
    auto it = moved.find(at);
    return it == moved.end() ? at : it->second;
  };
  for (int64_t i = 0; i < count; ++i) {
    int64_t slot = -1;
    if (i < pool) {
      int64_t from = i + int64_t(random.below(pool - i));
      slot = get(from);
      moved[from] = get(i);
    }
    if (!op.getUnique() && i > 0 && random.below(8) == 0)
      slot = load(op.getIndices(), random.below(i));
    store(argument, i, slot);
  }
  spoil(count, 5, 24, random, [&](int64_t at, uint64_t kind) {
    int64_t beyond = entries + int64_t(random.below(2 * page));
    const int64_t bad[] = {-1, entries, beyond, INT32_MAX, INT32_MIN};
    store(argument, at, bad[kind]);
  });
  if (op.getInBytes())
    toBytes(argument, op.getCache().getType(), random);
}
