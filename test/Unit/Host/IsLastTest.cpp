//===- IsLastTest.cpp - Elements that come again --------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The search of the rows of a block, compared with the definition. The elements
// before and after the array repeat those in it, so that a read beyond its ends
// changes an answer.
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <random>
#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// The answer of every row of a kernel: 1 if no later row has its element.
template <typename Int>
struct Search {
  int lanes, threads;
  std::unique_ptr<HostKernel> kernel;

  Search(int lanes, int threads) : lanes(lanes), threads(threads) {
    const std::string count = std::to_string(threads);
    const std::string text = std::to_string(lanes);
    kernel = loadKernel(
        "extern \"C\" __global__ void __launch_bounds__(" + count +
            ")\nask(const " + (sizeof(Int) == 8 ? "long long" : "int") +
            " *__restrict__ elements, int *__restrict__ answers, "
            "int rows) {\n"
            "  const int row = blockIdx.x * (" +
            count + " / " + text + ") + threadIdx.x / " + text +
            ";\n"
            "  if (row < rows) {\n"
            "    const bool first = dsv4::is_last<" +
            text + ", " + count +
            ", 1>(elements, row, rows, rows);\n"
            "    const bool again = dsv4::is_last<" +
            text + ", " + count +
            ", 1>(elements, row, rows, rows);\n"
            "    if (threadIdx.x % " +
            text +
            " == 0)\n"
            "      answers[row] = first == again ? first : 2;\n"
            "  }\n}\n",
        "ask");
  }

  /// `first` of the elements that follow each other in `memory`.
  void run(const std::vector<Int> &memory, int first, int rows) {
    std::vector<int> answers(rows, -1);
    const unsigned each = threads / lanes;
    Status status = launch(*kernel, (rows + each - 1) / each, threads, 0,
                           (const void *)(memory.data() + first),
                           (void *)answers.data(), rows);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int row = 0; row < rows; ++row) {
      bool last = true;
      for (int later = row + 1; later < rows; ++later)
        last &= memory[first + row] < 0 || memory[first + row] > INT32_MAX ||
                memory[first + later] != memory[first + row];
      ASSERT_EQ(answers[row], last)
          << "row " << row << " of " << rows << ", offset " << first
          << ", lanes " << lanes << ", threads " << threads;
    }
  }
};

} // namespace

template <typename Int>
static void searchAtEveryEnd() {
  const std::pair<int, int> shapes[] = {{32, 32}, {16, 32}, {32, 96}, {16, 128},
                                        {8, 64},  {1, 32},  {2, 256}};
  std::mt19937 random(1);
  for (auto [lanes, threads] : shapes) {
    Search<Int> search(lanes, threads);
    if (!search.kernel)
      return;
    const int each = threads / lanes;
    for (int blocks : {1, 2, 3})
      for (int more = 0; more <= 9; ++more)
        for (int first = 4; first < 8; ++first) {
          const int rows = blocks * each + more;
          // The same period inside and outside: what is read beyond the ends
          // is an element of many rows.
          std::vector<Int> memory(first + rows + 16);
          const int period = std::max(each * blocks, 2) + more / 2;
          for (size_t i = 0; i < memory.size(); ++i)
            memory[i] = static_cast<int>((i + 3 * period - first) % period);
          search.run(memory, first, rows);
        }
  }
}

TEST(IsLast, EveryEndOfTheElements) { searchAtEveryEnd<int>(); }
TEST(IsLast, EveryEndOfElementsOf64Bits) { searchAtEveryEnd<int64_t>(); }

template <typename Int>
static void searchMany() {
  std::mt19937 random(2);
  for (auto [lanes, threads] : {std::pair(8, 128), std::pair(32, 128)}) {
    Search<Int> search(lanes, threads);
    if (!search.kernel)
      return;
    // Neighbours, neighbours with few repeats, and any elements, some of them
    // negative.
    for (int kind = 0; kind < 3; ++kind)
      for (int rows : {700, 4099}) {
        std::vector<Int> memory(rows + 8);
        for (size_t i = 0; i < memory.size(); ++i)
          memory[i] = kind == 2 ? static_cast<int>(random() % 5000) - 100
                                : static_cast<int>(i);
        if (kind == 1)
          for (int i = 0; i < 40; ++i)
            memory[random() % memory.size()] = memory[random() % rows];
        // Low halves that come again, of numbers that int does not hold.
        if (sizeof(Int) == 8)
          for (int i = 0; i < 40; ++i)
            memory[random() % memory.size()] |= Int(1) << (sizeof(Int) * 5);
        search.run(memory, 5, rows - 4);
      }
  }
}

TEST(IsLast, ManyElements) { searchMany<int>(); }
TEST(IsLast, ManyElementsOf64Bits) { searchMany<int64_t>(); }
