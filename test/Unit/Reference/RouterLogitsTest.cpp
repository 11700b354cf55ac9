//===- RouterLogitsTest.cpp - Logits of experts by hand -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include <cmath>
#include <limits>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

constexpr uint16_t kOne = 0x3F80, kTwo = 0x4000, kMinusHalf = 0xBF00,
                   kNaN = 0x7FC0, kInfinity = 0x7F80;
constexpr float kInfinite = std::numeric_limits<float>::infinity();

using RouterLogitsTest = InterpreterFixture;

TEST_F(RouterLogitsTest, Products) {
  parse("%h: tensor<2x3xbf16>, %w: tensor<2x3xbf16>, %o: tensor<2x2xf32>",
        "%r = dsv4.router_logits %h, %w outs(%o : tensor<2x2xf32>)"
        " : tensor<2x3xbf16>, tensor<2x3xbf16>");
  bind<uint16_t>({2, 3}, {kOne, kTwo, kMinusHalf, 0, 0, kTwo});
  bind<uint16_t>({2, 3}, {kTwo, kOne, kTwo, kMinusHalf, 0, kOne});
  bytes({2, 2}, 16, 0xAB);
  run();
  std::vector<float> logits = read<float>(2);
  EXPECT_EQ(logits[0], 1 * 2 + 2 * 1 - 0.5f * 2);
  EXPECT_EQ(logits[1], -0.5f - 0.5f);
  EXPECT_EQ(logits[2], 2.0f * 2);
  EXPECT_EQ(logits[3], 2.0f * 1);
}

TEST_F(RouterLogitsTest, WeightsOfF32) {
  parse("%h: tensor<1x2xbf16>, %w: tensor<1x2xf32>, %o: tensor<1x1xf32>",
        "%r = dsv4.router_logits %h, %w outs(%o : tensor<1x1xf32>)"
        " : tensor<1x2xbf16>, tensor<1x2xf32>");
  bind<uint16_t>({1, 2}, {kTwo, kOne});
  bind<float>({1, 2}, {1.0000001f, -2});
  bytes({1, 1}, 4, 0xAB);
  run();
  EXPECT_EQ(read<float>(2)[0], 2 * (1.0000001f - 1));
}

/// They are of one row, or one expert.
TEST_F(RouterLogitsTest, NotFinite) {
  parse("%h: tensor<3x2xbf16>, %w: tensor<2x2xbf16>, %o: tensor<3x2xf32>",
        "%r = dsv4.router_logits %h, %w outs(%o : tensor<3x2xf32>)"
        " : tensor<3x2xbf16>, tensor<2x2xbf16>");
  bind<uint16_t>({3, 2}, {kNaN, kOne, 0, kOne, kOne, kTwo});
  bind<uint16_t>({2, 2}, {kInfinity, kOne, kTwo, kOne});
  bytes({3, 2}, 24, 0xAB);
  run();
  std::vector<float> logits = read<float>(2);
  EXPECT_TRUE(std::isnan(logits[0]));
  EXPECT_TRUE(std::isnan(logits[1]));
  EXPECT_TRUE(std::isnan(logits[2])); // 0 times infinity.
  EXPECT_EQ(logits[3], 1);
  EXPECT_EQ(logits[4], kInfinite);
  EXPECT_EQ(logits[5], 4);
}

} // namespace
