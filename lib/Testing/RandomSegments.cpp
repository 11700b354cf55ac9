//===- RandomSegments.cpp - Segments of windows, and where their state is -===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No segment reads an entry that another writes, even if its plan is invalid:
// each entry of the state belongs to one segment, which may read it, write it,
// or both.
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include <algorithm>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// The segments that tokens of some requests make: of each what is left of a
/// window, whole windows, and the beginning of the next one.
std::vector<InputMaker::Segment>
InputMaker::makeSegments(CompressOp op, int64_t tokens, int64_t entries,
                         Random &random) const {
  int64_t window = op.getWindow();
  std::vector<Segment> segments;
  int64_t token = 0;
  while (int64_t(segments.size()) < entries) {
    // Of one token, of a few, or enough for several windows.
    int64_t max[] = {1, std::min<int64_t>(window, 5), 2 * window + 1};
    int64_t left = 1 + random.below(max[random.below(3)]);
    int64_t starts = random.below(2) ? 4 : (INT32_MAX - 8192) / window;
    int64_t position = random.below(std::max<int64_t>(starts, 1)) * window;
    // At the beginning of a window, so that it ends, or anywhere.
    int64_t offsets[] = {
        0, window - 1 - int64_t(random.below(std::min(left, window))),
        int64_t(random.below(window))};
    position += offsets[random.below(3)];
    if (token + left > tokens)
      token = random.below(std::max<int64_t>(tokens - left + 1, 1));
    while (left > 0 && int64_t(segments.size()) < entries) {
      int64_t count = std::min(left, window - position % window);
      segments.push_back({position, count, token, -1, -1});
      position += count;
      token += count;
      left -= count;
    }
  }
  return segments;
}

void InputMaker::fillSegments(unsigned argument, Random &random) {
  CompressOp op = uses[argument].compress;
  int64_t entries = getCount(argument) / 5, window = op.getWindow();
  bool known = isa<BlockArgument>(op.getValues());
  int64_t tokens = known ? getShape(op.getValues()).front() : entries;
  int64_t pool = getPages(op.getState()) * op.getState().getType().getPage();
  std::vector<Segment> segments = makeSegments(op, tokens, entries, random);

  std::vector<int32_t> free = shuffle(pool, random);
  auto take = [&]() -> int64_t {
    if (free.empty())
      return -1;
    int64_t entry = free.back();
    free.pop_back();
    return entry;
  };
  for (Segment &segment : segments) {
    auto &[position, count, token, from, to] = segment;
    if (position % window != 0 && random.below(8) != 0)
      from = take();
    if (random.below(4) != 0)
      to = from >= 0 && random.below(2) ? from : take();
  }
  spoil(entries, 15, 24, random, [&](int64_t entry, uint64_t kind) {
    auto &[position, count, token, from, to] = segments[entry];
    int64_t some = random.below(2 * window);
    switch (kind) {
    case 0:
    case 1:
    case 2:
      position = std::array<int64_t, 3>{-1, INT32_MIN, INT32_MAX - some}[kind];
      break;
    case 3:
    case 4:
    case 5:
      count = std::array<int64_t, 3>{0, -some, INT32_MAX}[kind - 3];
      break;
    case 6:
    case 7:
    case 8:
      token =
          std::array<int64_t, 3>{-1, tokens - some % 3, INT32_MAX}[kind - 6];
      break;
    case 9:
    case 10:
    case 11:
      from =
          std::array<int64_t, 3>{-some - 1, pool + some, INT32_MAX}[kind - 9];
      break;
    default:
      to = std::array<int64_t, 3>{-some - 1, pool + some, INT32_MAX}[kind - 12];
      break;
    }
  });
  for (auto [i, segment] : llvm::enumerate(segments))
    for (auto [column, value] : llvm::enumerate(segment))
      store(argument, 5 * i + column, value);
}
