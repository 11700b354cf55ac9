//===- RandomRouter.cpp - Logits, token ids, tables of experts ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

namespace {
/// What the logits of a row are like.
enum LogitKind : uint64_t {
  Usual,
  VeryNegative, ///< Where a softplus that is not stable is 0.
  Wide,
  Repeated,
  Odd, ///< NaN, infinities, zeros, and what the functions end at.
  NearlyAllNaN,
  AllNaN,
  kLogitKinds
};
} // namespace

static float makeLogit(LogitKind kind, bool finite, Random &random) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float odd[] = {0.0f,   -0.0f,    20.0f,     -16.7f,
                       -87.5f, -100.0f,  -174.5f,   1e30f,
                       -1e30f, infinity, -infinity, std::nanf("")};
  float unit = 2 * float(random.unit()) - 1;
  switch (kind) {
  case VeryNegative:
    return -17 - 83 * std::fabs(unit);
  case Wide:
    return 200 * unit;
  case Repeated:
    return float(random.below(3)) - 1;
  case NearlyAllNaN:
    return random.below(8) ? std::nanf("") : odd[random.below(12)];
  case AllNaN:
    return std::nanf("");
  case Odd:
    return random.below(3) ? 4 * unit : odd[random.below(finite ? 9 : 12)];
  default:
    return 6 * unit;
  }
}

void InputMaker::fillLogits(BlockArgument argument, Random &random) {
  std::vector<char> &bytes = set.bytes[getBinding(argument)];
  Type type = cast<RankedTensorType>(argument.getType()).getElementType();
  Format format = *reference::getFormat(type);
  int64_t width = bitWidth(format) / 8, columns = getShape(argument).back();
  for (size_t at = 0; at < bytes.size(); at += columns * width) {
    auto kind = LogitKind(random.below(2) ? Usual : random.below(kLogitKinds));
    if (codes == Codes::Finite && (kind == NearlyAllNaN || kind == AllNaN))
      kind = Wide;
    for (int64_t i = 0; i < columns; ++i) {
      uint32_t code = encodeAs(
          format, makeLogit(kind, codes == Codes::Finite, random), codes);
      std::memcpy(bytes.data() + at + i * width, &code, width);
    }
  }
}

/// Whether an op of the program computes with the result of `op`.
static bool isComputedWith(RouterLogitsOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    return !user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Fills rows, or experts. Those of small integers, times a power of two, have
/// exact logits, as ops that compute with them need. Sometimes a row has
/// elements that are not finite: one infinity, or a NaN.
void InputMaker::fillMatrix(BlockArgument argument, Random &random) {
  RouterLogitsOp op = uses[argument.getArgNumber()].router;
  std::vector<char> &bytes = set.bytes[getBinding(argument)];
  Type type = cast<RankedTensorType>(argument.getType()).getElementType();
  Format format = *reference::getFormat(type);
  int64_t width = bitWidth(format) / 8, extent = getShape(argument).back();
  bool areIntegers = isComputedWith(op);
  // With an infinity in a row, parts of wide weights decide.
  bool mayBeInfinite = argument != op.getHidden() || !op.hasWideWeights();
  for (size_t at = 0; at < bytes.size(); at += extent * width) {
    // Of a sum of at most 2^22.
    const int64_t magnitude = 1 + int64_t(random.below(16));
    const int exponent = int(random.below(12)) - 9;
    if (areIntegers || random.below(3) == 0) {
      for (int64_t i = 0; i < extent; ++i) {
        auto integer = int64_t(random.below(2 * magnitude + 1)) - magnitude;
        uint32_t code = encode(format, std::ldexp(double(integer), exponent));
        std::memcpy(bytes.data() + at + i * width, &code, width);
      }
    } else {
      std::vector<uint8_t> reals = randomReals(format, extent, random);
      std::copy(reals.begin(), reals.end(), bytes.begin() + at);
    }
    uint64_t kind = random.below(24);
    bool isInfinite = kind == 0 && codes != Codes::Finite && mayBeInfinite;
    if (isInfinite || (kind == 1 && codes == Codes::All)) {
      double value = isInfinite ? std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::quiet_NaN();
      uint32_t code = encode(format, value);
      std::memcpy(bytes.data() + at + random.below(extent) * width, &code,
                  width);
    }
  }
}

/// Numbers below `bound`, sometimes ones that are outside.
void InputMaker::fillBelow(unsigned argument, int64_t bound, Random &random) {
  const int64_t outside[] = {-1, bound, INT32_MIN, INT32_MAX};
  for (int64_t i = 0; i < getCount(argument); ++i)
    store(argument, i,
          bound > 0 && random.below(16) ? int64_t(random.below(bound))
                                        : outside[random.below(4)]);
}

void InputMaker::fillValidRows(unsigned argument, Random &random) {
  auto destination = dyn_cast<BlockArgument>(uses[argument].rows);
  int64_t rows = 64;
  if (destination) {
    ArrayRef<int64_t> shape = getShape(destination).drop_back();
    rows = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<>());
  }
  const int64_t edges[] = {0,        1,         rows - 1,  rows,
                           rows + 1, INT32_MAX, INT32_MIN, -1};
  bool isEdge = random.below(3) == 0 && indices != Indices::Valid;
  store(argument, 0,
        isEdge ? edges[random.below(std::size(edges))]
               : int64_t(random.below(rows + 1)));
}

/// The maximum index that a table may hold: the experts of an op that uses the
/// looked-up row.
static int64_t getExperts(LookupOp op) {
  for (Operation *user : op->getUsers())
    if (auto weights = dyn_cast<RouteWeightsOp>(user))
      return weights.getExperts();
  return 256;
}

/// Experts, and shared ones in the last columns. Sometimes a shared one is
/// among the others, or the other way round.
void InputMaker::fillExperts(unsigned argument, RouteWeightsOp op,
                             Random &random) {
  int64_t experts = op.getExperts(), shared = op.getSharedCount();
  fillBelow(argument, experts + shared, random);
  for (int64_t at = 0; shared && at < getCount(argument); ++at) {
    int64_t column = at % op.getColumns();
    if (random.below(8))
      store(argument, at,
            column < op.getK() ? int64_t(random.below(experts))
                               : experts + column - op.getK());
  }
}

/// The maximum of indices, or of entries of their table.
static int64_t getBound(MapIndicesOp op, BlockArgument argument) {
  if (op.getTable() && argument == op.getIndices())
    return cast<ShapedType>(op.getTable().getType()).getDimSize(0);
  for (Operation *user : op->getUsers())
    if (auto weights = dyn_cast<RouteWeightsOp>(user))
      return weights.getExperts();
  return 256;
}

void InputMaker::fillRouting(BlockArgument argument, Use use, Random &random) {
  unsigned index = argument.getArgNumber();
  if (use.weights)
    return fillExperts(index, use.weights, random);
  if (use.map)
    return fillBelow(index, getBound(use.map, argument), random);
  if (argument == use.lookup.getTable())
    return fillBelow(index, getExperts(use.lookup), random);
  fillBelow(index, getShape(use.lookup.getTable()).front(), random);
}
