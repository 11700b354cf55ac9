//===- TopkTesting.h - What the tests of selections share -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_UNIT_HOST_TOPKTESTING_H
#define DSV4_TEST_UNIT_HOST_TOPKTESTING_H

#include "HostTesting.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

namespace dsv4::rt::test {

enum class Values {
  Random,
  FewDifferent,
  Equal,
  Special,
  Ascending,
  LastBits,
  BelowBin,
  Large
};

struct Chosen {
  std::vector<int> indices;
  std::vector<float> values;
};

/// One row, straight from the order: value, then index, the higher one first
/// with `tiesHigh`; NaN last, or with `nanFirst` first.
inline Chosen choose(const float *scores, int limit, int k, bool largest,
                     bool byIndex, bool tiesHigh, bool nanFirst = false) {
  std::vector<int> order(limit);
  for (int i = 0; i < limit; ++i)
    order[i] = tiesHigh ? limit - 1 - i : i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const float x = scores[a], y = scores[b];
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) != std::isnan(y) && std::isnan(nanFirst ? x : y);
    return largest ? x > y : x < y;
  });
  order.resize(std::min(limit, k));
  if (byIndex)
    std::sort(order.begin(), order.end());
  Chosen chosen;
  for (int i = 0; i < k; ++i) {
    const bool there = i < int(order.size());
    chosen.indices.push_back(there ? order[i] : -1);
    const float infinity = std::numeric_limits<float>::infinity();
    float value = there ? scores[order[i]] : largest ? -infinity : infinity;
    // One NaN, and one zero.
    if (nanFirst)
      value = std::isnan(value) ? floatOf(0x7FFFFFFFu) : value + 0.0f;
    chosen.values.push_back(value);
  }
  return chosen;
}

/// Keys above a bin's first one: one far above, many less far, and a few that
/// are the first or below it, which are not in the bin.
inline int belowBin(int column) {
  if (column == 0)
    return 512 * 800 + 19;
  if (column < 150)
    return 512 + 2735 * (column - 1);
  return column < 160 ? column - 150 : 159 - column;
}

inline std::vector<float> makeScores(Values kind, int rows, int columns,
                                     std::mt19937 &random) {
  std::vector<float> scores(size_t(rows) * columns);
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {infinity, -infinity, NAN, 0.0f, -0.0f, 1e-45f, 3.0f};
  for (size_t i = 0; i < scores.size(); ++i)
    switch (kind) {
    case Values::Random:
      scores[i] = float(int(random() % 20001) - 10000) / 64;
      break;
    case Values::FewDifferent:
      scores[i] = float(random() % 3);
      break;
    case Values::Equal:
      scores[i] = 2.5f;
      break;
    case Values::Special:
      scores[i] = special[random() % std::size(special)];
      break;
    case Values::Ascending: // Every tile has better ones than those before.
      scores[i] = -float(i % columns);
      break;
    case Values::LastBits: // All in one bin.
      scores[i] = 1.0f + float(random() % 64) / float(1 << 23);
      break;
    case Values::BelowBin: // On both sides of the lower end of a bin.
      scores[i] = floatOf(0x3F802000u + belowBin(i % columns));
      break;
    case Values::Large: // Beyond f16, most of them, and many times as large.
      scores[i] = random() % 16 == 0 ? 1.0f
                                     : (random() % 2 ? 65536.0f : -65536.0f) *
                                           float(1 + random() % 300000);
      break;
    }
  return scores;
}

/// Whether a row of a kernel is what is expected of it, to the last bit.
inline void expectChosen(const int *indices, const float *values,
                         const Chosen &expected, bool isOrdered) {
  const int k = int(expected.indices.size());
  std::vector<std::pair<int, uint32_t>> got, want;
  for (int i = 0; i < k; ++i) {
    got.push_back({indices[i], bitsOf(values[i])});
    want.push_back({expected.indices[i], bitsOf(expected.values[i])});
  }
  // A row that was selected whole has an order.
  if (!isOrdered && k > 0 && got.back().first >= 0)
    std::sort(got.begin(), got.end());
  ASSERT_EQ(got, want);
}

/// The text of a kernel, after the options that all have.
inline std::string readKernel(const std::string &name) {
  std::string text;
  for (const std::string &part : {std::string("topk-options.cu"), name}) {
    std::ifstream file(DSV4_TEST_INPUTS "/" + part);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

} // namespace dsv4::rt::test

#endif // DSV4_TEST_UNIT_HOST_TOPKTESTING_H
