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

/// The answers for the values below `values`.
std::vector<int> search(const std::vector<int> &elements, int values) {
  static auto kernel = loadKernel(
      "extern \"C\" __global__ void __launch_bounds__(32)\n"
      "find(const int *__restrict__ elements, int *__restrict__ answers, "
      "int count, int values) {\n"
      "  const int value = blockIdx.x * 32 + threadIdx.x;\n"
      "  if (value < values)\n"
      "    answers[value] = dsv4::search(elements, value, count);\n"
      "}\n",
      "find");
  // Were they read, the element before would be found, and the one after.
  std::vector<int> memory = {INT_MIN};
  memory.insert(memory.end(), elements.begin(), elements.end());
  memory.push_back(INT_MIN);
  std::vector<int> answers(values, -1);
  Status status = launch(*kernel, (values + 31) / 32, 32, 0,
                         (const void *)(memory.data() + 1),
                         (void *)answers.data(), int(elements.size()), values);
  EXPECT_TRUE(status.ok()) << status.message();
  return answers;
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
    std::vector<int> answers = search(elements, at + 3);
    for (int value = 0; value < at + 3; ++value)
      EXPECT_EQ(answers[value],
                std::upper_bound(elements.begin(), elements.end(), value) -
                    elements.begin() - 1)
          << value << " of " << count;
  }
}

TEST(Search, NoneIsAtMost) {
  EXPECT_EQ(search({5, 6, 7}, 2), (std::vector<int>{0, 0}));
  EXPECT_EQ(search({}, 2), (std::vector<int>{0, 0}));
}

// Halves that are followed as if the elements did ascend.
TEST(Search, ElementsThatDoNotAscend) {
  EXPECT_EQ(search({0, 3, -7}, 4), (std::vector<int>{0, 0, 0, 2}));
  EXPECT_EQ(search({9, 9, 9, 0}, 1), (std::vector<int>{0}));
  EXPECT_EQ(search({INT_MAX, INT_MIN, INT_MAX, INT_MIN}, 1),
            (std::vector<int>{1}));
}

} // namespace
