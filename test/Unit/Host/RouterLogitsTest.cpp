//===- RouterLogitsTest.cpp - Logits of experts ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The twin of the leaf on the host, against sums in double precision.
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// What router-logits.cu is compiled with.
struct Shape {
  int experts = 256, depth = 1024;
  bool f32 = false;
  int rows = 8, blockExperts = 32, cluster = 1, align = 16, k = 8;

  std::string defines() const {
    auto define = [](const char *name, auto value) {
      return "#define " + std::string(name) + " " + value + "\n";
    };
    return define("EXPERTS", std::to_string(experts)) +
           define("DEPTH", std::to_string(depth)) +
           define("WEIGHT", f32 ? "float" : "dsv4::bf16") +
           define("ROWS", std::to_string(rows)) +
           define("BLOCK_EXPERTS", std::to_string(blockExperts)) +
           define("CLUSTER", std::to_string(cluster)) +
           define("ALIGN", std::to_string(align)) +
           define("K", std::to_string(k));
  }
  int expertBlocks() const {
    return (experts + blockExperts - 1) / blockExperts;
  }
  int blocks(int count) const {
    const int groups = (depth + 511) / 512;
    return (count + rows - 1) / rows * groups * expertBlocks();
  }
  int threads() const { return blockExperts / 16 * 4 * 32; }
};

/// Numbers and their bits in memory, rows apart by a stride.
struct Matrix {
  Matrix(int rows, int columns, int stride, bool f32, bool integers,
         unsigned seed)
      : stride(stride), bits(size_t(rows) * stride * (f32 ? 4 : 2), 0xFF) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < columns; ++column) {
        float value = integers ? int(random() % 7) - 3 : normal(random);
        unsigned word;
        if (!f32) {
          std::memcpy(&word, &value, 4);
          word &= 0xFFFF0000;
          std::memcpy(&value, &word, 4);
        }
        std::memcpy(&word, &value, 4);
        const size_t at = size_t(row) * stride + column;
        if (f32)
          std::memcpy(&bits[at * 4], &word, 4);
        else
          bits[at * 2] = (unsigned char)(word >> 16),
                    bits[at * 2 + 1] = (unsigned char)(word >> 24);
        values.push_back(value);
      }
  }

  long long stride;
  std::vector<unsigned char> bits;
  std::vector<double> values;
};

class Kernels {
public:
  explicit Kernels(const Shape &shape) : shape(shape) {
    std::ifstream file(DSV4_TEST_INPUTS "/router-logits.cu");
    const std::string text =
        shape.defines() + std::string{std::istreambuf_iterator<char>(file), {}};
    const Dim3 cluster = {unsigned(shape.cluster), 1, 1};
    rows = loadKernel(text, "store_rows", cluster);
    route = loadKernel(text, "route_rows", cluster);
    parts = loadKernel(text, "store_parts", cluster);
    join = loadKernel(text, "route_parts");
    tiles = loadKernel(text, "store_tiles");
  }

  template <typename... Results>
  void run(HostKernel &kernel, int blocks, int threads, const Matrix &hidden,
           const Matrix &weights, int count, Results... results) {
    Status status = launch(kernel, blocks, threads, 1 << 17,
                           (const void *)hidden.bits.data(), hidden.stride,
                           (const void *)weights.bits.data(), weights.stride,
                           count, results...);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Shape shape;
  std::unique_ptr<HostKernel> rows, route, parts, join, tiles;
};

/// All functions put the same sums where they belong, near to the sum in double
/// precision, and a router chooses the experts with the largest logits.
void check(const Shape &shape, int count) {
  Kernels kernels(shape);
  for (bool integers : {true, false}) {
    const Matrix hidden(count, shape.depth, shape.depth + 3, false, integers,
                        1);
    const Matrix weights(shape.experts, shape.depth, shape.depth + 5, shape.f32,
                         integers, 2);
    const size_t size = size_t(count) * shape.experts;
    std::vector<float> logits(size, -7.0f), others(size, -7.0f);
    kernels.run(*kernels.rows, shape.blocks(count), shape.threads(), hidden,
                weights, count, (void *)nullptr, (void *)logits.data());
    kernels.run(*kernels.tiles,
                (count + 63) / 64 * ((shape.experts + 127) / 128), 256, hidden,
                weights, count, (void *)others.data());
    ASSERT_EQ(std::memcmp(logits.data(), others.data(), size * 4), 0);
    for (size_t at = 0; at < size; ++at) {
      double sum = 0, magnitude = 0;
      for (int i = 0; i < shape.depth; ++i) {
        const double product =
            hidden.values[at / shape.experts * shape.depth + i] *
            weights.values[at % shape.experts * shape.depth + i];
        sum += product;
        magnitude += std::fabs(product);
      }
      ASSERT_NEAR(logits[at], sum, integers ? 0 : magnitude * 1e-6)
          << "row " << at / shape.experts << ", expert " << at % shape.experts;
    }
    std::vector<int> experts(size_t(count) * shape.k, -7);
    std::vector<float> shares(size_t(count) * shape.k, -7.0f);
    kernels.run(*kernels.route, shape.blocks(count), shape.threads(), hidden,
                weights, count, (void *)nullptr, (void *)experts.data(),
                (void *)shares.data());
    // The same by two kernels.
    std::vector<int> otherExperts(experts.size(), -7);
    std::vector<float> otherShares(shares.size(), -7.0f);
    kernels.run(*kernels.parts, shape.blocks(count), shape.threads(), hidden,
                weights, count, (void *)nullptr);
    kernels.run(*kernels.join, (count + 3) / 4, 128, hidden, weights, count,
                (void *)nullptr, (void *)otherExperts.data(),
                (void *)otherShares.data());
    ASSERT_EQ(experts, otherExperts);
    ASSERT_EQ(std::memcmp(shares.data(), otherShares.data(),
                          shares.size() * sizeof(float)),
              0);
    // Scores of integers may be equal for other logits.
    for (int row = 0; row < count && !integers; ++row) {
      std::vector<float> sorted(&logits[size_t(row) * shape.experts],
                                &logits[size_t(row) * shape.experts] +
                                    shape.experts);
      std::sort(sorted.rbegin(), sorted.rend());
      float all = 0;
      for (int rank = 0; rank < shape.k; ++rank) {
        const size_t at = size_t(row) * shape.k + rank;
        ASSERT_GE(experts[at], 0);
        ASSERT_LT(experts[at], shape.experts);
        const auto scoreOf = [](float x) { return 1 / (1 + std::exp(-x)); };
        ASSERT_NEAR(scoreOf(logits[size_t(row) * shape.experts + experts[at]]),
                    scoreOf(sorted[rank]), 1e-6);
        all += shares[at];
      }
      ASSERT_NEAR(all, 1, 1e-5);
    }
  }
}

} // namespace

TEST(RouterLogits, Rows) {
  for (int count : {0, 1, 8, 13})
    check(Shape(), count);
}
TEST(RouterLogits, Clusters) {
  Shape shape;
  shape.rows = 64;
  shape.cluster = 8;
  check(shape, 70);
  shape.experts = 160;
  shape.cluster = 5;
  check(shape, 9);
}
TEST(RouterLogits, OddExtents) {
  Shape shape;
  shape.experts = 157;
  shape.depth = 131;
  shape.align = 2;
  shape.blockExperts = 16;
  check(shape, 17);
  shape.experts = 9;
  shape.depth = 8;
  check(shape, 3);
}
TEST(RouterLogits, WeightsOfF32) {
  Shape shape;
  shape.f32 = true;
  shape.experts = 33;
  shape.depth = 700;
  shape.align = 4;
  check(shape, 5);
}
