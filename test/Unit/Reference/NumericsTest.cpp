//===- NumericsTest.cpp - Formats against tables, APFloat and search ------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three witnesses: values written by hand, LLVM's APFloat (other code for the
// same standards), and a search of all codes for the nearest value.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Reference/Numerics.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

using namespace dsv4::reference;
using llvm::APFloat;
using llvm::APInt;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

const Format allFormats[] = {Format::F32,  Format::BF16,   Format::F16,
                             Format::E5M2, Format::E4M3FN, Format::E8M0FNU,
                             Format::E2M1, Format::Int4};
const Format floatFormats[] = {Format::F32,  Format::BF16,   Format::F16,
                               Format::E5M2, Format::E4M3FN, Format::E8M0FNU,
                               Format::E2M1};

const llvm::fltSemantics &semanticsOf(Format format) {
  switch (format) {
  case Format::F32:
    return APFloat::IEEEsingle();
  case Format::BF16:
    return APFloat::BFloat();
  case Format::F16:
    return APFloat::IEEEhalf();
  case Format::E5M2:
    return APFloat::Float8E5M2();
  case Format::E4M3FN:
    return APFloat::Float8E4M3FN();
  case Format::E8M0FNU:
    return APFloat::Float8E8M0FNU();
  case Format::E2M1:
  case Format::Int4:
  case Format::Int8:
  case Format::Int32:
    break;
  }
  return APFloat::Float4E2M1FN();
}

double apDecode(Format format, uint32_t code) {
  APFloat value(semanticsOf(format), APInt(bitWidth(format), code));
  // LLVM 22 converts the NaN of E8M0FNU to infinity.
  return value.isNaN() ? kNaN : value.convertToDouble();
}

/// APFloat's code of a value that does not overflow the format.
uint32_t apEncode(Format format, double value, llvm::RoundingMode mode) {
  APFloat converted(value);
  bool losesInfo;
  converted.convert(semanticsOf(format), mode, &losesInfo);
  return uint32_t(converted.bitcastToAPInt().getZExtValue());
}

uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Equal as bits, all NaNs being one.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || bitsOf(a) == bitsOf(b);
}

} // namespace

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

TEST(NumericsDecode, E2M1ByHand) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(same(decodeE2M1(i), values[i])) << i;
    EXPECT_TRUE(same(decodeE2M1(i + 8), -values[i])) << i;
  }
}

TEST(NumericsDecode, Int4ByHand) {
  const double values[] = {0,  1,  2,  3,  4,  5,  6,  7,
                           -8, -7, -6, -5, -4, -3, -2, -1};
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(decodeInt4(i), values[i]) << i;
}

TEST(NumericsDecode, E4M3FNByHand) {
  EXPECT_TRUE(same(decodeE4M3FN(0x00), 0.0));
  EXPECT_TRUE(same(decodeE4M3FN(0x80), -0.0));
  EXPECT_EQ(decodeE4M3FN(0x01), 0.001953125); // 2^-9, least subnormal
  EXPECT_EQ(decodeE4M3FN(0x07), 0.013671875); // 7 * 2^-9, largest subnormal
  EXPECT_EQ(decodeE4M3FN(0x08), 0.015625);    // 2^-6, least normal
  EXPECT_EQ(decodeE4M3FN(0x38), 1.0);
  EXPECT_EQ(decodeE4M3FN(0x39), 1.125);
  EXPECT_EQ(decodeE4M3FN(0xC0), -2.0);
  EXPECT_EQ(decodeE4M3FN(0x78), 256.0);
  EXPECT_EQ(decodeE4M3FN(0x7E), 448.0);
  EXPECT_EQ(decodeE4M3FN(0xFE), -448.0);
  EXPECT_TRUE(std::isnan(decodeE4M3FN(0x7F)));
  EXPECT_TRUE(std::isnan(decodeE4M3FN(0xFF)));
}

TEST(NumericsDecode, E5M2ByHand) {
  EXPECT_EQ(decodeE5M2(0x01), 0x1p-16);
  EXPECT_EQ(decodeE5M2(0x03), 0x3p-16);
  EXPECT_EQ(decodeE5M2(0x04), 0x1p-14);
  EXPECT_EQ(decodeE5M2(0x3C), 1.0);
  EXPECT_EQ(decodeE5M2(0x7B), 57344.0);
  EXPECT_EQ(decodeE5M2(0x7C), kInfinity);
  EXPECT_EQ(decodeE5M2(0xFC), -kInfinity);
  for (int code : {0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF})
    EXPECT_TRUE(std::isnan(decodeE5M2(code))) << code;
}

TEST(NumericsDecode, E8M0FNUByHand) {
  EXPECT_EQ(decodeE8M0FNU(0), 0x1p-127);
  EXPECT_EQ(decodeE8M0FNU(126), 0.5);
  EXPECT_EQ(decodeE8M0FNU(127), 1.0);
  EXPECT_EQ(decodeE8M0FNU(254), 0x1p127);
  EXPECT_TRUE(std::isnan(decodeE8M0FNU(255)));
}

TEST(NumericsDecode, WideFormatsByHand) {
  EXPECT_EQ(decodeBF16(0x3F80), 1.0);
  EXPECT_EQ(decodeBF16(0x0001), 0x1p-133);
  EXPECT_EQ(decodeBF16(0x7F7F), 0x1.FEp127);
  EXPECT_EQ(decodeBF16(0xFF80), -kInfinity);
  EXPECT_TRUE(std::isnan(decodeBF16(0x7FFF)));
  EXPECT_EQ(decodeF16(0x3C00), 1.0);
  EXPECT_EQ(decodeF16(0x0001), 0x1p-24);
  EXPECT_EQ(decodeF16(0x7BFF), 65504.0);
  EXPECT_EQ(decodeF16(0x7C00), kInfinity);
  EXPECT_EQ(decodeF32(0x3F800000), 1.0);
  EXPECT_EQ(decodeF32(0x00000001), 0x1p-149);
  EXPECT_EQ(decodeF32(0x7F7FFFFF), 0x1.FFFFFEp127);
  EXPECT_TRUE(std::isnan(decodeF32(0x7F800001)));
}

TEST(NumericsDecode, EveryCodeAgreesWithAPFloat) {
  for (Format format : floatFormats) {
    if (format == Format::F32)
      continue;
    for (uint32_t code = 0; code >> bitWidth(format) == 0; ++code)
      ASSERT_TRUE(same(decode(format, code), apDecode(format, code)))
          << "format " << int(format) << " code " << code;
  }
}

TEST(NumericsDecode, F32AgreesWithTheMachine) {
  // Every sign and exponent with edge and stepped mantissas.
  for (uint64_t high = 0; high < 512; ++high)
    for (uint32_t low = 0; low < (1u << 23); low += low < 4 ? 1 : 65521) {
      uint32_t code = uint32_t(high << 23) | low;
      ASSERT_TRUE(same(decodeF32(code), double(floatOf(code)))) << code;
    }
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

TEST(NumericsEncode, EveryFiniteCodeSurvives) {
  for (Format format : allFormats) {
    uint32_t step = format == Format::F32 ? 65521 : 1;
    for (uint64_t code = 0; code >> bitWidth(format) == 0; code += step) {
      double value = decode(format, uint32_t(code));
      if (!std::isfinite(value))
        continue;
      ASSERT_EQ(encode(format, value), code) << int(format);
      ASSERT_EQ(encode(format, value, Rounding::Up), code) << int(format);
    }
  }
}

/// Between every two neighbours: just above the lower, below, at and above the
/// midpoint, just below the upper.
TEST(NumericsEncode, NeighboursAndTies) {
  for (Format format : {Format::BF16, Format::F16, Format::E5M2, Format::E4M3FN,
                        Format::E8M0FNU, Format::E2M1}) {
    uint32_t signBit = 1u << (bitWidth(format) - 1);
    for (uint32_t low = 0; low < largestFinite(format); ++low) {
      double a = decode(format, low), b = decode(format, low + 1);
      double middle = a + (b - a) / 2;
      uint32_t even = low % 2 == 0 ? low : low + 1;
      if (format == Format::E8M0FNU) // No significand bits: the larger power.
        even = low + 1;
      struct {
        double value;
        uint32_t nearest;
      } cases[] = {{std::nextafter(a, b), low},
                   {std::nextafter(middle, a), low},
                   {middle, even},
                   {std::nextafter(middle, b), low + 1},
                   {std::nextafter(b, a), low + 1}};
      for (auto [value, nearest] : cases) {
        ASSERT_EQ(encode(format, value), nearest)
            << int(format) << " " << value;
        ASSERT_EQ(encode(format, value, Rounding::Up), low + 1)
            << int(format) << " " << value;
        if (format == Format::E8M0FNU)
          continue;
        ASSERT_EQ(encode(format, -value), nearest | signBit)
            << int(format) << " " << -value;
        ASSERT_EQ(encode(format, -value, Rounding::Up), (low + 1) | signBit)
            << int(format) << " " << -value;
      }
    }
  }
}

TEST(NumericsEncode, RandomDoublesAgreeWithAPFloat) {
  Random random(1);
  for (Format format : floatFormats) {
    double largest = decode(format, largestFinite(format));
    for (int i = 0; i < 50000; ++i) {
      // A random significand at an exponent around the format's range.
      int exponent = int(random.below(320)) - 170;
      if (i % 2)
        exponent = int(random.below(40)) - 20;
      double value = std::ldexp(1 + random.unit(), exponent);
      if (value >= largest || (format == Format::E8M0FNU && value < 0x1p-127))
        continue;
      ASSERT_EQ(encode(format, value),
                apEncode(format, value, APFloat::rmNearestTiesToEven))
          << int(format) << " " << value;
      ASSERT_EQ(encode(format, value, Rounding::Up),
                apEncode(format, value, APFloat::rmTowardPositive))
          << int(format) << " " << value;
    }
  }
}

TEST(NumericsEncode, SmallFormatsAgreeWithASearch) {
  Random random(2);
  for (Format format : {Format::E5M2, Format::E4M3FN, Format::E2M1,
                        Format::Int4, Format::E8M0FNU})
    for (int i = 0; i < 20000; ++i) {
      double value =
          std::ldexp(2 * random.unit() - 1, int(random.below(16)) - 6);
      if (format == Format::E8M0FNU)
        value = std::fabs(value) + 0x1p-127;
      double best = kInfinity;
      for (uint32_t code = 0; code >> bitWidth(format) == 0; ++code)
        if (double decoded = decode(format, code); std::isfinite(decoded))
          best = std::min(best, std::fabs(decoded - value));
      double error = std::fabs(decode(format, encode(format, value)) - value);
      ASSERT_EQ(error, best) << int(format) << " " << value;
    }
}

TEST(NumericsEncode, SaturatesOrOverflows) {
  EXPECT_EQ(encodeE4M3FN(448), 0x7E);
  EXPECT_EQ(encodeE4M3FN(464), 0x7E); // Would be NaN without saturation.
  EXPECT_EQ(encodeE4M3FN(1e300), 0x7E);
  EXPECT_EQ(encodeE4M3FN(kInfinity), 0x7E);
  EXPECT_EQ(encodeE4M3FN(-kInfinity), 0xFE);
  EXPECT_EQ(encode(Format::E5M2, 61440), 0x7Bu);
  EXPECT_EQ(encode(Format::E5M2, kInfinity), 0x7Bu);
  EXPECT_EQ(encodeE2M1(5), 0x6); // A tie, to 4.
  EXPECT_EQ(encodeE2M1(7), 0x7);
  EXPECT_EQ(encodeE2M1(-kInfinity), 0xF);
  EXPECT_EQ(encodeE8M0FNU(kInfinity), 0xFE);
  EXPECT_EQ(encodeE8M0FNU(0), 0);
  EXPECT_EQ(encodeE8M0FNU(-1), 0);
  EXPECT_EQ(encodeE8M0FNU(0x1p-1074, Rounding::Up), 0);
  EXPECT_EQ(encode(Format::Int4, 7.5), 0x7u);
  EXPECT_EQ(encode(Format::Int8, 127.5), 0x7Fu);
  EXPECT_EQ(encode(Format::Int8, -128.5), 0x80u);
  EXPECT_EQ(decode(Format::Int8, encode(Format::Int8, -3)), -3);
  EXPECT_EQ(encode(Format::Int4, -8.5), 0x8u);
  EXPECT_EQ(encode(Format::Int4, -kInfinity), 0x8u);
  EXPECT_EQ(encode(Format::F16, 65519.99), 0x7BFFu);
  EXPECT_EQ(encode(Format::F16, 65520), 0x7C00u);
  EXPECT_EQ(encode(Format::F16, -1e9), 0xFC00u);
  EXPECT_EQ(encode(Format::F32, 1e300), 0x7F800000u);
  EXPECT_EQ(encode(Format::F32, 0x1.FFFFFEFFFFp127), 0x7F7FFFFFu);
  EXPECT_EQ(encode(Format::F32, 0x1.FFFFFFp127), 0x7F800000u); // A tie.
}

TEST(NumericsEncode, ZeroAndTinyAndNaN) {
  EXPECT_EQ(encodeE4M3FN(-0.0), 0x80);
  EXPECT_EQ(encodeE4M3FN(-0x1p-10), 0x80); // A tie with the least subnormal.
  EXPECT_EQ(encodeE4M3FN(0x1p-1074), 0x00);
  EXPECT_EQ(encodeE4M3FN(0x1p-1074, Rounding::Up), 0x01);
  EXPECT_EQ(encodeE2M1(-0.0), 0x8);
  EXPECT_EQ(encodeE2M1(0.25), 0x0);
  EXPECT_EQ(encodeE2M1(0.75), 0x2);
  EXPECT_EQ(encode(Format::Int4, -0.25), 0u);
  EXPECT_EQ(encodeE4M3FN(-kNaN), 0x7F);
  EXPECT_EQ(encode(Format::E5M2, kNaN), 0x7Fu);
  EXPECT_EQ(encodeE8M0FNU(kNaN), 0xFF);
  EXPECT_EQ(encodeE2M1(kNaN), 0x7);
  EXPECT_EQ(encode(Format::Int4, kNaN), 0u);
  EXPECT_EQ(encode(Format::F16, kNaN), 0x7FFFu);
  EXPECT_EQ(encode(Format::F32, kNaN), 0x7FFFFFFFu);
}

TEST(NumericsEncode, RoundToF32IsTheF32Code) {
  Random random(3);
  for (int i = 0; i < 100000; ++i) {
    uint64_t bits = random.next();
    if (i % 2) // Into the range of fp32, subnormals and overflow included.
      bits = (bits & 0x800FFFFFFFFFFFFF) |
             ((1023 - 152 + random.below(284)) << 52);
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    if (std::isnan(value))
      continue;
    ASSERT_EQ(bitsOf(roundToF32(value)), encode(Format::F32, value)) << value;
  }
}

TEST(NumericsEncode, BF16) {
  EXPECT_EQ(encodeBF16(1.0f), 0x3F80);
  EXPECT_EQ(encodeBF16(floatOf(0x3F808000)), 0x3F80); // A tie, down to even.
  EXPECT_EQ(encodeBF16(floatOf(0x3F818000)), 0x3F82); // A tie, up to even.
  EXPECT_EQ(encodeBF16(floatOf(0x3F808001)), 0x3F81);
  EXPECT_EQ(encodeBF16(floatOf(0x7F7F7FFF)), 0x7F7F);
  EXPECT_EQ(encodeBF16(floatOf(0x7F7F8000)), 0x7F80); // Overflows by a tie.
  EXPECT_EQ(encodeBF16(floatOf(0xFF7FFFFF)), 0xFF80);
  EXPECT_EQ(encodeBF16(floatOf(0x00008000)), 0x0000);
  EXPECT_EQ(encodeBF16(floatOf(0x80008001)), 0x8001);
  for (uint32_t code : {0x7F800001u, 0xFF800001u, 0x7FC00000u, 0xFFFFFFFFu})
    EXPECT_EQ(encodeBF16(floatOf(code)), 0x7FFF);

  // The lower half decides; try every upper half with those around its tie.
  for (uint32_t upper = 0; upper < 0x10000; ++upper)
    for (uint32_t lower : {0u, 1u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu}) {
      uint32_t code = upper << 16 | lower;
      float value = floatOf(code);
      if (std::isnan(value))
        continue;
      ASSERT_EQ(encodeBF16(value),
                apEncode(Format::BF16, value, APFloat::rmNearestTiesToEven))
          << code;
    }
}

//===----------------------------------------------------------------------===//
// exp
//===----------------------------------------------------------------------===//

TEST(NumericsExp, SpecialValues) {
  EXPECT_EQ(expF32(0.0f), 1.0f);
  EXPECT_EQ(expF32(-0.0f), 1.0f);
  EXPECT_EQ(expF32(-0x1p-149f), 1.0f);
  EXPECT_GT(expF32(-87.0f), 0.0f);
  EXPECT_EQ(bitsOf(expF32(std::nextafter(-87.0f, -88.0f))), 0u);
  EXPECT_EQ(bitsOf(expF32(-std::numeric_limits<float>::max())), 0u);
  EXPECT_EQ(bitsOf(expF32(-float(kInfinity))), 0u);
  EXPECT_TRUE(std::isnan(expF32(float(kNaN))));
  EXPECT_TRUE(std::isnan(expF32(-float(kNaN))));
}

TEST(NumericsExp, IsNearTheExponential) {
  // Every 99th float down to -87, and some below the first of them.
  double near = 0, far = 0, rise = 0;
  float last = 1;
  for (uint32_t bits = bitsOf(-0x1p-30f); floatOf(bits) >= -87; bits += 99) {
    float x = floatOf(bits), result = expF32(x);
    double error = std::fabs(double(result) / std::exp(double(x)) - 1);
    (x >= -8 ? near : far) = std::max(x >= -8 ? near : far, error);
    rise = std::max(rise, double(result) / double(last) - 1);
    last = result;
  }
  EXPECT_LT(near, 0x1p-21);
  EXPECT_LT(far, 0x1p-18);
  EXPECT_LT(rise, 0x1p-21); // Falls, but for its last places.
}

TEST(NumericsExp, StepsAgreeWithAPFloat) {
  // The same steps with APFloat's fused multiply-add.
  Random random(12);
  for (int i = 0; i < 20000; ++i) {
    float x = i == 0 ? -1.0f : float(-87 * random.unit());
    auto fma = [](float a, float b, float c) {
      APFloat result(a);
      result.fusedMultiplyAdd(APFloat(b), APFloat(c),
                              APFloat::rmNearestTiesToEven);
      return result.convertToFloat();
    };
    float t = fma(x, 0x1.715476p+0f, 12582912.0f), k = t - 12582912.0f;
    float f = fma(x, 0x1.715476p+0f, -k), p = 0x1.5bba14p-10f;
    for (float coefficient :
         {0x1.3cea88p-7f, 0x1.c6b752p-5f, 0x1.ebf9bcp-3f, 0x1.62e42ap-1f, 1.0f})
      p = fma(p, f, coefficient);
    ASSERT_EQ(bitsOf(expF32(x)), bitsOf(std::ldexp(p, int(k)))) << x;
  }
  EXPECT_EQ(bitsOf(expF32(-1.0f)), 0x3EBC5AB3u); // One more than the nearest.
}

//===----------------------------------------------------------------------===//
// The written recipe
//===----------------------------------------------------------------------===//

TEST(NumericsScaled, NoScaleAndOneScale) {
  EXPECT_EQ(scaledToBF16(448, {}), 0x43E0);
  EXPECT_EQ(scaledToBF16(-0.0, {}), 0x8000);
  EXPECT_EQ(scaledToBF16(-1.5, {2.0f}), 0xC040);
  EXPECT_EQ(scaledToBF16(0.0, {-1.0f}), 0x8000);
}

TEST(NumericsScaled, RoundsToF32First) {
  // Products just off a tie of BF16 that fp32 rounds onto the tie: the recipe
  // then goes to even, one rounding goes to the side the product was on.
  auto direct = [](double element, float scale) {
    return encode(Format::BF16, element * scale);
  };
  int differ = 0;
  for (uint32_t code : {0x39u, 0x3Bu, 0x3Du, 0x3Fu}) {
    double element = decodeE4M3FN(code);
    for (uint32_t middle = 0x3F808000; middle < 0x40000000; middle += 0x10000) {
      // The scales whose product with `element` may round to this tie.
      uint32_t scale = bitsOf(float(double(floatOf(middle)) / element));
      for (uint32_t bits = scale - 1; bits <= scale + 1; ++bits) {
        double product = element * double(floatOf(bits)); // Exact.
        if (roundToF32(product) != floatOf(middle) ||
            product == floatOf(middle))
          continue;
        uint32_t even = (middle >> 16) + ((middle >> 16) & 1);
        uint16_t byRecipe = scaledToBF16(element, {floatOf(bits)});
        ASSERT_EQ(byRecipe, even);
        uint32_t near = (middle >> 16) + (product > floatOf(middle));
        ASSERT_EQ(direct(element, floatOf(bits)), near);
        differ += byRecipe != near;
      }
    }
  }
  EXPECT_GT(differ, 20);
}

TEST(NumericsScaled, RoundsAfterEveryScale) {
  // The first product, 1.5 * 2^-149, is a tie of fp32 and becomes 2^-148.
  EXPECT_EQ(scaledToBF16(0x3p-149, {0.5f, 0x1p60f}), encodeBF16(0x1p-88f));
  // Overflow in a step stays, whatever follows.
  EXPECT_EQ(scaledToBF16(448, {0x1p127f, 0x1p-127f}), 0x7F80);
  EXPECT_EQ(scaledToBF16(448, {0x1p-127f, 0x1p127f}), 0x43E0);
  // So does underflow.
  EXPECT_EQ(scaledToBF16(-1, {0x1p-100f, 0x1p-100f, 0x1p127f}), 0x8000);
  // Order matters: (x * a) * b against (x * b) * a.
  Random random(4);
  int differ = 0;
  for (int i = 0; i < 20000; ++i) {
    double x = decodeE4M3FN(uint8_t(random.below(0x7E)));
    float a = float(1 + random.unit()), b = float(1 + random.unit());
    float v = float(double(float(x * a)) * b);
    ASSERT_EQ(scaledToBF16(x, {a, b}), encodeBF16(v));
    differ += scaledToBF16(x, {a, b}) != scaledToBF16(x, {b, a});
  }
  EXPECT_GT(differ, 0);
}

TEST(NumericsScaled, NaNAndInfinity) {
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(scaledToBF16(kNaN, {}), 0x7FFF);
  EXPECT_EQ(scaledToBF16(-kNaN, {1.0f}), 0x7FFF);
  EXPECT_EQ(scaledToBF16(1, {float(kNaN)}), 0x7FFF);
  EXPECT_EQ(scaledToBF16(0, {inf}), 0x7FFF);
  EXPECT_EQ(scaledToBF16(-kInfinity, {0.0f}), 0x7FFF);
  EXPECT_EQ(scaledToBF16(-1, {inf}), 0xFF80);
  // Finite in fp32, infinite in BF16.
  EXPECT_EQ(scaledToBF16(1, {floatOf(0x7F7F8000)}), 0x7F80);
}

TEST(NumericsScaled, EveryE4M3WithEveryE8M0) {
  for (uint32_t code = 0; code < 256; ++code)
    for (uint32_t exponent = 0; exponent < 256; ++exponent) {
      float scale = float(decodeE8M0FNU(exponent));
      APFloat v(APFloat::IEEEsingle(),
                APInt(32, bitsOf(float(decodeE4M3FN(code)))));
      v.multiply(APFloat(scale), APFloat::rmNearestTiesToEven);
      bool losesInfo;
      v.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &losesInfo);
      uint64_t want = v.isNaN() ? 0x7FFF : v.bitcastToAPInt().getZExtValue();
      ASSERT_EQ(scaledToBF16(decodeE4M3FN(code), {scale}), want)
          << code << " " << exponent;
    }
}
