//===- TopkTilesTest.cpp - Selections from tile sources -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopkTesting.h"

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

// With `calls` of more than one, lists grow long enough to have more entries in
// one bin than threads compare one by one.
void check(int k, const std::string &order, bool largest, bool tiesHigh = false,
           int calls = 1, bool nanFirst = false) {
  SCOPED_TRACE("k = " + std::to_string(k) + ", " + order);
  auto kernel =
      loadKernel("#define K " + std::to_string(k) + "\n#define ORDER " + order +
                     "\n#define LARGEST " + (largest ? "true\n" : "false\n") +
                     "#define TIES_HIGH " + (tiesHigh ? "true\n" : "false\n") +
                     "#define NAN_FIRST " + (nanFirst ? "true\n" : "false\n") +
                     "#define CALLS " + std::to_string(calls) + "\n" +
                     readKernel("topk-tiles.cu"),
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
                                  order != "sorted", tiesHigh, nanFirst));
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
          SCOPED_TRACE("row " + std::to_string(row) + " of " +
                       std::to_string(columns));
          expectChosen(indices.data() + row * k, values.data() + row * k,
                       expected[row], order != "unordered");
          if (testing::Test::HasFailure())
            return;
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
TEST(TopkTiles, NaNFirst) {
  check(1, "sorted", true, false, 1, true);
  check(20, "sorted", false, true, 1, true);
  check(33, "index_ascending", true, false, 14, true);
  check(155, "unordered", true, true, 16, true);
}
