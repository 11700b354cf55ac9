//===- TopkTilesTest.cpp - Selections from tile sources -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

enum class Values {
  Random,
  FewDifferent,
  Special,
  Ascending,
  LastBits,
  BelowBin
};

struct Chosen {
  std::vector<int> indices;
  std::vector<float> values;
};

/// One row, straight from the order: value, then index, the higher one first
/// with `tiesHigh`; NaN after -infinity.
Chosen choose(const float *scores, int limit, int k, bool largest, bool byIndex,
              bool tiesHigh) {
  std::vector<int> order(limit);
  for (int i = 0; i < limit; ++i)
    order[i] = tiesHigh ? limit - 1 - i : i;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const float x = scores[a], y = scores[b];
    if (std::isnan(x) || std::isnan(y))
      return !std::isnan(x) && std::isnan(y);
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
    chosen.values.push_back(there     ? scores[order[i]]
                            : largest ? -infinity
                                      : infinity);
  }
  return chosen;
}

/// Keys above a bin's first one: one far above, many less far, and a few that
/// are the first or below it, which are not in the bin.
int belowBin(int column) {
  if (column == 0)
    return 512 * 800 + 19;
  if (column < 150)
    return 512 + 2735 * (column - 1);
  return column < 160 ? column - 150 : 159 - column;
}

std::vector<float> makeScores(Values kind, int rows, int columns,
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
    }
  return scores;
}

std::string readKernel() {
  std::ifstream file(DSV4_TEST_INPUTS "/topk-tiles.cu");
  return {std::istreambuf_iterator<char>(file), {}};
}

// With `calls` of more than one, lists grow long enough to have more entries in
// one bin than threads compare one by one.
void check(int k, const std::string &order, bool largest, bool tiesHigh = false,
           int calls = 1) {
  SCOPED_TRACE("k = " + std::to_string(k) + ", " + order);
  auto kernel = loadKernel(
      "#define K " + std::to_string(k) + "\n#define ORDER " + order +
          "\n#define LARGEST " + (largest ? "true\n" : "false\n") +
          "#define TIES_HIGH " + (tiesHigh ? "true\n" : "false\n") +
          "#define CALLS " + std::to_string(calls) + "\n" + readKernel(),
      "select_tiles");
  ASSERT_TRUE(kernel);
  std::mt19937 random(k);
  const int rows = 6; // The second block has two of its four.
  for (Values kind : {Values::Random, Values::FewDifferent, Values::Special,
                      Values::Ascending, Values::LastBits, Values::BelowBin})
    for (int columns : {1, 15, 16, 17, 220, 333}) {
      const auto scores = makeScores(kind, rows, columns, random);
      const std::vector<int> limits = {columns,     0,  columns / 2,
                                       columns - 1, -3, columns};
      std::vector<Chosen> expected;
      for (int row = 0; row < rows; ++row)
        expected.push_back(choose(scores.data() + row * columns,
                                  std::max(limits[row], 0), k, largest,
                                  order != "sorted", tiesHigh));
      for (ThreadSchedule schedule : schedules()) {
        kernel->setSchedule(schedule);
        std::vector<int> indices(rows * k, -7);
        std::vector<float> values(rows * k, -7.0f);
        Status status =
            launch(*kernel, 2, 96, 0, (const void *)scores.data(),
                   (const void *)limits.data(), (void *)indices.data(),
                   (void *)values.data(), rows, columns);
        ASSERT_TRUE(status.ok()) << status.message();
        for (int row = 0; row < rows; ++row) {
          std::vector<std::pair<int, uint32_t>> got, want;
          for (int i = 0; i < k; ++i) {
            got.push_back({indices[row * k + i], bitsOf(values[row * k + i])});
            want.push_back(
                {expected[row].indices[i], bitsOf(expected[row].values[i])});
          }
          if (order == "unordered") {
            auto last = std::find_if(got.begin(), got.end(),
                                     [](auto one) { return one.first < 0; });
            std::sort(got.begin(), last);
          }
          ASSERT_EQ(got, want) << "row " << row << " of " << columns;
        }
      }
    }
}

} // namespace

TEST(TopkTiles, Sorted) {
  check(1, "sorted", true);
  check(20, "sorted", true);
}
TEST(TopkTiles, ByIndex) { check(33, "index_ascending", true); }
TEST(TopkTiles, UnorderedSmallest) { check(20, "unordered", false); }
TEST(TopkTiles, LongLists) {
  check(20, "sorted", true, false, 16);
  check(100, "index_ascending", false, false, 9);
  check(33, "unordered", true, true, 14);
  check(155, "sorted", true, false, 16);
}
TEST(TopkTiles, TiesHigh) {
  check(1, "sorted", true, true);
  check(20, "sorted", false, true);
  check(33, "index_ascending", true, true);
}
