//===- QuantizeTest.cpp - Payload and scales by hand and by search --------===//
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

class QuantizeTest : public InterpreterFixture {
protected:
  /// Quantises rows of `extent` f32 values: bindings x, [given], codes, scales
  /// of 1 byte or, for f32, 4, and outer scales where a format has them.
  void quantize(const std::string &element, const std::string &levels,
                const std::string &recipe, int64_t extent, int64_t group,
                const std::vector<uint32_t> &x, int64_t scaleBytes = 1) {
    int64_t rows = int64_t(x.size()) / extent;
    bool fp4 = element == "f4E2M1FN";
    bool given = levels.find("per tensor") != std::string::npos;
    bool outer = levels.find("f32 per row>]") != std::string::npos &&
                 levels.find(">, <") != std::string::npos;
    std::string scale = levels.substr(1, levels.find(" per ") - 1);
    std::string in = "tensor<?x" + std::to_string(extent) + "xf32>";
    std::string codes =
        "tensor<?x" + std::to_string(extent) + "x" + element + ">";
    std::string scales =
        "tensor<?x" + std::to_string(extent / group) + "x" + scale + ">";
    std::string last = outer ? ", %f : " + codes : "";
    parse("%x: " + in + (given ? ", %g: tensor<1xf32>" : "") + ", %c: " +
              codes + ", %s: " + scales + (outer ? ", %f: tensor<?xf32>" : ""),
          "%r:" + std::to_string(outer ? 3 : 2) + " = dsv4.quantize %x" +
              (given ? " given(%g : tensor<1xf32>)" : "") + " outs(%c, %s" +
              (outer ? ", %f" : "") + " : " + codes + ", " + scales +
              (outer ? ", tensor<?xf32>" : "") + ") {format = #dsv4.format<" +
              element + ", [" + levels + ">, recipe = #dsv4.quantizer<" +
              recipe + ">} : " + in);
    bind<uint32_t>({rows, extent}, x);
    if (given)
      bind<float>({1}, {givenScale});
    bytes({rows, fp4 ? extent / 2 : extent}, fp4 ? x.size() / 2 : x.size(),
          0xAB);
    bytes({rows, extent / group}, x.size() / group * scaleBytes, 0xAB);
    if (outer)
      bytes({rows}, rows * 4, 0xAB);
    run();
    first = given ? 2 : 1;
  }
  /// Four-bit codes, one by one.
  std::vector<int> nibbles() const {
    std::vector<int> result;
    for (uint8_t pair : read<uint8_t>(first)) {
      result.push_back(pair & 15);
      result.push_back(pair >> 4);
    }
    return result;
  }
  static uint32_t bits(float value) {
    uint32_t code;
    std::memcpy(&code, &value, sizeof(code));
    return code;
  }
  static std::vector<uint32_t> bits(const std::vector<float> &values) {
    std::vector<uint32_t> result;
    for (float value : values)
      result.push_back(bits(value));
    return result;
  }

  float givenScale = 1;
  unsigned first = 1; ///< The binding of the codes.
};

const std::string kUpPow2 = "rounding = up_pow2";
const float kInfinity = INFINITY;

TEST_F(QuantizeTest, FloorsOfAmaxAndOfScale) {
  auto scalesOf = [&](const std::string &recipe) {
    quantize("f8E4M3FN", "<f8E8M0FNU per 2>]", recipe, 2, 2,
             bits({0, 0, 448, -1, 449, 1}));
    return read<uint8_t>(2);
  };
  // 1e-4 / 448 is below 2^-22, 1e-4 itself below 2^-13.
  EXPECT_EQ(scalesOf("floor = 1.0e-04 : f32, limit = reciprocal, " + kUpPow2),
            (std::vector<uint8_t>{105, 127, 128}));
  EXPECT_EQ(read<uint8_t>(1),
            (std::vector<uint8_t>{0, 0, 0x7E, 0xB8, 0x76, 0x30}));
  EXPECT_EQ(scalesOf("floor = 1.0e-04 : f32, floor_of = scale, " + kUpPow2),
            (std::vector<uint8_t>{114, 127, 128}));
  EXPECT_EQ(scalesOf(kUpPow2), (std::vector<uint8_t>{0, 127, 128}));
}

/// Without scales every value is rounded, and saturates.
TEST_F(QuantizeTest, WithoutScales) {
  parse("%x: tensor<?x20xf32>, %c: tensor<?x18xf8E4M3FN>",
        "%r = dsv4.quantize %x columns [1, 18]"
        " outs(%c : tensor<?x18xf8E4M3FN>)"
        " {format = #dsv4.format<f8E4M3FN>} : tensor<?x20xf32>");
  std::vector<uint32_t> x = bits(
      {7,        0,         -0.0f,      1,         1.0625f,    1.1875f, -1,
       448,      464,       1e30f,      kInfinity, -kInfinity, 0x1p-6f, 0x1p-9f,
       0x1p-10f, -0x1p-10f, 0x1.8p-10f, 0,         0,          7});
  x[17] = 0x7FC00000, x[18] = 0xFF800001; // NaN of both signs.
  bind<uint32_t>({1, 20}, x);
  bytes({1, 18}, 18, 0xAB);
  run();
  EXPECT_EQ(read<uint8_t>(1),
            (std::vector<uint8_t>{0x00, 0x80, 0x38, 0x38, 0x3A, 0xB8, 0x7E,
                                  0x7E, 0x7E, 0x7E, 0xFE, 0x08, 0x01, 0x00,
                                  0x80, 0x01, 0x7F, 0x7F}));
}

TEST_F(QuantizeTest, TiesOfFourBits) {
  std::vector<uint32_t> x =
      bits({0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, 6, -0.25f, -0.75f,
            -1.25f, -1.75f, -2.5f, -3.5f, -5, -0.0f});
  auto codesOf = [&](const std::string &recipe) {
    quantize("f4E2M1FN", "<f8E8M0FNU per 16>]", recipe, 16, 16, x);
    EXPECT_EQ(read<uint8_t>(2)[0], 127);
    return nibbles();
  };
  EXPECT_EQ(codesOf(kUpPow2), (std::vector<int>{0, 2, 2, 4, 4, 6, 6, 7, 8, 10,
                                                10, 12, 12, 14, 14, 8}));
  EXPECT_EQ(
      codesOf(kUpPow2 + ", ties = down"),
      (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 8}));
  EXPECT_EQ(
      codesOf(kUpPow2 + ", ties = down, drop_negative_zero = true"),
      (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 0}));
}

TEST_F(QuantizeTest, NaNStaysVisible) {
  std::vector<uint32_t> x = bits({1, -2, 3, 6});
  x[1] = 0xFFC00000;
  quantize("f8E4M3FN", "<f8E8M0FNU per 2>]", kUpPow2, 4, 2, x);
  // 1 / 2^-8, NaN, 3 / 2^-6, 6 / 2^-6
  EXPECT_EQ(read<uint8_t>(1), (std::vector<uint8_t>{0x78, 0x7F, 0x74, 0x7C}));
  for (auto [scale, rounding, code] :
       {std::tuple("f8E8M0FNU", "up_pow2", 0xFFu),
        std::tuple("f8E4M3FN", "nearest", 0x7Fu),
        std::tuple("f32", "nearest", 0x7FFFFFFFu)}) {
    int64_t width = std::strcmp(scale, "f32") ? 1 : 4;
    quantize("f4E2M1FN", std::string("<") + scale + " per 2>]",
             std::string("rounding = ") + rounding, 4, 2, x, width);
    EXPECT_EQ(nibbles()[0], 7);
    EXPECT_EQ(nibbles()[1], 7);
    EXPECT_EQ(nibbles()[3], 7); // 6 / 1
    EXPECT_EQ(nibbles()[2], 5); // 3 / 1
    EXPECT_EQ(width == 1 ? read<uint8_t>(2)[0] : read<uint32_t>(2)[0], code);
  }
}

TEST_F(QuantizeTest, InfinityIsTheLargestFiniteValue) {
  quantize("f8E4M3FN", "<f8E8M0FNU per 2>]", kUpPow2, 4, 2,
           bits({kInfinity, 1, -kInfinity, -kInfinity}));
  // 2^128 / 448 is above 2^119.
  EXPECT_EQ(read<uint8_t>(2), (std::vector<uint8_t>{247, 247}));
  EXPECT_EQ(read<uint8_t>(1), (std::vector<uint8_t>{0x7E, 0, 0xFE, 0xFE}));
}

TEST_F(QuantizeTest, ScalesAreNeverZeroNorInfinite) {
  std::vector<uint32_t> x = bits({0, 0, 3e38f, 1});
  quantize("f4E2M1FN", "<f8E4M3FN per 2>]", "rounding = nearest", 4, 2, x);
  EXPECT_EQ(read<uint8_t>(2), (std::vector<uint8_t>{0x01, 0x7E}));
  EXPECT_EQ(nibbles(), (std::vector<int>{0, 0, 7, 0}));
  quantize("f4E2M1FN", "<f32 per 2>]", "rounding = nearest", 4, 2, x, 4);
  EXPECT_EQ(read<float>(2), (std::vector<float>{0x1p-126f, 3e38f / 6}));
  quantize("f4E2M1FN", "<f32 per 2>]", kUpPow2, 4, 2, x, 4);
  EXPECT_EQ(read<float>(2), (std::vector<float>{0x1p-126f, 0x1p126f}));
  // 2^127 is the largest power of two, though not the largest f32.
  quantize("f4E2M1FN", "<f32 per 2>]",
           "floor = 3.0e+38 : f32, floor_of = scale, rounding = up_pow2", 4, 2,
           x, 4);
  EXPECT_EQ(read<float>(2), (std::vector<float>{0x1p127f, 0x1p127f}));
}

TEST_F(QuantizeTest, ScalesRoundedUp) {
  // 1 and 9 / 8 are neighbours among E4M3.
  std::vector<uint32_t> x = bits({6, 6.1f, 6, 6});
  quantize("f4E2M1FN", "<f8E4M3FN per 2>]", "rounding = up", 4, 2, x);
  EXPECT_EQ(read<uint8_t>(2), (std::vector<uint8_t>{0x39, 0x38}));
  quantize("f4E2M1FN", "<f8E4M3FN per 2>]", "rounding = nearest", 4, 2, x);
  EXPECT_EQ(read<uint8_t>(2), (std::vector<uint8_t>{0x38, 0x38}));
}

TEST_F(QuantizeTest, GivenAndComputedOuterScales) {
  givenScale = 0.5f;
  quantize("f4E2M1FN", "<f8E4M3FN per 2>, <f32 per tensor>]",
           "rounding = nearest", 4, 2, bits({6, 3, -1.5f, 0.5f}));
  EXPECT_EQ(read<uint8_t>(3), (std::vector<uint8_t>{0x40, 0x30})); // 2, 0.5
  EXPECT_EQ(nibbles(), (std::vector<int>{7, 5, 15, 4}));

  // What is no positive finite scale counts as the one next to it.
  struct {
    float given;
    std::vector<uint8_t> scales;
    std::vector<int> codes;
  } const odd[] = {{INFINITY, {1, 1}, {0, 0, 8, 0}},
                   {0, {0x7E, 0x01}, {7, 7, 8, 0}},
                   {-1, {0x7E, 0x01}, {7, 7, 8, 0}},
                   {NAN, {0x7E, 0x01}, {7, 7, 8, 0}}};
  for (const auto &[given, scales, codes] : odd) {
    givenScale = given;
    quantize("f4E2M1FN", "<f8E4M3FN per 2>, <f32 per tensor>]",
             "rounding = nearest", 4, 2, bits({6, 3, -0.0f, 0}));
    EXPECT_EQ(read<uint8_t>(3), scales) << given;
    EXPECT_EQ(nibbles(), codes) << given;
  }

  // The row's amax is 6 * 448 * 2: the outer scale is 2.
  quantize("f4E2M1FN", "<f8E4M3FN per 2>, <f32 per row>]", "rounding = nearest",
           4, 2, bits({5376, 0, 12, 6, 0, 0, 0, -0.0f}));
  EXPECT_EQ(read<float>(3), (std::vector<float>{2, 0x1p-126f}));
  EXPECT_EQ(read<uint8_t>(2), (std::vector<uint8_t>{0x7E, 0x38, 0x01, 0x01}));
  EXPECT_EQ(nibbles(), (std::vector<int>{7, 0, 7, 5, 0, 0, 0, 8}));
}

TEST_F(QuantizeTest, ColumnsOfARow) {
  parse("%x: tensor<1x6xbf16>, %c: tensor<1x4xf4E2M1FN>,"
        " %s: tensor<1xf32>",
        "%r:2 = dsv4.quantize %x columns [1, 4] outs(%c, %s :"
        " tensor<1x4xf4E2M1FN>, tensor<1xf32>) {format ="
        " #dsv4.format<f4E2M1FN, [<f32 per row>]>,"
        " recipe = #dsv4.quantizer<rounding = nearest>} : tensor<1x6xbf16>");
  bind<uint16_t>({1, 6}, {0x7F80, 0x3F80, 0x4000, 0x4040, 0x40C0, 0x7F80});
  bytes({1, 2}, 2, 0xAB);
  bytes({1}, 4, 0xAB);
  run();
  EXPECT_EQ(read<uint8_t>(1), (std::vector<uint8_t>{0x42, 0x75}));
  EXPECT_EQ(read<float>(2)[0], 1.0f);
}

/// The code whose value is nearest to `value`, found by looking at all.
uint32_t search(Format format, double value, bool tiesDown) {
  uint32_t best = 0, last = largestFinite(format);
  double magnitude = std::fabs(value);
  for (uint32_t code = 1; code <= last; ++code) {
    double near = std::fabs(decode(format, best) - magnitude);
    double distance = std::fabs(decode(format, code) - magnitude);
    if (distance < near || (distance == near && !tiesDown && code % 2 == 0))
      best = code;
  }
  return best | (std::signbit(value) ? last + 1 + (last == 0x7E) : 0);
}

TEST_F(QuantizeTest, NearestCodesByScalesOfF32) {
  Random random(1);
  for (const char *element : {"f8E4M3FN", "f4E2M1FN"})
    for (const char *limit : {"divide", "reciprocal"})
      for (const char *payload : {"divide", "reciprocal"}) {
        bool fp4 = *(element + 1) == '4';
        Format format = fp4 ? Format::E2M1 : Format::E4M3FN;
        float max = fp4 ? 6 : 448;
        std::vector<float> x;
        for (int i = 0; i < 2048; ++i)
          x.push_back(float((2 * random.unit() - 1) *
                            std::ldexp(1.0, int(random.below(6)))));
        quantize(element, "<f32 per 8>]",
                 std::string("limit = ") + limit +
                     ", rounding = nearest, payload = " + payload,
                 64, 8, bits(x), 4);
        auto scales = read<float>(2);
        auto codes = read<uint8_t>(1);
        for (size_t i = 0; i < x.size(); ++i) {
          float amax = 0;
          for (size_t j = i / 8 * 8; j < i / 8 * 8 + 8; ++j)
            amax = std::max(amax, std::fabs(x[j]));
          volatile float inverse = 1 / max;
          volatile float scale = *limit == 'd' ? amax / max : amax * inverse;
          ASSERT_EQ(scales[i / 8], scale);
          volatile float one = 1 / scale;
          volatile float value = *payload == 'd' ? x[i] / scale : x[i] * one;
          ASSERT_EQ(fp4 ? uint32_t(nibbles()[i]) : codes[i],
                    search(format, value, false));
        }
      }
}

TEST_F(QuantizeTest, TiesDownBySearch) {
  std::vector<float> x;
  for (int i = -96; i < 96; ++i)
    x.push_back(float(i) / 16);
  quantize("f4E2M1FN", "<f8E8M0FNU per 192>]", kUpPow2 + ", ties = down", 192,
           192, bits(x));
  EXPECT_EQ(read<uint8_t>(2)[0], 127);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(uint32_t(nibbles()[i]), search(Format::E2M1, x[i], true)) << x[i];
}

} // namespace
