//===- RandomTopk.cpp - Adversarial rows ----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

namespace {
/// What a row is like.
enum RowKind : uint64_t {
  Normal,
  OneValue,
  FewValues,
  Ascending,
  Descending,
  LastBits, ///< Only the last bits of the significand differ.
  OneOctave,
  Specials, ///< NaN, infinities, zeros of both signs, denormals.
  MostlyNaN,
  CountedNaN, ///< About k NaN, among infinities and numbers.
  HighAtEnd,
  kRowKinds
};
} // namespace

/// Sum of uniform numbers, near enough to normal.
static float makeNormal(Random &random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i)
    sum += random.unit();
  return float(sum);
}

static float makeSpecial(Random &random) {
  const uint32_t bits[] = {0x7FC00000, 0xFFC00001, 0x7F800000, 0xFF800000,
                           0x00000000, 0x80000000, 0x00000001, 0x80000001,
                           0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0x7F800001};
  return llvm::bit_cast<float>(bits[random.below(12)]);
}

static float makeKey(RowKind kind, int64_t i, int64_t count, float center,
                     Random &random) {
  switch (kind) {
  case OneValue:
    return center;
  case FewValues:
    return float(random.below(3)) - 1;
  case Ascending:
    return center + float(i) * 0.25f;
  case Descending:
    return center - float(i) * 0.25f;
  case LastBits:
    return llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(center) ^
                                 uint32_t(random.below(4)));
  case OneOctave:
    return 1 + float(random.unit());
  case Specials:
    return random.below(3) ? makeSpecial(random) : makeNormal(random);
  case MostlyNaN:
    return random.below(16) ? llvm::bit_cast<float>(0x7FC00000u)
                            : makeNormal(random);
  case CountedNaN:
    return random.below(3) ? makeNormal(random)
                           : (random.below(2) ? 1 : -1) *
                                 std::numeric_limits<float>::infinity();
  case HighAtEnd:
    return makeNormal(random) + (i > count - count / 16 ? 100 : 0);
  default:
    return makeNormal(random);
  }
}

/// How many elements of a row are NaN, of `k` that are selected: fewer, as
/// many, or more.
static int64_t drawNaNs(int64_t k, int64_t columns, Random &random) {
  const int64_t counts[] = {0, 1, k - 1, k, k + 1, 2 * k, columns - 1};
  return std::min(counts[random.below(std::size(counts))], columns);
}

void InputMaker::fillKeys(BlockArgument argument, Random &random) {
  std::vector<char> &bytes = set.bytes[getBinding(argument)];
  Type type = cast<RankedTensorType>(argument.getType()).getElementType();
  Format format = *reference::getFormat(type);
  int64_t width = bitWidth(format) / 8, columns = getShape(argument).back();
  int64_t k = uses[argument.getArgNumber()].topk.getK();
  if (columns == 0)
    return;
  for (size_t at = 0; at < bytes.size(); at += columns * width) {
    auto kind = RowKind(random.below(2) ? Normal : random.below(kRowKinds));
    if (codes == Codes::Finite &&
        (kind == Specials || kind == MostlyNaN || kind == CountedNaN))
      kind = FewValues;
    float center = makeNormal(random);
    int64_t nans = kind == CountedNaN ? drawNaNs(k, columns, random) : 0;
    for (int64_t i = 0; i < columns; ++i) {
      float key = makeKey(kind, i, columns, center, random);
      // Every element that is left is one of them with the same probability.
      if (nans > 0 && int64_t(random.below(columns - i)) < nans) {
        key = std::numeric_limits<float>::quiet_NaN();
        --nans;
      }
      uint32_t code = encodeAs(format, key, codes);
      // Rounding would make one NaN of all.
      std::memcpy(bytes.data() + at + i * width, &code, width);
    }
  }
}

//===----------------------------------------------------------------------===//
// Lengths, requests, page tables
//===----------------------------------------------------------------------===//

int64_t InputMaker::getSelectedColumns(TopkOp op) const {
  auto scores = dyn_cast<BlockArgument>(op.getScores());
  return scores ? getShape(scores).back()
                : cast<ShapedType>(op.getScores().getType()).getShape().back();
}

/// Rows of scores of rank 2, or 1 if no argument says how many there are.
int64_t InputMaker::getSelectedRows(TopkOp op) const {
  for (Value value : {Value(op.getScores()), op.getIndices()})
    if (isa<BlockArgument>(value))
      return getShape(value).front();
  return 1;
}

void InputMaker::fillSelectedStarts(unsigned argument, Random &random) {
  int64_t columns = getSelectedColumns(uses[argument].topk);
  const int64_t edges[] = {
      -1, 0, 1, 2, 3, columns, columns - 1, INT32_MIN, INT32_MAX, columns + 1};
  // Mostly in the first half, so that elements are left.
  fillWithEdges(argument, 4, edges, random,
                [&] { return int64_t(random.below(columns / 2 + 1)); });
}

void InputMaker::fillSelectedEnds(unsigned argument, Random &random) {
  int64_t columns = getSelectedColumns(uses[argument].topk);
  const int64_t edges[] = {-1,          0,         1,         columns,
                           columns - 1, INT32_MIN, INT32_MAX, columns + 1};
  fillWithEdges(argument, 4, edges, random, [&] {
    return columns - int64_t(random.below(columns / 2 + 1));
  });
}

void InputMaker::fillSelectedOffsets(unsigned argument, Random &random) {
  // None that makes -1 of an index, which would be as padding is.
  const int64_t edges[] = {0, TopkOp::kMaxColumns, INT32_MAX, INT32_MIN,
                           -3 * TopkOp::kMaxColumns};
  fillWithEdges(argument, 4, edges, random,
                [&] { return int64_t(random.below(1 << 20)); });
}

void InputMaker::fillSelectedPageStarts(unsigned argument, Random &random) {
  int64_t pages = getShape(uses[argument].topk.getPageTable()).back();
  const int64_t edges[] = {-1,        pages - 1, pages,
                           pages + 1, INT32_MIN, INT32_MAX};
  fillWithEdges(argument, 4, edges, random,
                [&] { return int64_t(random.below(pages / 2 + 1)); });
}

void InputMaker::fillSelectedLengths(unsigned argument, Random &random) {
  TopkOp op = uses[argument].topk;
  int64_t columns = getSelectedColumns(op), k = op.getK();
  const int64_t edges[] = {-1,          0,         1,           k - 1,
                           k,           k + 1,     columns - 1, columns,
                           columns + 1, INT32_MIN, INT32_MAX,   k * 2};
  fillWithEdges(argument, 3, edges, random,
                [&] { return int64_t(random.below(columns + 1)); });
}

void InputMaker::fillSelectedRequests(unsigned argument, Random &random) {
  int64_t rows = getShape(uses[argument].topk.getPageTable()).front();
  const int64_t edges[] = {-1, rows, INT32_MIN, INT32_MAX};
  fillWithEdges(argument, 16, edges, random, [&] {
    return int64_t(random.below(std::max<int64_t>(rows, 1)));
  });
}

void InputMaker::fillSelectedTable(unsigned argument, Random &random) {
  int64_t page = *uses[argument].topk.getPage();
  // The last is that of a slot beyond int32.
  const int64_t edges[] = {-1, -7, INT32_MIN, INT32_MAX / page + 1};
  fillWithEdges(argument, 12, edges, random, [&] {
    return int64_t(random.below(INT32_MAX / page / 2 + 1));
  });
}
