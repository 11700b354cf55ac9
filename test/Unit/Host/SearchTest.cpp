//===- SearchTest.cpp - The request of a row ------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search, compared with the definition. The elements beside the array are
// such that reading one of them changes an answer.
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <algorithm>
#include <climits>
#include <random>
#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// Threads that search by themselves, and 16 lanes per row of warps that search
/// together.
std::unique_ptr<HostKernel> loadSearch(bool together) {
  return loadKernel(
      std::string(together ? "#define LANES 16\n" : "#define LANES 1\n") +
          "extern \"C\" __global__ void __launch_bounds__(64)\n"
          "find(const int *__restrict__ elements, "
          "int *__restrict__ answers, int count, int values) {\n"
          "  const int value = "
          "(blockIdx.x * 64 + threadIdx.x) / LANES;\n"
          "  if (value < values)\n"
          "    answers[value] = dsv4::search" +
          (together ? "<LANES>(elements, value, count, values)"
                    : "(elements, value, count)") +
          ";\n"
          "}\n",
      "find");
}

/// The answers for the values below `values`.
std::vector<int> search(const std::vector<int> &elements, int values,
                        bool together) {
  static auto alone = loadSearch(false), ofWarps = loadSearch(true);
  auto &kernel = together ? ofWarps : alone;
  // Were they read, the element before would be found, and the one after.
  std::vector<int> memory = {INT_MIN};
  memory.insert(memory.end(), elements.begin(), elements.end());
  memory.push_back(INT_MIN);
  std::vector<int> answers(values, -1);
  const int perBlock = together ? 4 : 64;
  Status status = launch(*kernel, (values + perBlock - 1) / perBlock, 64, 0,
                         (const void *)(memory.data() + 1),
                         (void *)answers.data(), int(elements.size()), values);
  EXPECT_TRUE(status.ok()) << status.message();
  return answers;
}

/// What halving finds, as `row.search` says.
int halve(const std::vector<int> &elements, int value) {
  int found = 0;
  for (int left = int(elements.size()); left > 1; left -= left / 2)
    if (elements[found + left / 2] <= value)
      found += left / 2;
  return found;
}

TEST(Search, LastElementThatIsNotAbove) {
  std::mt19937 random(1);
  for (int count : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 100}) {
    std::vector<int> elements(count);
    int at = 0;
    for (int &element : elements) {
      element = at;
      at += random() % 3;
    }
    for (bool together : {false, true}) {
      std::vector<int> answers = search(elements, at + 3, together);
      for (int value = 0; value < at + 3; ++value)
        EXPECT_EQ(answers[value],
                  std::upper_bound(elements.begin(), elements.end(), value) -
                      elements.begin() - 1)
            << value << " of " << count;
    }
  }
}

// Requests of no row and of many, so that the rows of a warp have one range of
// 64 elements left, or two.
TEST(Search, RowsOfWarpsTogether) {
  std::mt19937 random(2);
  for (int count : {63, 64, 65, 127, 128, 129, 130, 300, 1000}) {
    std::vector<int> elements(count);
    int at = 0;
    for (int &element : elements) {
      element = at;
      at += random() % 4 ? 0 : random() % 5;
    }
    std::vector<int> answers = search(elements, at + 2, /*together=*/true);
    for (int value = 0; value < at + 2; ++value)
      EXPECT_EQ(answers[value], halve(elements, value))
          << value << " of " << count;
  }
}

TEST(Search, NoneIsAtMost) {
  for (bool together : {false, true}) {
    EXPECT_EQ(search({5, 6, 7}, 2, together), (std::vector<int>{0, 0}));
    EXPECT_EQ(search({}, 2, together), (std::vector<int>{0, 0}));
  }
}

// Halves that are followed as if the elements did ascend.
TEST(Search, ElementsThatDoNotAscend) {
  for (bool together : {false, true}) {
    EXPECT_EQ(search({0, 3, -7}, 4, together), (std::vector<int>{0, 0, 0, 2}));
    EXPECT_EQ(search({9, 9, 9, 0}, 1, together), (std::vector<int>{0}));
    EXPECT_EQ(search({INT_MAX, INT_MIN, INT_MAX, INT_MIN}, 1, together),
              (std::vector<int>{1}));
  }
  std::mt19937 random(3);
  for (int count : {9, 64, 65, 200}) {
    std::vector<int> elements(count);
    for (int &element : elements)
      element = int(random() % 40) - 4;
    std::vector<int> answers = search(elements, 36, /*together=*/true);
    for (int value = 0; value < 36; ++value)
      EXPECT_EQ(answers[value], halve(elements, value))
          << value << " of " << count;
  }
}

} // namespace
