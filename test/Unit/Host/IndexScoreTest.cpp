//===- IndexScoreTest.cpp - Scores of paged index keys --------------------===//
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
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

/// What index-score.cu is compiled with.
struct Shape {
  bool keysFP4 = true, queryFP4 = false, nvfp4 = false;
  int heads = 8, queries = 1, pageSize = 64;
  bool interleaved = false;
  int warpgroups = 1, tiles = 2;

  int payload() const { return keysFP4 ? 64 : 128; }
  int scales() const { return nvfp4 ? 8 : 4; }
  int headPayload() const { return queryFP4 ? 64 : 128; }
  std::string defines() const {
    auto define = [](const char *name, auto value) {
      return "#define " + std::string(name) + " " + value + "\n";
    };
    return define("KEYS", nvfp4     ? "nvfp4"
                          : keysFP4 ? "mxfp4"
                                    : "e4m3") +
           define("EXACT", nvfp4 ? "true" : "false") +
           define("QUERY", queryFP4 ? "mxfp4" : "e4m3") +
           define("HEADS", std::to_string(heads)) +
           define("QUERIES", std::to_string(queries)) +
           define("PAGE_SIZE", std::to_string(pageSize)) +
           define("ALIGN", interleaved || pageSize % 4 ? "4" : "16") +
           define("INTERLEAVED", interleaved ? "true" : "false") +
           define("WARPGROUPS", std::to_string(warpgroups)) +
           define("TILES", std::to_string(tiles));
  }
};

double valueOfE4M3(unsigned byte) {
  const int exponent = int(byte >> 3 & 15), mantissa = int(byte & 7);
  if ((byte & 0x7F) == 0x7F)
    return NAN;
  const double magnitude = exponent ? std::ldexp(8 + mantissa, exponent - 10)
                                    : std::ldexp(mantissa, -9);
  return byte & 0x80 ? -magnitude : magnitude;
}
double valueOfE2M1(unsigned code) {
  static const double magnitudes[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -magnitudes[code & 7] : magnitudes[code & 7];
}
double valueOfUE8M0(unsigned code) {
  return code == 255 ? NAN : std::ldexp(1, int(code) - 127);
}

enum class Values { Integers, Random, Special };

/// Operands, and the pages in an order of their own. Every fifth page of the
/// table is none.
class Operands {
public:
  static constexpr int groups = 5, columns = 300;

  Operands(const Shape &shape, Values kind, unsigned seed)
      : shape(shape), random(seed) {
    const int rows = groups * shape.queries;
    for (int row = 0; row < rows; ++row)
      limits.push_back(row / shape.queries == 2 ? -3 * (row % 2)
                       : row == 0               ? columns
                                                : int(random() % columns));
    width = (columns + shape.pageSize - 1) / shape.pageSize;
    stride = shape.pageSize * (shape.payload() + shape.scales()) + 32;
    pool.assign(size_t(groups) * width * stride, 0xFF);
    for (int i = 0; i < groups * width; ++i)
      table.push_back(i);
    std::shuffle(table.begin(), table.end(), random);
    keys.resize(size_t(groups) * columns * shape.payload());
    keyScales.resize(size_t(groups) * columns);
    for (size_t i = 0; i < keyScales.size(); ++i) {
      fill(&keys[i * shape.payload()], shape.keysFP4, kind);
      keyScales[i] =
          shape.nvfp4 ? scalesOfNVFP4(kind) : scales(shape.keysFP4, kind);
      putKey(int(i / columns), int(i % columns));
    }
    for (int i = 3; i < groups * width; i += 5)
      table[i] = -1;
    queries.resize(size_t(rows) * shape.heads * shape.headPayload());
    for (int i = 0; i < rows * shape.heads; ++i) {
      fill(&queries[size_t(i) * shape.headPayload()], shape.queryFP4,
           kind == Values::Special ? Values::Random : kind);
      queryScales.push_back(
          scales(true, kind == Values::Special ? Values::Random : kind));
      weights.push_back(float(int(random() % 9) - 4) / 2);
    }
  }

  /// The score, and what it may differ by.
  std::pair<double, double> score(int row, int column) const {
    const int group = row / shape.queries;
    if (table[group * width + column / shape.pageSize] < 0)
      return {-std::numeric_limits<double>::infinity(), 0};
    const size_t key = size_t(group) * columns + column;
    double sum = 0, terms = 0;
    for (int head = 0; head < shape.heads; ++head) {
      const size_t at = size_t(row) * shape.heads + head;
      double dot = 0, norm = 0;
      for (int i = 0; i < 128; ++i) {
        const double product =
            keyElement(key, i) * element(&queries[at * shape.headPayload()],
                                         shape.queryFP4, i, queryScales[at]);
        dot += product;
        norm += std::fabs(product);
      }
      sum += weights[at] * (dot > 0 || dot != dot ? dot : 0);
      terms += std::fabs(weights[at]) * norm;
    }
    const double scale =
        shape.keysFP4 ? 1.0 : double(floatOf(unsigned(keyScales[key])));
    return {sum * scale, std::fabs(terms * scale) * 1e-5 + 1e-44};
  }

  Shape shape;
  std::mt19937 random;
  int width;
  long long stride;
  std::vector<unsigned char> pool, keys, queries;
  std::vector<unsigned long long> keyScales;
  std::vector<unsigned> queryScales;
  std::vector<float> weights;
  std::vector<int> limits, table;

private:
  double keyElement(size_t key, int i) const {
    const unsigned char *from = &keys[key * shape.payload()];
    if (shape.nvfp4)
      return valueOfE2M1(from[i / 2] >> i % 2 * 4 & 15) *
             valueOfE4M3(unsigned(keyScales[key] >> i / 16 * 8 & 255));
    return element(from, shape.keysFP4, i, unsigned(keyScales[key]));
  }
  static double element(const unsigned char *from, bool fp4, int i,
                        unsigned scales) {
    return fp4 ? valueOfE2M1(from[i / 2] >> i % 2 * 4 & 15) *
                     valueOfUE8M0(scales >> i / 32 * 8 & 255)
               : valueOfE4M3(from[i]);
  }

  void fill(unsigned char *to, bool fp4, Values kind) {
    static const unsigned char e4m3[] = {0, 0x38, 0xB8, 0x40, 0xC0, 0x44};
    static const unsigned char e2m1[] = {0, 2, 10, 4, 12, 5};
    for (int i = 0; i < (fp4 ? 64 : 128); ++i)
      if (kind == Values::Integers)
        to[i] = fp4 ? e2m1[random() % 6] | e2m1[random() % 6] << 4
                    : e4m3[random() % 6];
      else if (fp4)
        to[i] = (unsigned char)random();
      else
        do
          to[i] = (unsigned char)random();
        while (kind != Values::Special && (to[i] & 0x7F) == 0x7F);
    // Groups of zeros whose scale is the largest, or NaN.
    if (fp4 && kind == Values::Special && random() % 2)
      std::memset(to + random() % 4 * 16, random() % 2 ? 0x80 : 0, 16);
  }

  unsigned scales(bool fp4, Values kind) {
    if (!fp4)
      return bitsOf(kind == Values::Special && random() % 8 == 0
                        ? NAN
                        : std::ldexp(1.0f, int(random() % 5) - 2));
    unsigned word = 0;
    for (int i = 0; i < 4; ++i)
      word |= (kind == Values::Integers ? 127
               : kind == Values::Random ? 120 + random() % 12
               : random() % 8           ? 90 + random() % 60
                                        : random() % 3 * 127 + random() % 2)
              << 8 * i;
    return word;
  }

  unsigned long long scalesOfNVFP4(Values kind) {
    unsigned long long word = 0;
    for (int i = 0; i < 8; ++i) {
      unsigned code = kind == Values::Integers ? 0x38 : random() % 0x7F;
      if (kind == Values::Special && random() % 64 == 0)
        code = 0x7F;
      word |= (unsigned long long)code << 8 * i;
    }
    return word;
  }

  void putKey(int group, int column) {
    const int bytes = shape.payload(), size = shape.pageSize,
              all = bytes + shape.scales();
    unsigned char *page =
        &pool[size_t(table[group * width + column / size]) * stride];
    const int entry = column % size;
    const size_t key = size_t(group) * columns + column;
    std::memcpy(page + entry * (shape.interleaved ? all : bytes),
                &keys[key * bytes], bytes);
    std::memcpy(shape.interleaved
                    ? page + entry * all + bytes
                    : page + size * bytes + entry * shape.scales(),
                &keyScales[key], shape.scales());
  }
};

class Kernels {
public:
  explicit Kernels(const Shape &shape) : shape(shape) {
    std::ifstream file(DSV4_TEST_INPUTS "/index-score.cu");
    const std::string text =
        shape.defines() + std::string{std::istreambuf_iterator<char>(file), {}};
    store = loadKernel(text, "store_scores");
    select = loadKernel(text, "select_scores");
  }

  template <typename... Results>
  Status run(HostKernel &kernel, int blocks, const Operands &on,
             Results... results) {
    return launch(
        kernel, blocks, 128 * (shape.warpgroups + 1), 1 << 17,
        (const void *)on.pool.data(), on.stride, (const void *)on.table.data(),
        on.width, (const void *)on.queries.data(),
        (const void *)on.queryScales.data(), (const void *)on.weights.data(),
        (const void *)on.limits.data(), Operands::groups, results...);
  }

  Shape shape;
  std::unique_ptr<HostKernel> store, select;
};

void expectScores(const Operands &on, const std::vector<float> &scores,
                  int stride, bool exact) {
  for (int row = 0; row < int(on.limits.size()); ++row)
    for (int column = 0; column < stride; ++column) {
      SCOPED_TRACE("row " + std::to_string(row) + ", column " +
                   std::to_string(column));
      const float got = scores[size_t(row) * stride + column];
      if (column >= Operands::columns) {
        ASSERT_EQ(got, -7.0f);
        continue;
      }
      if (column >= on.limits[row]) {
        ASSERT_EQ(got, -std::numeric_limits<float>::infinity());
        continue;
      }
      const auto [want, bound] = on.score(row, column);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got)) << got;
      } else if (exact || std::isinf(want)) {
        ASSERT_EQ(got, float(want));
      } else if (std::isinf(got)) { // Beyond the largest float.
        ASSERT_GT(got > 0 ? want : -want, 3.4e38);
      } else {
        ASSERT_NEAR(got, want, bound);
      }
    }
}

/// Positions of the k best, the lower one among equals; NaN last.
std::vector<int> choose(const float *scores, int limit, int k) {
  std::vector<int> order;
  for (int i = 0; i < limit; ++i)
    order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (std::isnan(scores[a]) || std::isnan(scores[b]))
      return !std::isnan(scores[a]) && std::isnan(scores[b]);
    return scores[a] > scores[b];
  });
  order.resize(std::min(int(order.size()), k));
  std::sort(order.begin(), order.end());
  order.resize(k, -1);
  return order;
}

void check(const Shape &shape) {
  SCOPED_TRACE(shape.defines());
  Kernels kernels(shape);
  ASSERT_TRUE(kernels.store && kernels.select);
  for (Values kind : {Values::Integers, Values::Random, Values::Special}) {
    const Operands on(shape, kind, 7 + unsigned(kind));
    const int rows = int(on.limits.size()), stride = Operands::columns + 3,
              k = 20;
    std::vector<float> first;
    for (int blocks : {1, 13}) {
      std::vector<float> scores(size_t(rows) * stride, -7.0f);
      kernels.store->setSchedule({ThreadOrder::Random, unsigned(blocks)});
      Status status =
          kernels.run(*kernels.store, blocks, on, (void *)scores.data(), stride,
                      int(Operands::columns));
      ASSERT_TRUE(status.ok()) << status.message();
      if (first.empty())
        expectScores(on, first = scores, stride, kind == Values::Integers);
      // The same bits, whatever block has a step.
      ASSERT_EQ(std::memcmp(scores.data(), first.data(), scores.size() * 4), 0);
    }
    std::vector<int> indices(size_t(rows) * k, -7);
    std::vector<float> values(size_t(rows) * k, -7.0f);
    Status status = kernels.run(*kernels.select, Operands::groups, on,
                                (void *)indices.data(), (void *)values.data());
    ASSERT_TRUE(status.ok()) << status.message();
    for (int row = 0; row < rows; ++row) {
      const std::vector<int> got(&indices[size_t(row) * k],
                                 &indices[size_t(row) * k] + k);
      ASSERT_EQ(got, choose(&first[size_t(row) * stride],
                            std::max(on.limits[row], 0), k))
          << "row " << row;
    }
  }
}

Shape with(bool keysFP4, bool queryFP4, int heads) {
  Shape shape;
  shape.keysFP4 = keysFP4;
  shape.queryFP4 = queryFP4;
  shape.heads = heads;
  return shape;
}

} // namespace

TEST(IndexScore, KeysAndQueries) {
  check(with(true, false, 8));
  check(with(false, false, 5));
  check(with(true, true, 3));
  check(with(false, true, 33));
}
TEST(IndexScore, NVFP4) {
  Shape shape = with(true, false, 3);
  shape.nvfp4 = true;
  shape.tiles = 1;
  check(shape);
  shape.interleaved = shape.queryFP4 = true;
  check(shape);
}
TEST(IndexScore, Heads) {
  check(with(true, false, 1));
  check(with(false, false, 70));
}
TEST(IndexScore, Pages) {
  for (int size : {1, 3, 16, 100, 256}) {
    Shape shape = with(size % 2, false, 2);
    shape.pageSize = size;
    check(shape);
  }
}
TEST(IndexScore, Interleaved) {
  for (bool keysFP4 : {true, false}) {
    Shape shape = with(keysFP4, false, 2);
    shape.interleaved = true;
    check(shape);
  }
}
TEST(IndexScore, QueriesOfAGroup) {
  for (int queries : {2, 5}) {
    Shape shape = with(true, false, 2);
    shape.queries = queries;
    check(shape);
  }
}
TEST(IndexScore, Schedules) {
  for (auto [warpgroups, tiles] : {std::pair(3, 2), std::pair(4, 1)}) {
    Shape shape = with(true, false, 2);
    shape.warpgroups = warpgroups;
    shape.tiles = tiles;
    check(shape);
  }
}
