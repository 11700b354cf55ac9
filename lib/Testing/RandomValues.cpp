//===- RandomValues.cpp - Numbers that are computed with ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// Positions that nothing has a row for.
static constexpr int64_t kManyPositions = 1 << 20;

/// The format of the elements of a bf16, f16 or f32 argument.
static Format getElementFormat(BlockArgument argument) {
  Type type = cast<RankedTensorType>(argument.getType()).getElementType();
  return *reference::getFormat(type);
}

/// Fills a tensor of weights with numbers of ordinary size.
void InputMaker::fillWeights(BlockArgument argument, Random &random) {
  std::vector<char> &bytes = set.bytes[getBinding(argument)];
  Format format = getElementFormat(argument);
  std::vector<uint8_t> elements =
      randomReals(format, bytes.size() * 8 / bitWidth(format), random);
  std::copy(elements.begin(), elements.end(), bytes.begin());
}

/// A row of numbers of some magnitude.
static std::vector<uint32_t> makeRow(Format format, int64_t extent,
                                     Random &random) {
  std::vector<uint32_t> row(extent);
  uint64_t kind = random.below(12);
  int exponent = int(random.below(20)) - 12;
  bool isF16 = format == Format::F16;
  if (kind == 1) // So small that floors and subnormals decide.
    exponent =
        isF16 ? -24 + int(random.below(12)) : -149 + int(random.below(40));
  if (kind == 2) // So large that scales are near their end.
    exponent = isF16 ? 8 + int(random.below(8)) : 90 + int(random.below(38));
  for (int64_t i = 0; i < extent; ++i) {
    if (kind == 4 && i % 16 == 0) // Neighbouring groups differ.
      exponent = int(random.below(40)) - 30;
    double value = 2 * random.unit() - 1;
    if (kind == 0)
      value = random.below(2) ? 0.0 : -0.0;
    if (kind == 3) // Halfway between two codes, where the scale allows it.
      value = (double(random.below(129)) - 64) / 64;
    row[i] = encode(format, std::ldexp(value, exponent));
  }
  return row;
}

/// Fills rows of numbers of several magnitudes, some of arbitrary bits.
void InputMaker::fillValues(BlockArgument argument, Random &random) {
  std::vector<char> &bytes = set.bytes[getBinding(argument)];
  Format format = getElementFormat(argument);
  int64_t width = bitWidth(format) / 8, extent = getShape(argument).back();
  uint32_t negative = uint32_t(1) << (8 * width - 1);
  for (size_t at = 0; at < bytes.size(); at += extent * width) {
    if (random.below(12) == 0) {
      auto any = randomElements(format, extent, random, codes);
      std::copy(any.begin(), any.end(), bytes.begin() + at);
      continue;
    }
    std::vector<uint32_t> row = makeRow(format, extent, random);
    // Puts a code, of either sign, into one of `rows` rows.
    auto strew = [&](uint64_t rows, uint64_t spread, uint32_t code) {
      if (random.below(rows) == 0)
        for (uint64_t i = random.below(spread); i < row.size();
             i += 1 + random.below(2 * spread))
          row[i] = code ^ (random.below(2) ? negative : 0);
    };
    strew(3, 16, 0);
    if (codes != Codes::Finite)
      strew(10, extent, largestFinite(format) + 1);
    if (codes == Codes::All)
      strew(6, extent, largestFinite(format) + 2);
    for (int64_t i = 0; i < extent; ++i)
      std::memcpy(bytes.data() + at + i * width, &row[i], width);
  }
}

/// Fills a table of cosines and sines, made by operations that every machine
/// rounds alike.
void InputMaker::fillAngles(BlockArgument argument, Random &random) {
  std::vector<char> &bytes = set.bytes[getBinding(argument)];
  int64_t pairs = getShape(argument).back() / 2;
  Format format = getElementFormat(argument);
  size_t width = bitWidth(format) / 8;
  bool isInterleaved = uses[argument.getArgNumber()].rope.getInterleaved();
  auto put = [&](int64_t at, float value) {
    uint32_t code = encode(format, random.below(2) ? value : -value);
    std::memcpy(bytes.data() + at * width, &code, width);
  };
  for (int64_t row = 0; row < getShape(argument).front(); ++row)
    for (int64_t j = 0; j < pairs; ++j) {
      // Half the angle has the tangent t, of so few bits that its square is
      // exact.
      double t = std::ldexp(double(random.below(1 << 20)), -20);
      double square = t * t;
      float cosine = float((1 - square) / (1 + square));
      float sine = float(2 * t / (1 + square));
      if (random.below(2))
        std::swap(cosine, sine);
      int64_t begin = row * 2 * pairs;
      put(begin + (isInterleaved ? 2 * j : j), cosine);
      put(begin + (isInterleaved ? 2 * j + 1 : pairs + j), sine);
    }
}

void InputMaker::fillPositions(unsigned argument, Random &random) {
  // Of rotations they are rows of a table; others only count them.
  int64_t positions = kManyPositions;
  for (Operation *user : func.getArgument(argument).getUsers())
    if (auto op = dyn_cast<RopeOp>(user))
      positions = std::min(
          positions,
          isa<BlockArgument>(op.getTable())
              ? getShape(op.getTable()).front()
              : cast<RankedTensorType>(op.getTable().getType()).getDimSize(0));
  int64_t count = getCount(argument);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, random.below(std::max<int64_t>(positions, 1)));
  spoil(count, 4, 48, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, positions, INT32_MAX, INT32_MIN};
    store(argument, at, bad[kind]);
  });
}
