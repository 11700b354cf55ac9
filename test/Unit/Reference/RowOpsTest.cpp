//===- RowOpsTest.cpp - Ops of rows by hand -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterFixture.h"

#include <climits>
#include <cmath>

using namespace dsv4;
using namespace dsv4::reference;

namespace {

class RowOpsTest : public InterpreterFixture {};

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

std::string norm(int extent, const char *eps) {
  std::string type = "tensor<?x" + std::to_string(extent) + "xf32>";
  return "%r = dsv4.rms_norm %x outs(%o : " + type + ") {eps = " + eps +
         " : f32} : " + type;
}

TEST_F(RowOpsTest, SumIsATreeOfNeighbours) {
  parse("%x: tensor<?x9xf32>, %o: tensor<?x9xf32>", norm(9, "0.0"));
  // Squares 1, u, ... u with u = 2^-24. The 1 meets u, 2 u and 4 u and becomes
  // 1 + 6 u; the ninth goes up as it is, and half of a last place more goes to
  // even, 1 + 8 u. One after another all would be lost.
  float e = std::ldexp(1.0f, -12), sum = 1 + std::ldexp(1.0f, -21);
  bind<float>({1, 9}, {1, e, e, e, e, e, e, e, e});
  bytes({1, 9}, 36, 0xAB);
  run();
  auto r = [](float sum) { return 1.0f / std::sqrt(sum / 9.0f); };
  ASSERT_NE(r(sum), r(1));
  EXPECT_EQ(read<float>(1)[0], r(sum));
}

/// The same tree from its root: the left half is the largest power of two.
float sumSquares(const float *x, int count) {
  if (count == 1)
    return *x * *x;
  int half = 1;
  while (2 * half < count)
    half *= 2;
  volatile float left = sumSquares(x, half);
  volatile float right = sumSquares(x + half, count - half);
  return left + right;
}

TEST_F(RowOpsTest, SumOfAnyLength) {
  Random random(1);
  for (int extent : {2, 3, 6, 7, 31, 64, 100}) {
    std::string type = "tensor<?x" + std::to_string(extent) + "xf32>";
    parse("%x: " + type + ", %o: " + type, norm(extent, "9.765625e-04"));
    std::vector<float> x;
    for (int i = 0; i < 50 * extent; ++i)
      x.push_back(float(2 * random.unit() - 1));
    bind<float>({50, extent}, x);
    bytes({50, extent}, x.size() * 4, 0xAB);
    run();
    for (int i = 0; i < 50 * extent; ++i) {
      const float *row = &x[i / extent * extent];
      volatile float mean = sumSquares(row, extent) / float(extent);
      volatile float root = std::sqrt(mean + std::ldexp(1.0f, -10));
      volatile float r = 1 / root;
      ASSERT_EQ(read<float>(1)[i], x[i] * r) << extent;
    }
  }
}

TEST_F(RowOpsTest, NormWithWeight) {
  parse("%x: tensor<2x4xbf16>, %w: tensor<4xf32>, %o: tensor<2x4xbf16>",
        "%r = dsv4.rms_norm %x weight(%w : tensor<4xf32>)"
        " outs(%o : tensor<2x4xbf16>) {eps = 0.0 : f32} : tensor<2x4xbf16>");
  bind<uint16_t>({2, 4}, {0x4000, 0xC000, 0x4000, 0x4000, 0, 0, 0, 0});
  bind<float>({4}, {1, 3, 0.5f, -1});
  bytes({2, 4}, 16, 0xAB);
  run();
  // Without eps a row of zeros is 0 times infinity.
  EXPECT_EQ(read<uint16_t>(2),
            (std::vector<uint16_t>{0x3F80, 0xC040, 0x3F00, 0xBF80, 0x7FFF,
                                   0x7FFF, 0x7FFF, 0x7FFF}));
}

TEST_F(RowOpsTest, EpsKeepsZeros) {
  parse("%x: tensor<?x1xf32>, %o: tensor<?x1xf32>", norm(1, "0.25"));
  bind<uint32_t>({3, 1}, {0x80000000, 0, 0xFFC00001});
  bytes({3, 1}, 12, 0xAB);
  run();
  EXPECT_EQ(read<uint32_t>(1),
            (std::vector<uint32_t>{0x80000000, 0, 0x7FFFFFFF}));
}

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

std::string rotate(const std::string &type, int pairs, const char *result,
                   bool inverse = false) {
  std::string in = "tensor<?x" + type + ">";
  return std::string("%r = dsv4.rope %x ") + (inverse ? "inverse " : "") +
         "table(%t : tensor<?x" + std::to_string(2 * pairs) +
         "xf32>) positions(%p : tensor<?xi32>) outs(%o : tensor<?x" + result +
         ">) : " + in;
}

TEST_F(RowOpsTest, RotatesTheLastPairs) {
  for (bool inverse : {false, true}) {
    parse("%x: tensor<?x6xf32>, %t: tensor<?x4xf32>, %p: tensor<?xi32>,"
          " %o: tensor<?x6xf32>",
          rotate("6xf32", 2, "6xf32", inverse));
    bind<float>({1, 6}, {7, -8, 1, 2, 3, 4});
    // Row 1: cosines 2 and 0.5, sines 3 and 0.25.
    bind<float>({2, 4}, {9, 9, 9, 9, 2, 0.5f, 3, 0.25f});
    bind<int32_t>({1}, {1});
    bytes({1, 6}, 24, 0xAB);
    run();
    EXPECT_EQ(read<float>(3),
              inverse ? (std::vector<float>{7, -8, 8, 1, 2.5f, 1.25f})
                      : (std::vector<float>{7, -8, -4, 7, 0.5f, 2.75f}));
  }
}

TEST_F(RowOpsTest, RotationRoundsEveryProduct) {
  parse("%x: tensor<?x2xf32>, %t: tensor<?x2xf32>, %p: tensor<?xi32>,"
        " %o: tensor<?x2xf32>",
        rotate("2xf32", 1, "2xf32"));
  float a = 1 + std::ldexp(1.0f, -12), b = 1 + std::ldexp(1.0f, -11);
  bind<float>({1, 2}, {a, b});
  bind<float>({1, 2}, {a, 1});
  bind<int32_t>({1}, {0});
  bytes({1, 2}, 8, 0xAB);
  run();
  EXPECT_EQ(read<float>(3)[0], 0.0f); // Fused it would be 2^-24.
}

TEST_F(RowOpsTest, RotatesHalves) {
  for (bool inverse : {false, true}) {
    parse("%x: tensor<?x6xf32>, %t: tensor<?x4xbf16>, %p: tensor<?xi32>,"
          " %o: tensor<?x6xf32>",
          std::string("%r = dsv4.rope %x ") + (inverse ? "inverse " : "") +
              "neox table(%t : tensor<?x4xbf16>) positions(%p : tensor<?xi32>)"
              " outs(%o : tensor<?x6xf32>) : tensor<?x6xf32>");
    bind<float>({1, 6}, {7, -8, 1, 2, 3, 4});
    // Cosines 2 and 0.5, sines 3 and 0.25; pairs (1, 3) and (2, 4).
    bind<uint16_t>({1, 4}, {0x4000, 0x3F00, 0x4040, 0x3E80});
    bind<int32_t>({1}, {0});
    bytes({1, 6}, 24, 0xAB);
    run();
    EXPECT_EQ(read<float>(3),
              inverse ? (std::vector<float>{7, -8, 11, 2, 3, 1.5f})
                      : (std::vector<float>{7, -8, -7, 0, 9, 2.5f}));
  }
}

TEST_F(RowOpsTest, RotatesHeadsByComplexNumbers) {
  parse("%x: tensor<?x2x4xf32>, %t: tensor<?x4xf32>, %p: tensor<?xi32>,"
        " %o: tensor<?x2x4xf32>",
        "%r = dsv4.rope %x table(%t : tensor<?x4xf32>) interleaved"
        " positions(%p : tensor<?xi32>)"
        " outs(%o : tensor<?x2x4xf32>) : tensor<?x2x4xf32>");
  bind<float>({2, 2, 4}, {1, 2, 3, 4, 1, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8});
  // Row 1: 2 + 3i and 0.5 + 0.25i.
  bind<float>({2, 4}, {9, 9, 9, 9, 2, 3, 0.5f, 0.25f});
  // Both heads of the second token have no row of the table.
  bind<int32_t>({2}, {1, 2});
  bytes({2, 2, 4}, 64, 0xAB);
  run();
  EXPECT_EQ(read<float>(3),
            (std::vector<float>{-4, 7, 0.5f, 2.75f, 2, 3, -0.25f, 0.5f, 1, 2, 3,
                                4, 5, 6, 7, 8}));
}

TEST_F(RowOpsTest, PositionsOutsideTheTable) {
  for (const char *result : {"4xbf16", "4xf32"}) {
    parse(std::string("%x: tensor<?x4xbf16>, %t: tensor<?x2xf32>,"
                      " %p: tensor<?xi32>, %o: tensor<?x") +
              result + ">",
          rotate("4xbf16", 1, result));
    bind<uint16_t>({3, 4}, {0xFFC1, 0x3F80, 0xFF81, 0x4000, //
                            0xFFC1, 0x3F80, 0xFF81, 0x4000, //
                            0xFFC1, 0x3F80, 0xFF81, 0x4000});
    bind<float>({1, 2}, {1, 1});
    bind<int32_t>({3}, {-1, 0, 1});
    bytes({3, 4}, std::strcmp(result, "4xf32") ? 24 : 48, 0xAB);
    run();
    if (std::strcmp(result, "4xf32"))
      EXPECT_EQ(read<uint16_t>(3),
                (std::vector<uint16_t>{0xFFC1, 0x3F80, 0xFF81, 0x4000, //
                                       0xFFC1, 0x3F80, 0x7FFF, 0x7FFF, //
                                       0xFFC1, 0x3F80, 0xFF81, 0x4000}));
    else
      EXPECT_EQ(read<uint32_t>(3)[0], 0x7FFFFFFFu);
  }
}

//===----------------------------------------------------------------------===//
// hadamard
//===----------------------------------------------------------------------===//

TEST_F(RowOpsTest, HadamardOfFour) {
  parse("%x: tensor<?x4xbf16>, %o: tensor<?x4xf32>",
        "%r = dsv4.hadamard %x outs(%o : tensor<?x4xf32>)"
        " {scale = 0.5 : f32} : tensor<?x4xbf16>");
  bind<uint16_t>({1, 4}, {0x3F80, 0x4000, 0x4040, 0x4080}); // 1, 2, 3, 4
  bytes({1, 4}, 16, 0xAB);
  run();
  EXPECT_EQ(read<float>(1), (std::vector<float>{5, -1, -2, 0}));
}

TEST_F(RowOpsTest, HadamardTwiceAndItsSigns) {
  // The intermediate result has no argument.
  parse("%x: tensor<?x64xf32>, %o: tensor<?x64xf32>, %h: tensor<?x64xf32>",
        "%c0 = arith.constant 0 : index\n"
        "%n = tensor.dim %x, %c0 : tensor<?x64xf32>\n"
        "%e = tensor.empty(%n) : tensor<?x64xf32>\n"
        "%a = dsv4.hadamard %x outs(%e : tensor<?x64xf32>)"
        " {scale = 1.0 : f32} : tensor<?x64xf32>\n"
        "%b = dsv4.hadamard %a outs(%o : tensor<?x64xf32>)"
        " {scale = 0.015625 : f32} : tensor<?x64xf32>\n"
        "%d = dsv4.hadamard %x outs(%h : tensor<?x64xf32>)"
        " {scale = 1.0 : f32} : tensor<?x64xf32>");
  std::vector<float> x;
  for (int i = 0; i < 128; ++i)
    x.push_back(float(i * 37 % 101 - 50));
  bind<float>({2, 64}, x);
  bytes({2, 64}, 512, 0xAB);
  bytes({2, 64}, 512, 0xAB);
  run();
  EXPECT_EQ(read<float>(1), x);
  for (int row = 0; row < 2; ++row)
    for (unsigned i = 0; i < 64; ++i) {
      float sum = 0; // Of small integers: exact.
      for (unsigned j = 0; j < 64; ++j)
        sum +=
            __builtin_popcount(i & j) % 2 ? -x[row * 64 + j] : x[row * 64 + j];
      EXPECT_EQ(read<float>(2)[row * 64 + i], sum);
    }
}

//===----------------------------------------------------------------------===//
// pad_rows, concat_rows, add_rows, scale_weights
//===----------------------------------------------------------------------===//

TEST_F(RowOpsTest, PadsHeads) {
  parse("%x: tensor<?x1x2xbf16>, %o: tensor<?x3x2xbf16>",
        "%r = dsv4.pad_rows %x outs(%o : tensor<?x3x2xbf16>)"
        " : tensor<?x1x2xbf16>");
  // Copied bit by bit, NaN and -0 too.
  bind<uint16_t>({2, 1, 2}, {0xFFC1, 0x8000, 1, 2});
  bytes({2, 3, 2}, 24, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(1), (std::vector<uint16_t>{0xFFC1, 0x8000, 0, 0, 0,
                                                      0, 1, 2, 0, 0, 0, 0}));
}

TEST_F(RowOpsTest, LeavesOutRowsBeyondThePaddedOnes) {
  parse("%x: tensor<?x?x1xf32> {dsv4.dims = [\"t\", \"h\", \"\"]},"
        " %o: tensor<?x2x1xf32> {dsv4.dims = [\"t\", \"\", \"\"]}",
        "%r = dsv4.pad_rows %x outs(%o : tensor<?x2x1xf32>)"
        " : tensor<?x?x1xf32>");
  bind<float>({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  bytes({2, 2, 1}, 16, 0xAB);
  run();
  EXPECT_EQ(read<float>(1), (std::vector<float>{1, 2, 4, 5}));
}

TEST_F(RowOpsTest, ScalesByTheGivenNumberAlone) {
  const float x[] = {3, -1, 0, 1000, NAN, INFINITY};
  // 3 / 2, -1 / 2, 0, 500, which saturates, NaN, infinity.
  const std::vector<uint8_t> halves = {0x3C, 0xB0, 0, 0x7E, 0x7F, 0x7E};
  // A number that is not positive, or none, is the smallest normal one.
  const std::vector<uint8_t> largest = {0x7E, 0xFE, 0, 0x7E, 0x7F, 0x7E};
  const std::vector<uint8_t> least = {0, 0x80, 0, 0, 0x7F, 0x7E};
  const std::tuple<const char *, const char *, float, std::vector<uint8_t>>
      cases[] = {{"given", "", 2, halves},
                 {"given", "payload = reciprocal", 2, halves},
                 {"given inverse", "", 0.5f, halves},
                 {"given", "", 0, largest},
                 {"given", "", NAN, largest},
                 {"given", "", INFINITY, least},
                 {"given inverse", "", -1, least}};
  for (const auto &[clause, recipe, number, expected] : cases) {
    inputs = {};
    parse("%x: tensor<?x6xf32>, %g: tensor<1xf32>, %o: tensor<?x6xf8E4M3FN>",
          std::string("%r = dsv4.quantize %x ") + clause +
              "(%g : tensor<1xf32>) outs(%o : tensor<?x6xf8E4M3FN>)"
              " {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>,"
              " recipe = #dsv4.quantizer<" +
              recipe + ">} : tensor<?x6xf32>");
    bind<float>({1, 6}, std::vector<float>(std::begin(x), std::end(x)));
    bind<float>({1}, {number});
    bytes({1, 6}, 6, 0xAB);
    run();
    EXPECT_EQ(read<uint8_t>(2), expected) << clause << " " << number;
  }
}

TEST_F(RowOpsTest, ReadsScalesOfBlocks) {
  parse("%d: tensor<?x2xf8E4M3FN>, %s: tensor<?x4xf8E4M3FN>,"
        " %o: tensor<?x2xf32>",
        "%r = dsv4.dequantize %d scales swizzle_8x4(%s : tensor<?x4xf8E4M3FN>)"
        " outs(%o : tensor<?x2xf32>)"
        " {format = #dsv4.format<f8E4M3FN, [<f8E4M3FN per 1>]>}"
        " : tensor<?x2xf8E4M3FN>");
  // Of ones. The tensor has one block of eight rows, so row 8 has zeros.
  bind<uint8_t>({9, 2}, std::vector<uint8_t>(18, 0x38));
  std::vector<uint8_t> scales(32, 0xFF);
  std::vector<float> expected;
  for (unsigned row = 0; row < 8; ++row)
    for (unsigned group = 0; group < 2; ++group) {
      // 1 to 1.875, of exponents 0 and 1.
      scales[row * 4 + group] = uint8_t(0x38 + row + 8 * group);
      expected.push_back((1 + row / 8.0f) * (group ? 2 : 1));
    }
  expected.insert(expected.end(), {0, 0});
  bind<uint8_t>({8, 4}, scales);
  bytes({9, 2}, 72, 0xAB);
  run();
  EXPECT_EQ(read<float>(2), expected);
}

TEST_F(RowOpsTest, JoinsRows) {
  parse("%x: tensor<?x2xbf16>, %y: tensor<?x1xbf16>, %o: tensor<?x3xbf16>",
        "%r = dsv4.concat_rows %x, %y outs(%o : tensor<?x3xbf16>)"
        " : tensor<?x2xbf16>, tensor<?x1xbf16>");
  // Bit by bit.
  bind<uint16_t>({2, 2}, {0xFFC1, 0x8000, 1, 2});
  bind<uint16_t>({2, 1}, {3, 0x7F81});
  bytes({2, 3}, 12, 0xAB);
  run();
  EXPECT_EQ(read<uint16_t>(2),
            (std::vector<uint16_t>{0xFFC1, 0x8000, 3, 1, 2, 0x7F81}));
}

TEST_F(RowOpsTest, AddsTheRowOfThePosition) {
  parse("%x: tensor<?x3xbf16>, %b: tensor<2x2xf32>, %p: tensor<?xi32>,"
        " %o: tensor<?x2xbf16>",
        "%r = dsv4.add_rows %x columns [1, 2] bias(%b : tensor<2x2xf32>)"
        " positions(%p : tensor<?xi32>) outs(%o : tensor<?x2xbf16>)"
        " : tensor<?x3xbf16>");
  bind<uint16_t>({3, 3},
                 {0, 0x3F80, 0x4000, 0, 0x3F80, 0x4000, 0, 0x8000, 0xFFC1});
  bind<float>({2, 2}, {10, 20, 0.5f, 0x1p-9f});
  // 5 mod 2 = 1; a row without a position is copied.
  bind<int32_t>({3}, {4, 5, -1});
  bytes({3, 2}, 12, 0xAB);
  run();
  // 11, 22; 1.5, 2 + 2^-9, which rounds to 2; -0, NaN.
  EXPECT_EQ(read<uint16_t>(3), (std::vector<uint16_t>{0x4130, 0x41B0, 0x3FC0,
                                                      0x4000, 0x8000, 0xFFC1}));
}

TEST_F(RowOpsTest, ScalesWeightsInOrder) {
  parse("%w: tensor<1x2xf32>, %s: tensor<1x2xf32>, %o: tensor<1x2xf32>",
        "%r = dsv4.scale_weights %w scales(%s : tensor<1x2xf32>)"
        " constants [2.0, 4.0] outs(%o : tensor<1x2xf32>) : tensor<1x2xf32>");
  // The first product overflows, whatever comes after it.
  bind<float>({1, 2}, {3, 0x1p100f});
  bind<float>({1, 2}, {0.25f, 0x1p28f});
  bytes({1, 2}, 8, 0xAB);
  run();
  EXPECT_EQ(read<float>(2), (std::vector<float>{6, INFINITY}));
}

//===----------------------------------------------------------------------===//
// Intermediate results
//===----------------------------------------------------------------------===//

TEST_F(RowOpsTest, WhatNothingWroteCannotBeRead) {
  parse("%o: tensor<2x4xf32>",
        "%e = tensor.empty() : tensor<2x4xf32>\n"
        "%a = dsv4.hadamard %e outs(%o : tensor<2x4xf32>)"
        " {scale = 1.0 : f32} : tensor<2x4xf32>");
  bytes({2, 4}, 32);
  EXPECT_EQ(error(),
            "dsv4.hadamard reads operand 0, which nothing has written");
}

TEST_F(RowOpsTest, AResultNeedsAnArgument) {
  module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @f(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {\n"
      "%e = tensor.empty() : tensor<2x4xf32>\n"
      "%a = dsv4.hadamard %x outs(%e : tensor<2x4xf32>)"
      " {scale = 1.0 : f32} : tensor<2x4xf32>\n"
      "return %a : tensor<2x4xf32>\n}",
      &context);
  func = *module->getOps<mlir::func::FuncOp>().begin();
  bytes({2, 4}, 32);
  EXPECT_EQ(error(), "a result of dsv4.hadamard is returned, but no argument "
                     "is its destination");
}

} // namespace
