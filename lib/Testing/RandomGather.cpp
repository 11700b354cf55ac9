//===- RandomGather.cpp - Which entries a gather reads --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// Ragged requests
//===----------------------------------------------------------------------===//

/// The shape of the destination of ragged rows, which may be the result of
/// another gather; nothing where it is no argument.
ArrayRef<int64_t> InputMaker::getRowShape(PagedGatherOp op) const {
  Value value = op.getRowOperand();
  while (auto result = dyn_cast<OpResult>(value)) {
    auto styled = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!styled)
      return {};
    value = styled.getTiedOpOperand(result)->get();
  }
  return getShape(value);
}

/// Requests that a page table, or what says where requests begin, is for.
int64_t InputMaker::getRequests(PagedGatherOp op) const {
  if (op.getIndptr())
    return std::max<int64_t>(getShape(op.getIndptr()).front() - 1, 0);
  return getShape(op.getPageTable()).front();
}

/// The last request that begins at row `row` or before it.
int64_t InputMaker::findRequest(PagedGatherOp op, int64_t row) const {
  Value starts = op.getCuSeqLens() ? op.getCuSeqLens() : op.getRowStarts();
  int64_t found = 0;
  for (int64_t i = 0; i < getShape(starts).front(); ++i)
    if (load(starts, i) <= row)
      found = i;
  return found;
}

/// The physical page of a request's logical one, -1 where there is none.
int64_t InputMaker::findPage(PagedGatherOp op, int64_t request,
                             int64_t page) const {
  Value table = op.getPageTable();
  ArrayRef<int64_t> shape = getShape(table);
  if (Value indptr = op.getIndptr()) {
    if (request < 0 || request >= getRequests(op))
      return -1;
    int64_t at = load(indptr, request) + page;
    bool listed = at >= 0 && at < load(indptr, request + 1);
    return listed && at < shape.front() ? load(table, at) : -1;
  }
  int64_t row = 0, rows = 1;
  if (shape.size() == 2) {
    row = request;
    rows = shape.front();
  }
  if (row < 0 || row >= rows || page >= shape.back())
    return -1;
  return load(table, row * shape.back() + page);
}

/// Numbers that ascend to about `end`: some beyond, and many the same.
void InputMaker::fillStarts(unsigned argument, int64_t end, Random &random) {
  int64_t count = getCount(argument), at = 0;
  int64_t step = 2 * end / std::max<int64_t>(count - 1, 1) + 1;
  for (int64_t i = 0; i < count; ++i) {
    store(argument, i, at);
    if (random.below(4) != 0)
      at += random.below(step + step / 4 + 1);
  }
  spoil(count, 5, 24, random, [&](int64_t i, uint64_t kind) {
    const int64_t bad[] = {0, -1, end + 3, INT32_MIN, INT32_MAX};
    store(argument, i, bad[kind]);
  });
}

void InputMaker::fillRagged(unsigned argument, Random &random) {
  PagedGatherOp op = uses[argument].gather;
  Value value = func.getArgument(argument);
  ArrayRef<int64_t> shape = getRowShape(op);
  int64_t rows = shape.empty() ? 0 : shape[op.hasFlatRows() ? 0 : 1];
  if (value == op.getIndptr())
    return fillStarts(argument, getShape(op.getPageTable()).front(), random);
  if (value == op.getCuSeqLens() || value == op.getRowStarts())
    return fillStarts(argument, rows, random);
  if (value == op.getRowOffset()) {
    // Now and then no row, or none of the last ones.
    const int64_t bad[] = {-1, INT32_MIN, INT32_MAX, rows, rows + 3};
    bool good = random.below(4) != 0 || indices == Indices::Valid;
    return store(argument, 0,
                 good ? random.below(rows / 2 + 1)
                      : bad[random.below(std::size(bad))]);
  }
  // Lengths, or first positions.
  int64_t capacity = getCapacity(op), count = getCount(argument);
  int64_t most = capacity + capacity / 8;
  if (op.getRowStarts())
    most = std::min(most, 2 * rows / std::max<int64_t>(count, 1));
  if (value == op.getGatherLens() && !op.hasFlatRows())
    most = std::min(most, rows + rows / 4);
  if (value == op.getSeqStarts())
    most = capacity / 2;
  for (int64_t i = 0; i < count; ++i)
    store(argument, i,
          random.below(5) == 0 ? 0
                               : random.below(std::max<int64_t>(most, 0) + 1));
  spoil(count, 4, 24, random, [&](int64_t i, uint64_t kind) {
    const int64_t bad[] = {-1, INT32_MIN, INT32_MAX, capacity + 1};
    store(argument, i, bad[kind]);
  });
}

//===----------------------------------------------------------------------===//
// Lengths, requests, page tables
//===----------------------------------------------------------------------===//

/// Entries that the indices of a token can name.
int64_t InputMaker::getCapacity(PagedGatherOp op) const {
  Value table = op.getPageTable();
  int64_t pages = table ? getShape(table).back() : getPages(op.getCache());
  // Requests share a list of pages.
  if (op.getIndptr())
    pages = 2 * pages / std::max<int64_t>(getRequests(op), 1) + 1;
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
  PagedGatherOp op = uses[argument].gather;
  int64_t rows = getRequests(op), count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i,
          op.isRagged() ? findRequest(op, i)
                        : random.below(std::max<int64_t>(rows, 1)));
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
  if (!op.getPageTable())
    return true;
  int64_t request = op.getRequests() ? load(op.getRequests(), token) : token;
  int64_t page =
      findPage(op, request, index / op.getCache().getType().getPage());
  return page >= 0 && page < getPages(op.getCache());
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
    int64_t token = perToken ? i / shape.back() : op.getRequests() ? i : 0;
    // Tokens without any valid entry add to these.
    bool good = random.below(100) >= 12 || indices == Indices::Valid;
    store(argument, i,
          good ? makeGoodIndex(op, token, random)
               : makeBadIndex(op, token, kind++ % 8, random));
  }
  if (op.getInBytes())
    toBytes(argument, op.getCache().getType(), random);
}

void InputMaker::toBytes(unsigned argument, CacheType cache, Random &random) {
  RecordLayout::Position at = getPosition(cache, getFirstField(cache));
  int64_t count = getCount(argument), width = getWidth(argument);
  char *bytes = set.bytes[signature.firstBinding[argument]].data();
  auto put = [&](int64_t i, int64_t offset) {
    if (width == sizeof(int32_t) && !llvm::isInt<32>(offset))
      offset = -1;
    // Little endian: the low half is the i32.
    std::memcpy(bytes + i * width, &offset, width);
  };
  auto getOffset = [&](int64_t i) -> int64_t {
    int64_t slot = load(func.getArgument(argument), i), page = cache.getPage();
    return slot < 0 ? -1
                    : slot / page * at.pageStride + at.base +
                          slot % page * at.slotStride;
  };
  for (int64_t i = 0; i < count; ++i)
    put(i, getOffset(i));
  // Inside of fields, before the first one, after the last one, and numbers
  // whose low half is an offset. None of them is an entry, which may be that of
  // another row.
  spoil(count, 6, 24, random, [&](int64_t i, uint64_t kind) {
    int64_t inside =
        at.base + random.below(cache.getPage()) * at.slotStride + 1;
    const int64_t bad[] = {inside,
                           at.base - 1,
                           at.pageStride - 1,
                           (int64_t(1) << 40) * at.pageStride + at.base,
                           INT64_MIN,
                           INT64_MAX};
    put(i, bad[kind]);
  });
}
