//===- TopkStartsTest.cpp - Rows that begin within vectors ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every algorithm of the device library, from rows that begin anywhere, with
// ties and NaN that go to either side, against a sort.
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

struct Algorithm {
  const char *name, *function, *members;
  int threads, k, vector, blocks, cluster;
  int columns; ///< Of the rows at most.
};

const Algorithm algorithms[] = {
    {"warp", "topk_warp", "vectors = 4", 64, 6, 4, 1, 1, 512},
    {"warp, many ranks", "topk_warp", "vectors = 4", 64, 32, 2, 1, 1, 256},
    {"registers", "topk_block", "vectors = 4, threads = 64", 64, 40, 4, 1, 1,
     1024},
    {"few rounds", "topk_block",
     "vectors = 2, threads = 64; static constexpr auto read = "
     "dsv4::TopkRead::first",
     64, 40, 4, 1, 1, 3000},
    {"sample", "topk_block",
     "vectors = 2, threads = 64; static constexpr auto read = "
     "dsv4::TopkRead::sample",
     64, 40, 8, 1, 1, 9000},
    {"registers of a cluster", "topk_spread",
     "vectors = 2, threads = 64, cluster = 3", 64, 40, 4, 3, 3, 1536},
    {"cluster", "topk_cluster",
     "vectors = 2, threads = 64, cluster = 4; static constexpr auto read = "
     "dsv4::TopkRead::sample",
     64, 70, 4, 4, 4, 12000},
    {"grid", "topk_grid",
     "vectors = 1, threads = 64, blocks_per_row = 6; static constexpr auto "
     "read = dsv4::TopkRead::sample",
     64, 70, 2, 6, 1, 9000},
};

std::string getKernel(const Algorithm &of, const char *order, bool largest,
                      bool tiesHigh, bool nanFirst) {
  const bool isWarp = std::string(of.function) == "topk_warp";
  auto text = [](int number) { return std::to_string(number); };
  std::string kernel = "struct Config : dsv4::";
  kernel += isWarp ? "TopkWarpDefaults" : "TopkDefaults";
  kernel += " {\n  static constexpr int k = " + text(of.k) +
            ", vector = " + text(of.vector) + ", " + of.members + ";\n";
  kernel += std::string("  static constexpr auto order = dsv4::TopkOrder::") +
            order + ";\n";
  kernel += std::string("  static constexpr bool has_head = true, largest = ") +
            (largest ? "true" : "false") +
            ", ties_high = " + (tiesHigh ? "true" : "false") +
            ", nan_first = " + (nanFirst ? "true" : "false") + ";\n};\n";
  kernel += "extern \"C\" __global__ void select_rows(const float *scores, "
            "const int *starts, const int *ends, int *indices, float *values, "
            "void *workspace, int rows, int columns) {\n  const int row = ";
  kernel += isWarp ? "blockIdx.x * 2 + threadIdx.x / 32;\n"
                   : "blockIdx.x / " + text(of.blocks) + ";\n";
  kernel += "  if (row >= rows) return;\n  const int head = starts[row] % " +
            text(of.vector) + ", base = starts[row] - head;\n";
  kernel += std::string("  dsv4::") + of.function +
            "<Config>(ends[row] - base, head, ";
  kernel += std::string(of.function) == "topk_grid" ? "workspace, " : "";
  kernel += "[&](int column) {\n    return dsv4::load<dsv4::Tile<float, 1, " +
            text(of.vector) +
            ">>(&scores[(long long)row * columns + base + column]);\n  },\n"
            "  [&](int rank, int index, float value) {\n"
            "    if (rank < Config::k) {\n"
            "      indices[row * Config::k + rank] = index;\n"
            "      values[row * Config::k + rank] = value;\n    }\n  });\n}\n";
  return kernel;
}

struct Chosen {
  std::vector<int> indices;
  std::vector<uint32_t> values;
};

/// The elements [start, end) of a row, straight from the order.
Chosen choose(const float *scores, int start, int end, int k,
              const std::string &order, bool largest, bool tiesHigh,
              bool nanFirst) {
  const int count = std::max(end - start, 0);
  std::vector<int> all(count);
  for (int i = 0; i < count; ++i)
    all[i] = tiesHigh ? count - 1 - i : i;
  std::stable_sort(all.begin(), all.end(), [&](int a, int b) {
    const float x = scores[start + a], y = scores[start + b];
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) != std::isnan(y) && std::isnan(nanFirst ? x : y);
    return largest ? x > y : x < y;
  });
  all.resize(std::min(count, k));
  if (order != "sorted")
    std::sort(all.begin(), all.end());
  const float infinity = std::numeric_limits<float>::infinity();
  Chosen chosen;
  for (int i = 0; i < k; ++i) {
    const bool there = i < int(all.size());
    chosen.indices.push_back(there ? all[i] : -1);
    float value = there     ? scores[start + all[i]]
                  : largest ? -infinity
                            : infinity;
    // One NaN, and one zero.
    if (nanFirst)
      value = std::isnan(value) ? floatOf(0x7FFFFFFFu) : value + 0.0f;
    chosen.values.push_back(bitsOf(value));
  }
  return chosen;
}

constexpr int kKinds = 6;

/// One row; those of few different elements end in ties.
void fill(float *row, int columns, int kind, std::mt19937 &random) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float special[] = {infinity, -infinity, NAN,   0.0f,
                           -0.0f,    1e-45f,    -3.0f, NAN};
  for (int i = 0; i < columns; ++i)
    switch (kind) {
    case 0:
      row[i] = float(int(random() % 200001) - 100000) / 64;
      break;
    case 1:
      row[i] = float(random() % 3);
      break;
    case 2:
      row[i] = special[random() % 8];
      break;
    case 3:
      row[i] = 1.5f;
      break;
    case 4:
      row[i] = random() % 64 ? NAN : float(i);
      break;
    default: // Every one is better than those before, or equal.
      row[i] = float(i / 100);
      break;
    }
}

void check(const Algorithm &of, const std::string &order, bool largest,
           bool tiesHigh, bool nanFirst = false) {
  SCOPED_TRACE(std::string(of.name) + ", " + order +
               (largest ? ", largest" : ", smallest") +
               (tiesHigh ? ", high" : ", low") +
               (nanFirst ? ", NaN first" : ""));
  auto kernel =
      loadKernel(getKernel(of, order.c_str(), largest, tiesHigh, nanFirst),
                 "select_rows", Dim3(static_cast<uint32_t>(of.cluster)));
  ASSERT_TRUE(kernel);
  std::mt19937 random(of.k + largest + 2 * tiesHigh);
  const int columns = of.columns, k = of.k, v = of.vector;
  // From within the first vector or a later one on, to the last column or not;
  // rows of nothing, and of one element.
  const std::vector<std::pair<int, int>> ranges = {
      {0, columns},
      {1, columns},
      {v - 1, columns - 1},
      {v, columns},
      {v + 1, v + 1 + k},
      {3, 3 + k + 1},
      {5, 4 + k},
      {columns, columns},
      {columns - 1, columns},
      {7, 7},
      {columns / 3 + 1, columns},
      {columns / 2, columns / 2 + k + 3}};
  const int rows = ranges.size();
  std::vector<int> starts, ends;
  for (auto [start, end] : ranges) {
    starts.push_back(start);
    ends.push_back(end);
  }
  std::vector<float> scores(size_t(rows) * columns);
  std::vector<char> workspace(size_t(rows) * (16 + 8 * k * of.blocks));
  const bool isWarp = std::string(of.function) == "topk_warp";
  const int blocks = isWarp ? (rows + 1) / 2 : rows * of.blocks;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int row = 0; row < rows; ++row)
      fill(scores.data() + row * columns, columns, kind, random);
    for (ThreadSchedule schedule :
         {ThreadSchedule{ThreadOrder::Forward, 0}, {ThreadOrder::Random, 1}}) {
      kernel->setSchedule(schedule);
      std::vector<int> indices(rows * k, -7);
      std::vector<float> values(rows * k, -7.0f);
      Status status = launch(
          *kernel, Dim3(uint32_t(blocks)), Dim3(uint32_t(of.threads)), 0,
          (const void *)scores.data(), (const void *)starts.data(),
          (const void *)ends.data(), (void *)indices.data(),
          (void *)values.data(), (void *)workspace.data(), rows, columns);
      ASSERT_TRUE(status.ok()) << status.message();
      for (int row = 0; row < rows; ++row) {
        const Chosen want =
            choose(scores.data() + size_t(row) * columns, starts[row],
                   ends[row], k, order, largest, tiesHigh, nanFirst);
        std::vector<int> found(indices.begin() + row * k,
                               indices.begin() + (row + 1) * k);
        std::vector<uint32_t> bits;
        for (int rank = 0; rank < k; ++rank)
          bits.push_back(bitsOf(values[row * k + rank]));
        ASSERT_EQ(found, want.indices) << "row " << row << ", scores " << kind;
        ASSERT_EQ(bits, want.values) << "row " << row << ", scores " << kind;
      }
    }
  }
}

} // namespace

TEST(TopkStarts, Largest) {
  for (const Algorithm &algorithm : algorithms)
    for (bool tiesHigh : {false, true})
      check(algorithm, "sorted", true, tiesHigh);
}

TEST(TopkStarts, Smallest) {
  for (const Algorithm &algorithm : algorithms)
    check(algorithm, "index_ascending", false, true);
}

TEST(TopkStarts, NaNFirst) {
  for (const Algorithm &algorithm : algorithms)
    for (bool others : {false, true})
      check(algorithm, others ? "index_ascending" : "sorted", !others, others,
            /*nanFirst=*/true);
}
