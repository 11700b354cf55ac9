//===- CompressTest.cpp - Windows of tokens by hand -----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompressFixture.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <set>

using namespace dsv4;
using namespace dsv4::reference;

namespace {
class CompressTest : public CompressFixture {};

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

/// With one maximum and one tree for all rows.
float poolAtOnce(const float *values, const float *scores, int count) {
  float max = *std::max_element(scores, scores + count);
  Floats e, products;
  for (int i = 0; i < count; ++i) {
    e.push_back(expF32(scores[i] - max));
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

} // namespace
