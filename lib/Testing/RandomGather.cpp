//===- RandomGather.cpp - Which entries a gather reads --------------------===//
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
// Lengths, requests, page tables
//===----------------------------------------------------------------------===//

/// Entries that the indices of a token can name.
int64_t InputMaker::getCapacity(PagedGatherOp op) const {
  Value table = op.getPageTable();
  int64_t pages = table ? getShape(table).back() : getPages(op.getCache());
  return pages * op.getCache().getType().getPage();
}

void InputMaker::fillLengths(unsigned argument, Random &random) {
  PagedGatherOp op = uses[argument].gather;
  int64_t capacity = getCapacity(op), count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, 1 + random.below(std::max<int64_t>(capacity, 1)));
  int64_t page = op.getCache().getType().getPage();
  spoil(count, 4, 64, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {
        0, -5, capacity + 1 + int64_t(random.below(2 * page)), INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

void InputMaker::fillRequests(unsigned argument, Random &random) {
  int64_t rows = getShape(uses[argument].gather.getPageTable()).front();
  int64_t count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, random.below(std::max<int64_t>(rows, 1)));
  spoil(count, 2, 64, random, [&](int64_t at, uint64_t kind) {
    const int64_t low[] = {-1, -1, -7, INT32_MIN};
    const int64_t high[] = {rows, rows, rows + 3, INT32_MAX};
    store(argument, at, (kind == 0 ? low : high)[random.below(4)]);
  });
}

void InputMaker::fillTable(unsigned argument, Random &random) {
  int64_t pages = getPages(uses[argument].gather.getCache());
  std::vector<int32_t> order = shuffle(pages, random);
  int64_t count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, pages ? order[i % pages] : 0);
  spoil(count, 6, 24, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, -1, -1, pages, -7, INT32_MAX};
    store(argument, at, bad[kind]);
  });
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether a page of the pool holds entry `index`, which is in the capacity.
bool InputMaker::isMapped(PagedGatherOp op, int64_t token,
                          int64_t index) const {
  Value table = op.getPageTable();
  if (!table)
    return true;
  ArrayRef<int64_t> shape = getShape(table);
  int64_t row = 0, rows = shape.size() == 2 ? shape.front() : 1;
  if (shape.size() == 2)
    row = op.getRequests() ? load(op.getRequests(), token) : token;
  if (row < 0 || row >= rows)
    return false;
  int64_t page = index / op.getCache().getType().getPage();
  int64_t physical = load(table, row * shape.back() + page);
  return physical >= 0 && physical < getPages(op.getCache());
}

/// The length of a token, that of its request if there is one per request.
int64_t InputMaker::getLength(PagedGatherOp op, int64_t token) const {
  if (!op.hasLengthsPerRequest())
    return load(op.getLengths(), token);
  int64_t request = load(op.getRequests(), token);
  bool known = request >= 0 && request < getShape(op.getLengths()).front();
  return known ? load(op.getLengths(), request) : 0;
}

/// An index that names an entry, where one is found.
int64_t InputMaker::makeGoodIndex(PagedGatherOp op, int64_t token,
                                  Random &random) const {
  int64_t bound = std::min<int64_t>(getCapacity(op), INT32_MAX);
  if (op.getLengths())
    bound = std::min<int64_t>(bound, getLength(op, token));
  if (bound <= 0)
    return random.below(op.getCache().getType().getPage());
  int64_t index = 0;
  for (unsigned attempt = 0; attempt < 32; ++attempt) {
    index = random.below(bound);
    if (isMapped(op, token, index))
      break;
  }
  return index;
}

int64_t InputMaker::makeBadIndex(PagedGatherOp op, int64_t token, uint64_t kind,
                                 Random &random) const {
  int64_t page = op.getCache().getType().getPage();
  int64_t capacity = getCapacity(op);
  int64_t length = op.getLengths() ? getLength(op, token) : capacity;
  int64_t further = random.below(2 * page);
  switch (kind) {
  case 0:
    return -1;
  case 1: // The first beyond the length.
    return std::max<int64_t>(length, 0);
  case 2:
    return std::max<int64_t>(length, 0) + further;
  case 3: // Beyond the table, or the pool where there is none.
    return capacity + further;
  case 4: // Beyond the pool.
    return getPages(op.getCache()) * page + further;
  case 5:
    return INT32_MIN;
  case 6:
    return INT32_MAX;
  default: // Perhaps a page without a mapping, perhaps beyond the length.
    return random.below(std::max<int64_t>(capacity, 1));
  }
}

void InputMaker::fillIndices(unsigned argument, Random &random) {
  PagedGatherOp op = uses[argument].gather;
  ArrayRef<int64_t> shape = getShape(op.getIndices());
  bool perToken = shape.size() == 2;
  int64_t count = getCount(argument);
  uint64_t kind = random.below(8);
  for (int64_t i = 0; i < count; ++i) {
    int64_t token = perToken ? i / shape.back() : 0;
    // Tokens without any valid entry add to these.
    bool good = random.below(100) >= 12 || indices == Indices::Valid;
    store(argument, i,
          good ? makeGoodIndex(op, token, random)
               : makeBadIndex(op, token, kind++ % 8, random));
  }
}
