//===- CompressTest.cpp - Windows of tokens by hand -----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <set>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// A number that is in no expected result.
constexpr float kOther = 77777;

/// A state of one or two rows of `columns` numbers.
std::string cache(int page, int columns, const std::string &where = "row",
                  const std::string &type = "f32") {
  std::string rest =
      std::to_string(columns) + " x " + type + " in " + where + ">";
  return "!dsv4.cache<" + std::to_string(page) + " x <[<\"v\" : " + rest +
         ", <\"s\" : " + rest + "]>>";
}

/// What an op has besides its values, scores, plan and destination, which are
/// bindings 0 to 3.
struct More {
  std::string arguments, operands;
  std::string type = "f32", result = "f32", after = "";
};

class CompressTest : public InterpreterFixture {
protected:
  void parseCompress(int window, bool overlap, int channels,
                     const More &more = {}) {
    int columns = overlap ? 2 * channels : channels;
    std::string x = "tensor<?x" + std::to_string(columns) + "x" + more.type +
                    ">",
                out = "tensor<?x" + std::to_string(channels) + "x" +
                      more.result + ">";
    parse("%v: " + x + ", %s: " + x + ", %p: tensor<?x4xi32>, %o: " + out +
              more.arguments,
          "%r = dsv4.compress %v, %s window " + std::to_string(window) +
              (overlap ? " overlap" : "") + " plan(%p : tensor<?x4xi32>)" +
              more.operands + " outs(%o : " + out + ") : " + x + ", " + x +
              "\n" + more.after);
  }

  using Plan = std::vector<std::array<int32_t, 4>>;

  /// Binds values, scores, plan and destination.
  void bindLaunch(int columns, const std::vector<float> &values,
                  const std::vector<float> &scores, const Plan &plan,
                  int channels) {
    int64_t tokens = int64_t(values.size()) / columns;
    bind<float>({tokens, columns}, values);
    bind<float>({tokens, columns}, scores);
    bindPlan(plan);
    bytes({int64_t(plan.size()), channels}, plan.size() * channels * 4, 0xAB);
  }
  void bindPlan(const Plan &plan) {
    std::vector<int32_t> flat;
    for (auto &row : plan)
      flat.insert(flat.end(), row.begin(), row.end());
    bind<int32_t>({int64_t(plan.size()), 4}, flat);
  }

  /// Runs it on one channel without bias or state.
  std::vector<float> pool(int window, const std::vector<float> &values,
                          const std::vector<float> &scores, const Plan &plan) {
    parseCompress(window, false, 1);
    bindLaunch(1, values, scores, plan, 1);
    run();
    return read<float>(3);
  }
  float poolOne(const std::vector<float> &values,
                const std::vector<float> &scores) {
    return pool(int(values.size()), values, scores, {{0, 0, 0, 0}}).front();
  }
};

using Floats = std::vector<float>;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

TEST_F(CompressTest, EqualScoresGiveTheMean) {
  parseCompress(2, false, 2);
  bindLaunch(2, {1, 2, 3, 6, 10, 20, 30, -20}, {5, -7, 5, -7, 0, 1, 0, 1},
             {{0, 0, 0, 0}, {2, 0, 0, 0}, {8, 3, 7, 1}}, 2);
  run();
  EXPECT_EQ(read<float>(3), (Floats{2, 4, 20, 0, 20, 0}));
}

TEST_F(CompressTest, OneScoreDominates) {
  EXPECT_EQ(poolOne({3, 4, 5}, {0, 100, 1}), 4);
  EXPECT_EQ(poolOne({3, 4, 5}, {-1e30f, -1e30f, 1e30f}), 5);
}

TEST_F(CompressTest, WeightsByHand) {
  volatile float e = expF32(-1.5f), product = 5 * e;
  volatile float sum = 1 + e, weighted = 3 + product;
  EXPECT_EQ(poolOne({3, 5}, {0.5f, -1}), weighted / sum);
  EXPECT_NEAR(poolOne({3, 5}, {0.5f, -1}), 3.3648, 1e-4);
  // Scores count by their differences.
  EXPECT_EQ(poolOne({3, 5}, {1000.5f, 999}), weighted / sum);
}

TEST_F(CompressTest, OverlapHasTwoStreams) {
  parseCompress(2, true, 1);
  // Columns of the other stream are not read.
  bindLaunch(2, {1, kNaN, 2, kNaN, kNaN, 3, kNaN, 4},
             {9, kNaN, 9, kNaN, kNaN, 9, kNaN, 9}, {{2, 0, 0, 0}}, 1);
  run();
  EXPECT_EQ(read<float>(3), (Floats{2.5f}));
}

TEST_F(CompressTest, FirstWindowOfOverlap) {
  parseCompress(2, true, 1);
  bindLaunch(2, {kNaN, 3, kNaN, 5}, {kNaN, 1, kNaN, 1}, {{0, 0, 0, 0}}, 1);
  run();
  EXPECT_EQ(read<float>(3), (Floats{4}));
}

TEST_F(CompressTest, InfinitiesAndNaN) {
  // Tokens that are there, but none of which has any weight.
  EXPECT_EQ(poolOne({1, 2}, {-kInfinity, -kInfinity}), 0);
  EXPECT_EQ(poolOne({kInfinity, kNaN}, {-kInfinity, -kInfinity}), 0);
  EXPECT_EQ(poolOne({1, 2}, {-kInfinity, -3e38f}), 2);
  EXPECT_TRUE(std::isnan(poolOne({1, 2}, {kInfinity, 0})));
  EXPECT_TRUE(std::isnan(poolOne({1, 2}, {kNaN, 0})));
  EXPECT_TRUE(std::isnan(poolOne({1, 2}, {kNaN, kNaN})));
  // Weight 0 times infinity.
  EXPECT_TRUE(std::isnan(poolOne({kInfinity, 2}, {-kInfinity, 0})));
  EXPECT_EQ(poolOne({-kInfinity, 2}, {0, 0}), -kInfinity);
  // Every NaN is the same.
  parseCompress(1, false, 1);
  bindLaunch(1, {1}, {0}, {{0, 0, 0, 0}}, 1);
  poke<uint32_t>(0, 0, 0xFFC12345);
  run();
  EXPECT_EQ(read<uint32_t>(3)[0], 0x7FFFFFFFu);
}

TEST_F(CompressTest, NaNStaysInItsEntryAndChannel) {
  parseCompress(2, false, 2);
  for (unsigned binding : {0, 1}) {
    inputs = {};
    bindLaunch(2, {1, 2, 3, 4, 5, 6, 7, 8}, {0, 0, 0, 0, 0, 0, 0, 0},
               {{0, 0, 0, 0}, {2, 0, 0, 0}}, 2);
    poke<float>(binding, 4, kNaN);
    run();
    Floats pooled = read<float>(3);
    EXPECT_TRUE(std::isnan(pooled[1]));
    EXPECT_EQ(pooled[0], 2);
    EXPECT_EQ(pooled[2], 6);
    EXPECT_EQ(pooled[3], 7);
  }
}

//===----------------------------------------------------------------------===//
// Blocks of eight
//===----------------------------------------------------------------------===//

TEST_F(CompressTest, NineRowsAreTwoBlocks) {
  // 1 to 8 with weight 1 in their block, then one whose score is larger.
  volatile float f = expF32(-1), sum = 8 * f, weighted = 36 * f;
  volatile float s = sum + 1, a = weighted + 100;
  EXPECT_EQ(poolOne({1, 2, 3, 4, 5, 6, 7, 8, 100}, {2, 2, 2, 2, 2, 2, 2, 2, 3}),
            a / s);
}

TEST_F(CompressTest, BlocksThatAreNotThere) {
  const float no = -kInfinity;
  EXPECT_EQ(poolOne({1, 2, 3, 4, 5, 6, 7, 8, 9},
                    {no, no, no, no, no, no, no, no, -5}),
            9);
  EXPECT_EQ(
      poolOne({1, 2, 3, 4, 5, 6, 7, 8, 9}, {2, no, no, no, no, no, no, no, no}),
      1);
  // The first eight are before position 0.
  parseCompress(8, true, 1);
  bindLaunch(2, Floats(16, 3), Floats(16, 0), {{0, 0, 0, 0}, {16, 0, 16, 0}},
             1);
  run();
  EXPECT_EQ(read<float>(3), (Floats{3, 3}));
}

TEST_F(CompressTest, SignOfZero) {
  // A block that is filled up has a positive zero among its products.
  for (int window : {1, 3, 7, 8, 9, 15, 16, 17, 24})
    EXPECT_EQ(std::signbit(poolOne(Floats(window, -0.0f), Floats(window, 1))),
              window <= 8 || window % 8 == 0)
        << window;
}

struct Sums {
  float most, sum, weighted;
};

/// The same tree from its root: the left half is the largest power of two.
float sumRows(const float *x, int count) {
  if (count == 1)
    return *x;
  int half = 1;
  while (2 * half < count)
    half *= 2;
  volatile float left = sumRows(x, half);
  volatile float right = sumRows(x + half, count - half);
  return left + right;
}
Sums poolRows(const float *values, const float *scores, int count) {
  if (count <= 8) {
    float most = -kInfinity, e[8], product[8];
    for (int i = 0; i < count; ++i)
      most = std::fmax(most, scores[i]);
    for (int i = 0; i < count; ++i) {
      volatile float x = scores[i] - (std::isinf(most) ? 0 : most);
      e[i] = expF32(x);
      volatile float p = e[i] * values[i];
      product[i] = p;
    }
    return {most, sumRows(e, count), sumRows(product, count)};
  }
  int half = 8;
  while (2 * half < count)
    half *= 2;
  Sums a = poolRows(values, scores, half);
  Sums b = poolRows(values + half, scores + half, count - half);
  float most = std::fmax(a.most, b.most), base = std::isinf(most) ? 0 : most;
  auto join = [&](float x, float y) {
    volatile float p = x * expF32(a.most - base);
    volatile float q = y * expF32(b.most - base);
    volatile float r = p + q;
    return r;
  };
  return {most, join(a.sum, b.sum), join(a.weighted, b.weighted)};
}

/// With one maximum and one tree for all rows.
float poolAtOnce(const float *values, const float *scores, int count) {
  float most = *std::max_element(scores, scores + count);
  Floats e, products;
  for (int i = 0; i < count; ++i) {
    e.push_back(expF32(scores[i] - most));
    products.push_back(e.back() * values[i]);
  }
  return sumRows(products.data(), count) / sumRows(e.data(), count);
}

TEST_F(CompressTest, WindowsOfAnyLength) {
  Random random(1);
  int differ = 0;
  auto number = [&](float limit) {
    return float(limit * (2 * random.unit() - 1));
  };
  for (int window : {1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 25, 33, 40, 41, 64, 100,
                     128, 1000, 1024}) {
    Floats values, scores;
    for (int i = 0; i < 4 * window; ++i) {
      values.push_back(number(10));
      scores.push_back(random.below(6) == 0 ? -kInfinity : number(i % 3 + 1));
    }
    // Blocks without any weight too.
    std::fill_n(scores.begin(), window * 2 / 3, -kInfinity);
    scores[window - 1] = 0;
    Plan plan;
    for (int i = 0; i < 4; ++i)
      plan.push_back({i * window, 0, 0, 0});
    Floats pooled = pool(window, values, scores, plan);
    for (int i = 0; i < 4; ++i) {
      Sums sums = poolRows(&values[i * window], &scores[i * window], window);
      if (sums.sum == 0)
        EXPECT_EQ(pooled[i], 0) << window;
      else
        EXPECT_EQ(pooled[i], sums.weighted / sums.sum) << window;
      float other =
          poolAtOnce(&values[i * window], &scores[i * window], window);
      EXPECT_TRUE(window > 8 || sums.sum == 0 || pooled[i] == other);
      differ += sums.sum != 0 && pooled[i] != other;
    }
  }
  EXPECT_GT(differ, 10);
}

TEST_F(CompressTest, NearASoftmaxInDoublePrecision) {
  Random random(2);
  for (int window : {4, 128}) {
    Floats values, scores;
    for (int i = 0; i < 50 * window; ++i) {
      values.push_back(float(4 + 2 * random.unit()));
      scores.push_back(float(8 * random.unit() - 4));
    }
    Plan plan;
    for (int i = 0; i < 50; ++i)
      plan.push_back({i * window, 0, 0, 0});
    Floats pooled = pool(window, values, scores, plan);
    for (int i = 0; i < 50; ++i) {
      double sum = 0, weighted = 0;
      for (int row = i * window; row < (i + 1) * window; ++row) {
        sum += std::exp(double(scores[row]));
        weighted += std::exp(double(scores[row])) * double(values[row]);
      }
      EXPECT_NEAR(pooled[i], weighted / sum, 1e-6 * weighted / sum) << window;
    }
  }
}

//===----------------------------------------------------------------------===//
// Bias
//===----------------------------------------------------------------------===//

TEST_F(CompressTest, BiasOfRows) {
  parseCompress(3, false, 2,
                {", %b: tensor<3x2xf32>", " bias(%b : tensor<3x2xf32>)"});
  // Row 0 of the launch is position 5. Channel 0 takes the first token of a
  // window, wherever that begins, channel 1 the one after.
  Floats values;
  for (int t = 5; t < 13; ++t)
    values.insert(values.end(), {float(t), float(100 * t)});
  bindLaunch(2, values, Floats(16, 0),
             {{6, 0, 5, 0}, {9, 0, 5, 0}, {7, 0, 5, 0}, {8, 0, 5, 0}}, 2);
  bind<float>({3, 2}, {0, -1000, -1000, 0, -1000, -1000});
  run();
  EXPECT_EQ(read<float>(3), (Floats{6, 700, 9, 1000, 7, 800, 8, 900}));
}

TEST_F(CompressTest, BiasOfTwoStreams) {
  parseCompress(2, true, 1,
                {", %b: tensor<2x2xf32>", " bias(%b : tensor<2x2xf32>)"});
  for (unsigned favoured = 0; favoured < 4; ++favoured) {
    inputs = {};
    // Positions 2, 3 of the first stream, 4, 5 of the second.
    bindLaunch(2, {20, kOther, 30, kOther, kOther, 40, kOther, 50},
               Floats(8, 1), {{4, 0, 2, 0}}, 1);
    Floats bias(4, -1000);
    bias[favoured] = 3;
    bind<float>({2, 2}, bias);
    run();
    // Rows of the bias are those of a window, its columns the streams.
    const float expected[] = {20, 40, 30, 50};
    EXPECT_EQ(read<float>(3)[0], expected[favoured]) << favoured;
  }
}

TEST_F(CompressTest, BiasOfATokenThatIsNotThere) {
  parseCompress(2, false, 1,
                {", %b: tensor<2x1xf32>", " bias(%b : tensor<2x1xf32>)"});
  // Nothing is added for it.
  for (float bias : {kNaN, kInfinity, 1000.0f}) {
    inputs = {};
    bindLaunch(1, {5}, {0}, {{0, 0, 1, 0}}, 1);
    bind<float>({2, 1}, {bias, -1});
    run();
    EXPECT_EQ(read<float>(3), (Floats{5}));
  }
}

//===----------------------------------------------------------------------===//
// The state
//===----------------------------------------------------------------------===//

/// Entries of one column each, value and score.
Floats makeState(int entries,
                 std::initializer_list<std::pair<int, float>> values) {
  Floats state(2 * entries, kOther);
  for (int i = 0; i < entries; ++i)
    state[2 * i + 1] = 0;
  for (auto [entry, value] : values)
    state[2 * entry] = value;
  return state;
}

TEST_F(CompressTest, Ring) {
  for (int page : {1, 2, 4, 8}) {
    std::string type = cache(page, 1);
    parseCompress(4, false, 1,
                  {", %c: " + type, " state(%c : " + type + ") ring 4"});
    // Positions 4, 5 of request 1 are its slots 0, 1; of request 0, 10 and 11
    // are slots 2, 3, and 8 and 9 have been there, 12 is in the launch.
    bindLaunch(1, {30, 40, 16}, {0, 0, 0},
               {{4, 1, 6, 0}, {8, 0, 12, 2}, {9, 0, 12, 2}}, 1);
    bind<float>(
        {8 / page, page * 8},
        makeState(8, {{0, 1}, {1, 3}, {2, 5}, {3, 7}, {4, 10}, {5, 20}}));
    run();
    EXPECT_EQ(read<float>(3), (Floats{25, 4, 7.75f})) << page;
  }
}

TEST_F(CompressTest, Pages) {
  std::string type = cache(2, 1);
  parseCompress(4, false, 1,
                {", %c: " + type + ", %t: tensor<?x?xi32>",
                 " state(%c : " + type + ") pages(%t : tensor<?x?xi32>)"});
  // Request 1 has positions 0, 1 in page 3, 2, 3 in page 0, 4, 5 in page 1.
  bindLaunch(1, {60}, {0},
             {{0, 1, 6, 0}, {2, 1, 6, 0}, {3, 1, 6, 0}, {4, 1, 6, 0}}, 1);
  bind<float>({4, 16},
              makeState(8, {{6, 1}, {7, 3}, {0, 5}, {1, 7}, {2, 9}, {3, 11}}));
  bind<int32_t>({2, 3}, {2, 2, 2, 3, 0, 1});
  run();
  // The last row of the third is 7, which is neither here nor there.
  EXPECT_EQ(read<float>(3), (Floats{4, 8, 21.75f, 80.0f / 3}));
}

TEST_F(CompressTest, PagesThatAreNotThere) {
  std::string type = cache(2, 1);
  parseCompress(2, false, 1,
                {", %c: " + type + ", %t: tensor<?x?xi32>",
                 " state(%c : " + type + ") pages(%t : tensor<?x?xi32>)"});
  Plan plan;
  // Position w is of the state and w + 1 of the launch.
  for (int request : {0, 1, 2, -1, 3, INT_MIN, INT_MAX})
    plan.push_back({1, request, 2, 0});
  plan.push_back({3, 2, 4, 0}); // Column 1.
  plan.push_back({5, 2, 6, 0}); // Column 2: there is none.
  constexpr int most = CompressOp::kMaxPosition;
  plan.push_back({most, 2, most, 0}); // Its position is the first row's.
  plan.push_back({most - 1, 2, most, 0});
  plan.push_back({most + 1, 2, most + 1, 0}); // Beyond all positions.
  bindLaunch(1, {10}, {0}, plan, 1);
  bind<float>({2, 16}, makeState(4, {{3, 20}}));
  bind<int32_t>({3, 2}, {-1, 1, 2, 1, 1, 1});
  run();
  EXPECT_EQ(read<float>(3),
            (Floats{10, 10, 15, 10, 10, 10, 10, 15, 10, 10, 10, 0}));
}

TEST_F(CompressTest, RingInPages) {
  std::string type = cache(2, 1);
  parseCompress(
      4, false, 1,
      {", %c: " + type + ", %t: tensor<?x?xi32>",
       " state(%c : " + type + ") ring 4 pages(%t : tensor<?x?xi32>)"});
  // Positions 4, 5 are slots 0, 1, in page 2 of request 1; 6 is slot 2, which
  // is in page 0.
  bindLaunch(1, {70}, {0}, {{4, 1, 7, 0}, {4, 0, 7, 0}, {4, 2, 7, 0}}, 1);
  bind<float>({3, 16}, makeState(6, {{4, 40}, {5, 50}, {0, 60}}));
  bind<int32_t>({3, 2}, {2, -1, 2, 0, 3, 0});
  run();
  EXPECT_EQ(read<float>(3), (Floats{55, 160.0f / 3, 65}));
  // A table of one column has no place for slot 2 of request 1.
  inputs.shapes[5] = {3, 1};
  inputs.bytes[5].resize(12);
  poke<int32_t>(5, 4, 2);
  run();
  EXPECT_EQ(read<float>(3)[0], 160.0f / 3);
}

TEST_F(CompressTest, RingWithinAPage) {
  std::string type = cache(8, 1);
  parseCompress(
      4, false, 1,
      {", %c: " + type + ", %t: tensor<?x?xi32>",
       " state(%c : " + type + ") ring 4 pages(%t : tensor<?x?xi32>)"});
  bindLaunch(1, {70}, {0}, {{4, 0, 7, 0}}, 1);
  bind<float>({2, 64}, makeState(16, {{8, 40}, {9, 50}, {10, 60}}));
  bind<int32_t>({1, 1}, {1});
  run();
  EXPECT_EQ(read<float>(3), (Floats{55}));
}

TEST_F(CompressTest, BiasedState) {
  std::string type = cache(2, 1);
  for (bool biased : {false, true}) {
    parseCompress(2, false, 1,
                  {", %c: " + type + ", %b: tensor<2x1xf32>",
                   " bias(%b : tensor<2x1xf32>) state(%c : " + type +
                       ") ring 2" + (biased ? " biased" : "")});
    // Position 2 is of the state. With its bias it is alone, without it has the
    // score of the other.
    bindLaunch(1, {10}, {1}, {{2, 0, 3, 0}}, 1);
    bind<float>({1, 16}, makeState(2, {{0, 20}}));
    poke<float>(4, 4, 4.0f);
    bind<float>({2, 1}, {1000, 3});
    run();
    EXPECT_EQ(read<float>(3)[0], biased ? 15 : 20);
  }
}

TEST_F(CompressTest, StateInArrays) {
  std::string type = cache(2, 2, "array");
  parseCompress(2, true, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 4"});
  // Positions 2, 3 (first column), 4 (second) of request 1 are its slots 2, 3,
  // 0.
  bindLaunch(2, {kOther, 80}, {kOther, 0}, {{4, 1, 5, 0}}, 1);
  Floats values(16, kOther), scores(16, kOther);
  values[2 * 6] = 20, values[2 * 7] = 40, values[2 * 4 + 1] = 60;
  scores[2 * 6] = scores[2 * 7] = scores[2 * 4 + 1] = 0;
  bind<float>({4, 2, 8}, values);
  bind<float>({4, 2, 8}, scores);
  run();
  EXPECT_EQ(read<float>(3), (Floats{50}));
}

TEST_F(CompressTest, BF16) {
  std::string type = cache(2, 1, "row", "bf16");
  parseCompress(
      2, false, 1,
      {", %c: " + type, " state(%c : " + type + ") ring 2", "bf16", "bf16"});
  bind<uint16_t>({2, 1}, {0x4040, 0x3F80}); // 3, 1.
  bind<uint16_t>({2, 1}, {0, 0});
  bindPlan({{0, 0, 0, 0}, {2, 0, 3, 0}, {2, 0, 2, 2}});
  bytes({3, 1}, 6, 0xAB);
  bind<uint16_t>({1, 8}, {0x3F81, 0, 0, 0}); // 1 + 2^-7, whatever follows.
  run();
  // (3 + 1 + 2^-7) / 2 is halfway between 2 and 2 + 2^-6, up to 2^-8.
  EXPECT_EQ(read<uint16_t>(3), (std::vector<uint16_t>{0x4000, 0x4000, 0}));
  // A result of fp32 is not rounded again.
  parseCompress(2, false, 1, {"", "", "bf16", "f32"});
  bind<uint16_t>({2, 1}, {0x4040, 0x3F81});
  bind<uint16_t>({2, 1}, {0, 0});
  bindPlan({{0, 0, 0, 0}});
  bytes({1, 1}, 4, 0xAB);
  run();
  EXPECT_EQ(read<float>(3)[0], 2.00390625f);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

TEST_F(CompressTest, VoidEntries) {
  parseCompress(2, false, 2);
  bindLaunch(2, {1, 2, 3, 4}, Floats(4, 0),
             {{-1, 0, 0, 0},
              {INT_MIN, 0, INT_MIN, 0},
              {0, 0, 0, 0},
              {-1, 0, -1, 0},
              {0, 0, 2, 0},
              {2, 0, 0, 0},
              {INT_MAX, 0, 0, 0},
              {INT_MAX, 0, INT_MIN, INT_MAX},
              {0, 0, INT_MAX, INT_MIN}},
             2);
  run();
  Floats expected(18, 0);
  expected[4] = 2, expected[5] = 3;
  EXPECT_EQ(read<float>(3), expected);
  for (uint32_t code : {read<uint32_t>(3)[0], read<uint32_t>(3)[12]})
    EXPECT_EQ(code, 0u);
}

TEST_F(CompressTest, NothingAtAll) {
  parseCompress(2, false, 2);
  bindLaunch(2, {}, {}, {{0, 0, 0, 0}}, 2);
  run();
  EXPECT_EQ(read<float>(3), (Floats{0, 0}));
  inputs = {};
  bindLaunch(2, {1, 2}, {1, 2}, {}, 2);
  run();
}

TEST_F(CompressTest, TokensOutsideTheLaunch) {
  // Rows 0, 1 of the window are rows `token` + 0, 1 of values.
  EXPECT_EQ(pool(2, {10, 20}, {0, 0},
                 {{0, 0, 0, -1},
                  {0, 0, 0, 1},
                  {0, 0, 0, 2},
                  {0, 0, 0, -2},
                  {0, 0, 0, INT_MAX},
                  {0, 0, 0, INT_MIN},
                  // Positions from far below 0 on.
                  {4, 0, -3, -7},
                  {INT_MAX, 0, INT_MIN, INT_MIN},
                  {int(CompressOp::kMaxPosition) - 1, 0,
                   int(CompressOp::kMaxPosition), 1}}),
            (Floats{10, 20, 0, 0, 0, 0, 15, 0, 20}));
  // 2^31 - 1 + 2^31 - 2^31 is the last of so many rows.
  EXPECT_EQ(pool(2, {10, 20}, {0, 0}, {{0, 0, INT_MIN, INT_MIN}}),
            (Floats{15}));
}

TEST_F(CompressTest, RequestsOutsideTheState) {
  std::string type = cache(2, 1);
  parseCompress(2, false, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 2"});
  bindLaunch(1, {10}, {0},
             {{0, 0, 1, 0},
              {0, 1, 1, 0},
              {0, 2, 1, 0},
              {0, -1, 1, 0},
              {0, INT_MIN, 1, 0},
              {0, INT_MAX, 1, 0},
              {0, INT_MAX, 0, -1}},
             1);
  bind<float>({2, 16}, makeState(4, {{0, 20}, {2, 40}}));
  run();
  // A request without a state has its tokens of the launch still.
  EXPECT_EQ(read<float>(3), (Floats{15, 25, 10, 10, 10, 10, 10}));
}

TEST_F(CompressTest, LongestRing) {
  // Requests times the ring is more than 2^31.
  std::string type = cache(1, 1);
  parseCompress(2, false, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 2147483647"});
  bindLaunch(1, {10}, {0},
             {{0, INT_MAX, 1, 0},
              {0, 2, 1, 0},
              {int(CompressOp::kMaxPosition) - 1, 0,
               int(CompressOp::kMaxPosition), 0}},
             1);
  bind<float>({1, 8}, makeState(1, {{0, 20}}));
  run();
  EXPECT_EQ(read<float>(3), (Floats{10, 10, 10}));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// An append of all tokens to the state, after the op has read it.
TEST_F(CompressTest, AnyLaunchesGiveTheSameEntries) {
  const int window = 4, channels = 3, columns = 6, total = 44;
  std::string type = cache(4, columns), x = "tensor<?x6xf32>";
  More more{", %c: " + type + ", %b: tensor<4x6xf32>, %i: tensor<?xi32>," +
                " %q: tensor<?xi32>, %l: tensor<?xi32>",
            " bias(%b : tensor<4x6xf32>) state(%c : " + type + ") ring 8"};
  more.after = "dsv4.paged_append %c[%i] ring 8 requests(%q : tensor<?xi32>)"
               " lengths(%l : tensor<?xi32>) fields(%v, %s : " +
               x + ", " + x + ") : " + type + ", tensor<?xi32>";
  parseCompress(window, true, channels, more);

  Random random(3);
  Floats values, scores, bias;
  for (int i = 0; i < total * columns; ++i) {
    values.push_back(float(random.unit() - 0.5));
    scores.push_back(float(6 * random.unit()));
  }
  for (int i = 0; i < window * columns; ++i)
    bias.push_back(float(random.unit()));
  Floats expected;
  const int one[] = {1}, four[] = {4}, some[] = {7, 1, 12, 3, 2, 9},
            all[] = {total};
  for (llvm::ArrayRef<int> lengths :
       {llvm::ArrayRef(all), llvm::ArrayRef(one), llvm::ArrayRef(four),
        llvm::ArrayRef(some)}) {
    Floats entries;
    std::vector<char> state(4 * 4 * columns * 8, char(0xFF)); // NaN.
    for (int begin = 0, i = 0; begin < total; ++i) {
      int end = std::min(begin + lengths[i % lengths.size()], total);
      Plan plan;
      for (int w = 0; w + window <= end; w += window)
        if (w + window > begin)
          plan.push_back({w, 1, begin, 0});
      inputs = {};
      bindLaunch(columns,
                 {&values[begin * columns], values.data() + end * columns},
                 {&scores[begin * columns], scores.data() + end * columns},
                 plan, channels);
      bind<char>({4, 4 * columns * 8}, state);
      bind<float>({window, columns}, bias);
      std::vector<int32_t> positions;
      for (int t = begin; t < end; ++t)
        positions.push_back(t);
      bind<int32_t>({end - begin}, positions);
      bind<int32_t>({end - begin}, std::vector<int32_t>(end - begin, 1));
      bind<int32_t>({2}, {0, end});
      run();
      Floats pooled = read<float>(3);
      entries.insert(entries.end(), pooled.begin(), pooled.end());
      state = inputs.bytes[4];
      begin = end;
    }
    if (expected.empty())
      expected = entries;
    ASSERT_EQ(entries.size(), size_t(total / window * channels));
    EXPECT_EQ(entries, expected) << lengths.size();
  }
  // All of it by the definition: entry 5, channel 2.
  Floats rowScores, rowValues;
  for (int t = 16; t < 24; ++t) {
    int column = t < 20 ? 2 : 5;
    volatile float score =
        scores[t * columns + column] + bias[t % 4 * columns + column];
    rowScores.push_back(float(score));
    rowValues.push_back(values[t * columns + column]);
  }
  Sums sums = poolRows(rowValues.data(), rowScores.data(), 8);
  EXPECT_EQ(expected[5 * channels + 2], sums.weighted / sums.sum);
}

TEST_F(CompressTest, SignatureOfAState) {
  std::string type = cache(2, 1);
  parseCompress(2, false, 1,
                {", %c: " + type, " state(%c : " + type + ") ring 2"});
  auto signature = readSignature(func);
  ASSERT_TRUE(signature.ok());
  EXPECT_TRUE(signature->bindings[3].written && !signature->holdsInput[3]);
  EXPECT_FALSE(signature->bindings[4].written);
}

TEST_F(CompressTest, ShapesThatDoNotFit) {
  parseCompress(2, false, 1);
  bindLaunch(1, {1, 2}, {1, 2}, {{0, 0, 0, 0}}, 1);
  inputs.shapes[1] = {1, 1};
  EXPECT_EQ(error(), "dsv4.compress: expected 'scores', binding 'arg1', of "
                     "shape [2, 1], got [1, 1]");
  inputs.shapes[1] = {2, 1};
  inputs.shapes[3] = {2, 1};
  EXPECT_EQ(error(), "dsv4.compress: expected 'outs', binding 'arg3', of shape "
                     "[1, 1], got [2, 1]");
}

//===----------------------------------------------------------------------===//
// Random inputs
//===----------------------------------------------------------------------===//

TEST_F(CompressTest, RandomPlans) {
  std::string type = cache(4, 8);
  parseCompress(4, true, 4,
                {", %c: " + type + ", %t: tensor<?x?xi32>, %b: tensor<4x8xf32>",
                 " bias(%b : tensor<4x8xf32>) state(%c : " + type +
                     ") ring 8 pages(%t : tensor<?x?xi32>)"});
  std::map<std::string, int64_t> dims = {
      {"arg0.0", 100},    {"arg1.0", 100}, {"arg2.0", 40}, {"arg3.0", 40},
      {"arg4.pages", 20}, {"arg5.0", 10},  {"arg5.1", 2}};
  unsigned inLaunch = 0, mixed = 0, first = 0, empty = 0, numbers = 0,
           other = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    inputs = makeRandomInputs(func, dims, seed).take();
    EXPECT_EQ(inputs.bytes, makeRandomInputs(func, dims, seed)->bytes);
    for (unsigned binding : {4, 6})
      for (float number : read<float>(binding))
        EXPECT_LE(std::fabs(number), 4);
    auto plan = read<int32_t>(2), table = read<int32_t>(5);
    for (size_t i = 0; i < plan.size(); i += 4) {
      int64_t w = plan[i], position = plan[i + 2], last = w + 3;
      int64_t token = plan[i + 3] + last - position;
      bool good = w >= 0 && w % 4 == 0 && plan[i + 1] >= 0 &&
                  plan[i + 1] < 10 && position >= 0 && plan[i + 3] >= 0 &&
                  last >= position && token < 100;
      if (!good) {
        ++other;
        continue;
      }
      first += w == 0;
      ++(w - 4 >= position ? inLaunch : mixed);
    }
    run();
    for (float number : read<float>(3)) {
      empty += number == 0;
      numbers += std::isfinite(number);
    }
  }
  EXPECT_GT(inLaunch, 50u);
  EXPECT_GT(mixed, 250u);
  EXPECT_GT(first, 100u);
  EXPECT_GT(other, 200u);
  EXPECT_LT(other, 400u);
  EXPECT_GT(empty, 100u);
  EXPECT_GT(numbers, 2400u); // Of 3200.
}

TEST_F(CompressTest, RandomOfEveryKind) {
  std::string row = cache(4, 2, "row", "bf16"),
              array = cache(4, 2, "array", "bf16");
  const std::pair<std::string, std::string> states[] = {
      {"", ""},
      {", %c: " + row, " state(%c : " + row + ") ring 4"},
      {", %c: " + array + ", %t: tensor<?x?xi32>",
       " state(%c : " + array + ") pages(%t : tensor<?x?xi32>)"}};
  for (auto &[arguments, operands] : states)
    for (Codes codes : {Codes::Finite, Codes::NoNaN, Codes::All})
      for (int64_t tokens : {0, 1, 37})
        for (int64_t entries : {0, 1, 50}) {
          parseCompress(3, false, 2, {arguments, operands, "bf16", "bf16"});
          std::map<std::string, int64_t> dims = {
              {"arg0.0", tokens},  {"arg1.0", tokens},     {"arg2.0", entries},
              {"arg3.0", entries}, {"arg4.pages", tokens}, {"arg5.0", entries},
              {"arg5.1", 2}};
          auto made = makeRandomInputs(func, dims, 5, codes);
          ASSERT_TRUE(made.ok()) << made.status().message();
          inputs = made.take();
          bool nan = false;
          for (unsigned binding : {0, 1})
            for (uint16_t code : read<uint16_t>(binding))
              nan |= std::isnan(decodeBF16(code));
          EXPECT_FALSE(nan && codes != Codes::All);
          EXPECT_TRUE(nan || codes != Codes::All || tokens < 37);
          run();
        }
}

TEST_F(CompressTest, RandomTableOfAnAppendDoesNotRace) {
  std::string type = cache(4, 1), x = "tensor<?x1xf32>";
  More more{", %c: " + type + ", %t: tensor<?x?xi32>, %i: tensor<?xi32>," +
                " %l: tensor<?xi32>",
            " state(%c : " + type + ") ring 8 pages(%t : tensor<?x?xi32>)"};
  more.after = "dsv4.paged_append %c[%i] ring 8 pages(%t : tensor<?x?xi32>)"
               " lengths(%l : tensor<?xi32>) fields(%v, %s : " +
               x + ", " + x + ") : " + type + ", tensor<?xi32>";
  parseCompress(4, false, 1, more);
  std::map<std::string, int64_t> dims = {
      {"arg0.0", 20}, {"arg1.0", 20},     {"arg2.0", 20},
      {"arg3.0", 20}, {"arg4.pages", 50}, {"arg5.0", 20},
      {"arg5.1", 2},  {"arg6.0", 20},     {"arg7.0", 20}};
  auto made = makeRandomInputs(func, dims, 1);
  ASSERT_TRUE(made.ok()) << made.status().message();
  inputs = made.take();
  std::set<int32_t> pages;
  for (int32_t page : read<int32_t>(5))
    EXPECT_TRUE(page < 0 || page >= 50 || pages.insert(page).second);
  EXPECT_GT(pages.size(), 30u);
  run();
}

} // namespace
