//===- RouterTest.cpp - Numbers of the router, by hand --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include "dsv4/Reference/Numerics.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace dsv4::reference;

namespace {

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::numeric_limits<float>::quiet_NaN();

/// How far `value` is from `exact`, in units of the last place of the latter.
double ulps(float value, double exact) {
  int exponent = std::max(std::ilogb(exact), -126);
  return std::fabs(value - exact) / std::ldexp(1.0, exponent - 23);
}

/// sqrt(ln(1 + e^x)) in double precision, of which nothing is lost.
double sqrtSoftplus(double x) {
  return std::sqrt(std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))));
}

/// The largest error of `function` over every 997th float from `from` to `to`,
/// both of one sign, the former nearer to zero.
template <typename Exact>
double findWorst(float (*function)(float), Exact exact, float from, float to) {
  double worst = 0;
  for (uint32_t bits = llvm::bit_cast<uint32_t>(from);
       bits <= llvm::bit_cast<uint32_t>(to); bits += 997) {
    float x = llvm::bit_cast<float>(bits);
    worst = std::max(worst, ulps(function(x), exact(x)));
  }
  return worst;
}

} // namespace

TEST(RouterNumerics, SqrtSoftplusIsNearTheExactOne) {
  EXPECT_LT(findWorst(sqrtSoftplusF32, sqrtSoftplus, 0x1p-126f, 1e30f), 2.1);
  EXPECT_LT(findWorst(sqrtSoftplusF32, sqrtSoftplus, -0x1p-126f, -8.0f), 3.2);
  // The worst of all floats.
  for (float x : {0.32517174f, -6.1335034f})
    EXPECT_LT(ulps(sqrtSoftplusF32(x), sqrtSoftplus(x)), x < 0 ? 3.2 : 2.1);
  // The exponential's own error grows with its argument.
  EXPECT_LT(findWorst(sqrtSoftplusF32, sqrtSoftplus, -8.0f, -174.0f), 20);
}

TEST(RouterNumerics, SqrtSoftplusDoesNotUnderflow) {
  // A softplus of log(1 + exp(x)) is 0 from about -17 on.
  for (float x : {-16.7f, -17.0f, -50.0f, -87.5f, -100.0f, -103.9f, -174.0f}) {
    EXPECT_GT(sqrtSoftplusF32(x), 0.0f) << x;
    EXPECT_LT(ulps(sqrtSoftplusF32(x), std::exp(double(x) / 2)), 25) << x;
  }
  EXPECT_EQ(sqrtSoftplusF32(std::nextafter(-174.0f, -175.0f)), 0.0f);
  EXPECT_EQ(sqrtSoftplusF32(-kInfinity), 0.0f);
  EXPECT_EQ(sqrtSoftplusF32(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(sqrtSoftplusF32(kNaN)));
  // Above 20 softplus is the identity.
  for (float x : {20.0f, 20.5f, 87.5f, 1e30f})
    EXPECT_EQ(sqrtSoftplusF32(x), sqrtF32(x)) << x;
  EXPECT_EQ(sqrtSoftplusF32(0.0f), sqrtSoftplusF32(-0.0f));
}

TEST(RouterNumerics, Sigmoid) {
  auto exact = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(findWorst(sigmoidF32, exact, 0x1p-126f, 100.0f), 1.6);
  EXPECT_LT(findWorst(sigmoidF32, exact, -0x1p-126f, -8.0f), 4.3);
  // The worst of all floats.
  EXPECT_LT(ulps(sigmoidF32(-7.9213004f), exact(-7.9213004f)), 4.3);
  EXPECT_LT(findWorst(sigmoidF32, exact, -8.0f, -87.0f), 20);
  EXPECT_EQ(sigmoidF32(0.0f), 0.5f);
  EXPECT_EQ(sigmoidF32(kInfinity), 1.0f);
  EXPECT_EQ(sigmoidF32(-kInfinity), 0.0f);
  EXPECT_TRUE(std::isnan(sigmoidF32(kNaN)));
}

namespace {

class RouterTest : public InterpreterFixture {
protected:
  /// The weights of one row of 4 scores for 3 places.
  std::vector<float> weigh(const std::vector<float> &scores,
                           const std::vector<int32_t> &indices,
                           const std::string &how) {
    parse("%s: tensor<1x4xf32>, %i: tensor<1x3xi32>, %o: tensor<1x3xf32>",
          "%w = dsv4.route_weights %s[%i] " + how +
              " outs(%o : tensor<1x3xf32>) : tensor<1x4xf32>, tensor<1x3xi32>");
    bind<float>({1, 4}, scores);
    bind<int32_t>({1, 3}, indices);
    bytes({1, 3}, 12);
    run();
    return read<float>(2);
  }
  std::vector<float> gate(const std::vector<float> &logits,
                          const std::string &function, int64_t rows = 1) {
    const int64_t experts = int64_t(logits.size()) / rows;
    std::string type = "tensor<" + std::to_string(rows) + "x" +
                       std::to_string(experts) + "xf32>";
    parse("%x: " + type + ", %o: " + type, "%g = dsv4.gate %x function " +
                                               function + " outs(%o : " + type +
                                               ") : " + type);
    bind<float>({rows, experts}, logits);
    bytes({rows, experts}, logits.size() * 4);
    run();
    return read<float>(1);
  }
  /// The largest errors of a softmax of rows of logits, of those at most 8
  /// below the largest one and of those at most 80 below.
  void findWorstOfSoftmax(const std::vector<float> &logits, int64_t rows,
                          double &nearTo, double &farFrom) {
    const std::vector<float> scores = gate(logits, "softmax", rows);
    const size_t experts = logits.size() / rows;
    for (size_t begin = 0; begin < logits.size(); begin += experts) {
      const float *row = logits.data() + begin;
      const double max = *std::max_element(row, row + experts);
      double sum = 0;
      for (size_t i = 0; i < experts; ++i)
        sum += std::exp(row[i] - max);
      for (size_t i = 0; i < experts; ++i) {
        const double below = max - row[i];
        if (below > 80)
          continue;
        double &worst = below <= 8 ? nearTo : farFrom;
        worst =
            std::max(worst, ulps(scores[begin + i], std::exp(-below) / sum));
      }
    }
  }
};

} // namespace

TEST_F(RouterTest, SoftmaxIsNearTheExactOne) {
  double nearTo = 0, farFrom = 0;
  std::mt19937 random(7);
  for (int64_t experts : {2, 5, 64, 256, 1021})
    for (float spread : {0.5f, 3.0f, 8.0f, 30.0f}) {
      const int64_t rows = 200000 / experts;
      std::normal_distribution<float> normal(3 * spread, spread);
      std::vector<float> logits(rows * experts);
      for (float &logit : logits)
        logit = normal(random);
      findWorstOfSoftmax(logits, rows, nearTo, farFrom);
    }
  // Mostly that a logit minus the largest is rounded: that is 4 units in the
  // last place, and 64.
  EXPECT_LT(nearTo, 16);
  EXPECT_GT(nearTo, 4);
  EXPECT_LT(farFrom, 100);
  EXPECT_GT(farFrom, 64);
}

TEST_F(RouterTest, WeightsAreScoresInTheOrderOfPlaces) {
  EXPECT_EQ(weigh({1, 2, 3, 4}, {3, 0, 2}, ""), (std::vector<float>{4, 1, 3}));
  // One place twice counts twice; what is outside counts nothing.
  EXPECT_EQ(weigh({1, 2, 3, 4}, {1, 1, 4}, "renormalize"),
            (std::vector<float>{0.5, 0.5, 0}));
  EXPECT_EQ(weigh({1, 2, 3, 4}, {-1, INT32_MIN, INT32_MAX}, "renormalize"),
            (std::vector<float>{0, 0, 0}));
}

TEST_F(RouterTest, ScaleComesAfterRenormalisation) {
  EXPECT_EQ(weigh({1, 2, 3, 4}, {0, 2, 3}, "renormalize scale 2.5"),
            (std::vector<float>{0.3125, 0.9375, 1.25}));
  EXPECT_EQ(weigh({1, 2, 3, 4}, {0, 2, 3}, "scale 2.5"),
            (std::vector<float>{2.5, 7.5, 10}));
}

TEST_F(RouterTest, DenominatorIsGuarded) {
  EXPECT_EQ(weigh({0, 0, 0, 0}, {0, 1, 2}, "renormalize scale 1.5"),
            (std::vector<float>{0, 0, 0}));
  // Subnormal sums are divided by the least normal number.
  EXPECT_EQ(weigh({0x1p-130f, 0, 0, 0}, {0, 1, 2}, "renormalize"),
            (std::vector<float>{0.0625, 0, 0}));
  for (float weight : weigh({kNaN, 1, 1, 1}, {0, 1, 2}, "renormalize"))
    EXPECT_TRUE(std::isnan(weight));
}

TEST_F(RouterTest, Uniform) {
  EXPECT_EQ(weigh({1, kNaN, 3, 4}, {3, 1, 4}, "uniform"),
            (std::vector<float>{1.0f / 3, 1.0f / 3, 0}));
}

TEST_F(RouterTest, Softmax) {
  EXPECT_EQ(gate({1, 1, 1, 1}, "softmax"),
            (std::vector<float>{0.25, 0.25, 0.25, 0.25}));
  std::vector<float> far = gate({100, 0, -kInfinity}, "softmax");
  EXPECT_EQ(far[0], 1.0f);
  EXPECT_EQ(far[2], 0.0f);
  for (float logit : {kNaN, kInfinity})
    for (float score : gate({1, logit, 2}, "softmax"))
      EXPECT_TRUE(std::isnan(score));
}

TEST_F(RouterTest, Lookup) {
  parse("%t: tensor<?x2xi32>, %i: tensor<?xi32>, %o: tensor<?x2xi32>",
        "%f = dsv4.lookup %t[%i] outs(%o : tensor<?x2xi32>) : "
        "tensor<?x2xi32>, tensor<?xi32>");
  bind<int32_t>({2, 2}, {10, 11, 20, 21});
  bind<int32_t>({4}, {1, -1, 0, 2});
  bytes({4, 2}, 32);
  run();
  EXPECT_EQ(read<int32_t>(2),
            (std::vector<int32_t>{20, 21, -1, -1, 10, 11, -1, -1}));
}
