//===- ConversionTest.cpp - Every code of every format --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expected values are the formats' definitions in double arithmetic.
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

namespace {

constexpr uint32_t floatNaN = 0x7FFFFFFF;

/// (-1)^sign * 2^(exponent - bias) * 1.mantissa, or 0.mantissa at exponent 0.
double valueOf(unsigned code, int exponentBits, int mantissaBits, int bias) {
  const unsigned sign = code >> (exponentBits + mantissaBits) & 1;
  const int exponent = code >> mantissaBits & ((1u << exponentBits) - 1);
  const double fraction =
      (code & ((1u << mantissaBits) - 1)) / std::exp2(mantissaBits);
  const double magnitude = exponent == 0
                               ? std::exp2(1 - bias) * fraction
                               : std::exp2(exponent - bias) * (1 + fraction);
  return sign ? -magnitude : magnitude;
}

uint32_t expectedE4M3(unsigned code) {
  return (code & 0x7F) == 0x7F ? floatNaN
                               : bitsOf((float)valueOf(code, 4, 3, 7));
}
uint32_t expectedE2M1(unsigned code) {
  return bitsOf((float)valueOf(code, 2, 1, 1));
}
uint32_t expectedUE8M0(unsigned code) {
  return code == 0xFF ? floatNaN : bitsOf((float)std::exp2((int)code - 127));
}
uint32_t expectedF16(unsigned code) {
  if ((code >> 10 & 0x1F) != 0x1F)
    return bitsOf((float)valueOf(code, 5, 10, 15));
  const float infinity = std::numeric_limits<float>::infinity();
  return code & 0x3FF ? floatNaN : bitsOf(code & 0x8000 ? -infinity : infinity);
}

/// The nearest bf16 by distance, the even one of two at the same distance.
unsigned expectedBF16(float value) {
  if (std::isnan(value))
    return 0x7FFF;
  const unsigned sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isinf(value))
    return sign | 0x7F80;
  const double magnitude = std::fabs((double)value);
  const unsigned below = bitsOf((float)magnitude) >> 16;
  // What follows the largest one, in the order of the codes, is 2^128: from
  // half way on it stands for infinity.
  const double low = valueOf(below, 8, 7, 127),
               high = valueOf(below + 1, 8, 7, 127);
  const double toLow = magnitude - low, toHigh = high - magnitude;
  if (toLow != toHigh)
    return sign | (toLow < toHigh ? below : below + 1);
  return sign | (below % 2 ? below + 1 : below);
}

/// Runs `kernel` over the input, one thread per `perThread` input elements.
template <typename In, typename Out>
std::vector<Out> convertAll(const std::string &body, std::vector<In> in,
                            size_t outputs, size_t perThread) {
  auto kernel = loadKernel("extern \"C\" __global__ void convert_all(const "
                           "unsigned char *in, unsigned char *out) {\n"
                           "  using namespace dsv4;\n"
                           "  const int i = blockIdx.x * blockDim.x + "
                           "threadIdx.x;\n" +
                               body + "}\n",
                           "convert_all");
  std::vector<Out> out(outputs);
  if (!kernel)
    return out;
  const size_t threads = in.size() / perThread;
  const uint32_t block = threads < 128 ? threads : 128;
  EXPECT_EQ(threads % block, 0u);
  Status status =
      launch(*kernel, threads / block, block, 0, in.data(), out.data());
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

std::vector<uint8_t> allBytes() {
  std::vector<uint8_t> bytes(256);
  for (unsigned i = 0; i < 256; ++i)
    bytes[i] = i;
  return bytes;
}

std::vector<uint16_t> allHalves() {
  std::vector<uint16_t> halves(65536);
  for (unsigned i = 0; i < 65536; ++i)
    halves[i] = i;
  return halves;
}

std::string convertBody(const std::string &type, int count, int bytes) {
  const std::string vec = "Vec<" + type + ", " + std::to_string(count) + ">";
  return "  store(out + i * " + std::to_string(4 * count) +
         ", convert<float>(load<" + vec + ">(in + i * " +
         std::to_string(bytes) + ")));\n";
}

} // namespace

TEST(Conversion, E4M3ToFloat) {
  auto out = convertAll<uint8_t, uint32_t>(convertBody("e4m3", 4, 4),
                                           allBytes(), 256, 4);
  for (unsigned i = 0; i < 256; ++i)
    EXPECT_EQ(out[i], expectedE4M3(i)) << i;
}

TEST(Conversion, UE8M0ToFloat) {
  auto out = convertAll<uint8_t, uint32_t>(convertBody("ue8m0", 8, 8),
                                           allBytes(), 256, 8);
  for (unsigned i = 0; i < 256; ++i)
    EXPECT_EQ(out[i], expectedUE8M0(i)) << i;
}

TEST(Conversion, E2M1ToFloat) {
  auto out = convertAll<uint8_t, uint32_t>(convertBody("e2m1", 8, 4),
                                           allBytes(), 512, 4);
  for (unsigned i = 0; i < 512; ++i)
    EXPECT_EQ(out[i], expectedE2M1(i % 2 ? i / 2 >> 4 : i / 2 & 0xF)) << i;
}

TEST(Conversion, I4ToFloat) {
  auto out = convertAll<uint8_t, uint32_t>(convertBody("i4", 8, 4), allBytes(),
                                           512, 4);
  for (unsigned i = 0; i < 512; ++i) {
    const int nibble = i % 2 ? i / 2 >> 4 : i / 2 & 0xF;
    EXPECT_EQ(out[i], bitsOf((float)(nibble < 8 ? nibble : nibble - 16))) << i;
  }
}

TEST(Conversion, BF16ToFloat) {
  auto out = convertAll<uint16_t, uint32_t>(convertBody("bf16", 8, 16),
                                            allHalves(), 65536, 8);
  // NaNs keep their bits: this is a shift.
  for (unsigned i = 0; i < 65536; ++i)
    ASSERT_EQ(out[i], i << 16) << i;
}

TEST(Conversion, ScalarsToFloat) {
  auto out = convertAll<uint8_t, uint32_t>(
      "  const float a = convert<float>(e4m3{in[i]});\n"
      "  const float b = convert<float>(ue8m0{in[i]});\n"
      "  Vec<float, 2> both = {{a, b}};\n"
      "  store(out + i * 8, both);\n",
      allBytes(), 512, 1);
  for (unsigned i = 0; i < 256; ++i) {
    EXPECT_EQ(out[2 * i], expectedE4M3(i)) << i;
    EXPECT_EQ(out[2 * i + 1], expectedUE8M0(i)) << i;
  }
}

TEST(Conversion, FloatToBF16) {
  // Each bf16 and what lies between it and the next: exact, just above, just
  // below half, half, just above half, just below the next.
  std::vector<float> in;
  for (uint32_t high = 0; high < 65536; ++high)
    for (uint32_t low : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu,
                         0x4000u, 0xC000u})
      in.push_back(floatOf(high << 16 | low));
  auto out = convertAll<float, uint16_t>(
      "  store(out + i * 16, convert<bf16>(load<Vec<float, 8>>(in + i * "
      "32)));\n",
      in, in.size(), 8);
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(out[i], expectedBF16(in[i]))
        << std::hex << bitsOf(in[i]) << " gives " << out[i];
}

TEST(Conversion, ScalarFloatToBF16) {
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> in = {0.0f,
                           -0.0f,
                           1.0f,
                           -1.5f,
                           infinity,
                           -infinity,
                           NAN,
                           floatOf(0x7F7FFFFF), // the largest float
                           floatOf(1),
                           floatOf(0x00008000),
                           floatOf(0x00018000),
                           floatOf(0xFFC00001)};
  auto out = convertAll<float, uint16_t>(
      "  const Vec<float, 1> value = load<Vec<float, 1>>(in + i * 4);\n"
      "  ((bf16 *)out)[i] = convert<bf16>(value[0]);\n",
      in, in.size(), 1);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], expectedBF16(in[i])) << i;
}

TEST(Conversion, PrimitiveF16ToFloat) {
  auto out = convertAll<uint16_t, uint32_t>(
      "  Vec<float, 2> to;\n"
      "  cvt_f32_f16x2(to[0], to[1], load<Vec<bf16, 2>>(in + i * "
      "4).words[0]);\n"
      "  store(out + i * 8, to);\n",
      allHalves(), 65536, 2);
  for (unsigned i = 0; i < 65536; ++i)
    ASSERT_EQ(out[i], expectedF16(i)) << i;
}

TEST(Conversion, F16ToFloat) {
  auto out = convertAll<uint16_t, uint32_t>(convertBody("f16", 8, 16),
                                            allHalves(), 65536, 8);
  for (unsigned i = 0; i < 65536; ++i)
    ASSERT_EQ(out[i], expectedF16(i)) << i;
}

TEST(Conversion, FloatToF16) {
  // Each f16 and what lies between it and the next: both are floats, and so is
  // the middle. After the largest one comes what would be the next.
  std::vector<float> in;
  std::vector<uint16_t> expected;
  auto expect = [&](float value, unsigned code) {
    for (unsigned sign : {0x0000u, 0x8000u}) {
      in.push_back(sign ? -value : value);
      expected.push_back(uint16_t(sign | code));
    }
  };
  for (unsigned code = 0; code < 0x7C00; ++code) {
    const float value = floatOf(expectedF16(code));
    const float next =
        code == 0x7BFF ? 65536.0f : floatOf(expectedF16(code + 1));
    const float middle = (value + next) / 2;
    expect(value, code);
    expect(std::nextafter(middle, 0.0f), code);
    expect(middle, code + code % 2);
    expect(std::nextafter(middle, next), code + 1);
  }
  expect(std::numeric_limits<float>::max(), 0x7C00);
  expect(std::numeric_limits<float>::infinity(), 0x7C00);
  expect(std::numeric_limits<float>::denorm_min(), 0);
  for (uint32_t nan : {0x7FC00000u, 0xFFC00001u, 0x7F800001u, 0xFFFFFFFFu}) {
    in.push_back(floatOf(nan));
    expected.push_back(0x7FFF);
  }
  while (in.size() % 1024 != 0)
    expect(1.0f, 0x3C00);
  auto out = convertAll<float, uint16_t>(
      "  store(out + i * 16, convert<f16>(load<Vec<float, 8>>(in + i * "
      "32)));\n",
      in, in.size(), 8);
  for (size_t i = 0; i < in.size(); ++i)
    ASSERT_EQ(out[i], expected[i]) << std::hex << bitsOf(in[i]);
}

TEST(Conversion, SmallElementsToF16) {
  auto body = [](const std::string &type, int bytes) {
    return "  store(out + i * 16, convert<f16>(load<Vec<" + type +
           ", 8>>(in + i * " + std::to_string(bytes) + ")));\n";
  };
  auto e4m3 =
      convertAll<uint8_t, uint16_t>(body("e4m3", 8), allBytes(), 256, 8);
  for (unsigned i = 0; i < 256; ++i)
    EXPECT_EQ(expectedF16(e4m3[i]), expectedE4M3(i)) << i;
  auto e2m1 =
      convertAll<uint8_t, uint16_t>(body("e2m1", 4), allBytes(), 512, 4);
  auto i4 = convertAll<uint8_t, uint16_t>(body("i4", 4), allBytes(), 512, 4);
  for (unsigned i = 0; i < 512; ++i) {
    const int nibble = i % 2 ? i / 2 >> 4 : i / 2 & 0xF;
    EXPECT_EQ(expectedF16(e2m1[i]), expectedE2M1(nibble)) << i;
    EXPECT_EQ(expectedF16(i4[i]),
              bitsOf((float)(nibble < 8 ? nibble : nibble - 16)))
        << i;
  }
}

TEST(Conversion, MagnitudesOfF16) {
  // Of pairs, as of single ones: a NaN loses or wins, infinity is the largest.
  auto out = convertAll<uint16_t, uint32_t>(
      "  const auto row = load<Tile<f16, 1, 2>>(in + i * 4);\n"
      "  store(out + i * 8, max_abs<1, 2>(row));\n"
      "  store(out + i * 8 + 4, max_abs_nan<1, 2>(row));\n",
      allHalves(), 65536, 2);
  auto magnitude = [](unsigned code) {
    const float value = std::fabs(floatOf(expectedF16(code)));
    return std::isinf(value) ? 65504.0f : value;
  };
  for (unsigned i = 0; i < 65536; i += 2) {
    const float a = magnitude(i), b = magnitude(i + 1);
    const float largest = std::isnan(a) && std::isnan(b) ? 0 : std::fmax(a, b);
    EXPECT_EQ(out[i], bitsOf(largest)) << i;
    const bool hasNaN = std::isnan(a) || std::isnan(b);
    EXPECT_EQ(out[i + 1], hasNaN ? 0x7FFFFFFFu : bitsOf(largest)) << i;
  }
}

TEST(Conversion, IntegersOf64Bits) {
  const int64_t half = int64_t(1) << 32;
  std::vector<int64_t> in = {
      0,         1,         -1,       -7,       INT32_MAX,
      INT32_MIN, half,      half + 5, -half,    5 - half,
      INT64_MAX, INT64_MIN, half / 2, half - 1, -half / 2 - 1,
      half << 8};
  auto out = convertAll<int64_t, int32_t>(
      "  const auto indices = load<Vec<long long, 2>>(in + i * 16);\n"
      "  const Vec<int, 2> narrowed = narrow(indices);\n"
      "  store(out + i * 16, narrowed);\n"
      "  const long long *lengths = (const long long *)(in + i * 16);\n"
      "  ((int *)out)[i * 4 + 2] = saturate(lengths[0]);\n"
      "  ((int *)out)[i * 4 + 3] = saturate(lengths[1]);\n",
      in, 2 * in.size(), 2);
  for (size_t i = 0; i < in.size(); ++i) {
    const bool fits = in[i] >= INT32_MIN && in[i] <= INT32_MAX;
    const size_t at = i / 2 * 4 + i % 2;
    EXPECT_EQ(out[at], fits ? int32_t(in[i]) : -1) << in[i];
    EXPECT_EQ(out[at + 2], fits        ? int32_t(in[i])
                           : in[i] < 0 ? INT32_MIN
                                       : INT32_MAX)
        << in[i];
  }
  std::vector<int32_t> back = {0, 1, -1, -7, INT32_MAX, INT32_MIN};
  auto wide = convertAll<int32_t, int64_t>(
      "  store(out + i * 16, widen(load<Vec<int, 2>>(in + i * 8)));\n", back,
      back.size(), 2);
  for (size_t i = 0; i < back.size(); ++i)
    EXPECT_EQ(wide[i], back[i]);
}

// The paths of architectures that have the instructions, in the host's words.
TEST(Conversion, PrimitiveSmallFloats) {
  auto e4m3 = convertAll<uint8_t, uint32_t>(
      "  const unsigned word = load<Vec<e4m3, 4>>(in + i * 4).words[0];\n"
      "  cvt_f32_e4m3x4((float *)out + i * 4, word);\n",
      allBytes(), 256, 4);
  auto e4m3bf16 = convertAll<uint8_t, uint16_t>(
      "  const unsigned word = load<Vec<e4m3, 4>>(in + i * 4).words[0];\n"
      "  cvt_bf16_e4m3x4((unsigned *)out + i * 2, word);\n",
      allBytes(), 256, 4);
  auto e2m1 = convertAll<uint8_t, uint32_t>(
      "  ((unsigned *)out)[i] = cvt_f16x2_e2m1x2(in[i]);\n", allBytes(), 256,
      1);
  for (unsigned i = 0; i < 256; ++i) {
    EXPECT_EQ(e4m3[i], expectedE4M3(i)) << i;
    EXPECT_EQ(e4m3bf16[i], expectedBF16(floatOf(expectedE4M3(i)))) << i;
    EXPECT_EQ(expectedF16(e2m1[i] & 0xFFFF), expectedE2M1(i & 0xF)) << i;
    EXPECT_EQ(expectedF16(e2m1[i] >> 16), expectedE2M1(i >> 4)) << i;
  }
}

// Every value times every scale, by the recipe: the product as a float, then
// the nearest bf16.
TEST(Conversion, Dequantize) {
  const auto i4 = [](unsigned code) {
    return bitsOf((float)(code < 8 ? int(code) : int(code) - 16));
  };
  struct Stored {
    const char *type;
    unsigned bits;
    std::function<uint32_t(unsigned)> expected;
  };
  const Stored stored[] = {
      {"e4m3", 8, expectedE4M3}, {"e2m1", 4, expectedE2M1}, {"i4", 4, i4}};
  struct Scales {
    const char *type;
    std::function<uint32_t(unsigned)> expected;
  };
  const Scales scales[] = {{"e4m3", expectedE4M3},
                           {"ue8m0", expectedUE8M0},
                           {"float", [](unsigned code) {
                              return bitsOf(floatOf(expectedUE8M0(code)) *
                                            1.2345678f);
                            }}};
  for (const Stored &value : stored)
    for (const Scales &scale : scales)
      for (int vector : {8, 2}) {
        const bool isFloat = scale.type == std::string("float");
        // Scale f, then values 0 to 7 of group g: thread 32 * f + g.
        std::vector<uint8_t> in;
        for (unsigned f = 0; f < 256; ++f)
          for (unsigned g = 0; g < 32; ++g) {
            const uint32_t bits = isFloat ? scale.expected(f) : f;
            for (int i = 0; i < 4; ++i)
              in.push_back(bits >> 8 * i);
            for (int i = 0; i < 12; ++i)
              in.push_back(value.bits == 8 ? g * 8 + i % 8
                                           : (i % 4 * 2 + 1) << 4 | i % 4 * 2);
            if (value.bits == 4 && g % 2)
              for (int i = 1; i <= 12; ++i)
                in[in.size() - i] |= 0x88;
          }
        const std::string tile = std::string("Tile<") + value.type + ", " +
                                 std::to_string(8 / vector) + ", " +
                                 std::to_string(vector) + ">";
        const std::string text =
            "  const auto values = load<" + tile + ", " +
            (vector * value.bits == 64 ? "4" : "1") + ">(in + i * 16 + 4, " +
            std::to_string(vector * value.bits / 8) +
            ");\n"
            "  const auto scale = load<Vec<" +
            std::string(scale.type) +
            ", 1>>(in + i * 16);\n"
            "  store(out + i * 48, dequantize<float>(values, scale), " +
            std::to_string(vector * 4) +
            ");\n"
            "  store(out + i * 48 + 32, dequantize<bf16>(values, scale), " +
            std::to_string(vector * 2) + ");\n";
        auto out = convertAll<uint8_t, uint8_t>(text, in, 256 * 32 * 48, 16);
        for (unsigned f = 0; f < 256; ++f)
          for (unsigned g = 0; g < 32; ++g)
            for (unsigned i = 0; i < 8; ++i) {
              const uint8_t *thread = &out[(f * 32 + g) * 48];
              uint32_t product;
              uint16_t rounded;
              std::memcpy(&product, thread + i * 4, 4);
              std::memcpy(&rounded, thread + 32 + i * 2, 2);
              const unsigned code =
                  value.bits == 8 ? g * 8 + i : i + (g % 2 ? 8 : 0);
              float expected =
                  floatOf(value.expected(code)) * floatOf(scale.expected(f));
              if (std::isnan(expected))
                expected = floatOf(floatNaN);
              ASSERT_EQ(product, bitsOf(expected))
                  << value.type << " " << code << " by " << scale.type << " "
                  << f << " in vectors of " << vector;
              ASSERT_EQ(rounded, expectedBF16(expected))
                  << value.type << " " << code << " by " << scale.type << " "
                  << f << " in vectors of " << vector;
            }
      }
}

// A GPU's results have one NaN, its minimum ignores NaN, and -0 is below +0.
TEST(Conversion, PrimitiveArithmetic) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> in = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 infinity,
                                 -infinity,
                                 floatOf(0xFFC01234),
                                 floatOf(0x7F800001),
                                 3.0f};
  auto out = convertAll<float, uint32_t>(
      "  for (int j = 0; j < 8; ++j) {\n"
      "    const float a = ((const float *)in)[i], b = ((const float "
      "*)in)[j];\n"
      "    float *to = (float *)out + (i * 8 + j) * 7;\n"
      "    to[0] = add_f32(a, b), to[1] = sub_f32(a, b);\n"
      "    to[2] = mul_f32(a, b), to[3] = div_f32(a, b);\n"
      "    to[4] = min_f32(a, b), to[5] = max_f32(a, b);\n"
      "    to[6] = fma_f32(a, b, -1.0f);\n"
      "  }\n",
      in, 8 * 8 * 7, 1);
  const auto canonical = [](double value) {
    return std::isnan(value) ? floatNaN : bitsOf((float)value);
  };
  for (unsigned i = 0; i < 64; ++i) {
    const double a = in[i / 8], b = in[i % 8];
    EXPECT_EQ(out[i * 7 + 0], canonical(a + b)) << i;
    EXPECT_EQ(out[i * 7 + 1], canonical(a - b)) << i;
    EXPECT_EQ(out[i * 7 + 2], canonical(a * b)) << i;
    EXPECT_EQ(out[i * 7 + 3], canonical(a / b)) << i;
    const bool less = a < b || (a == b && std::signbit(a));
    const double low = std::isnan(a) ? b : std::isnan(b) ? a : less ? a : b;
    const double high = std::isnan(a) ? b : std::isnan(b) ? a : less ? b : a;
    EXPECT_EQ(out[i * 7 + 4], canonical(low)) << i;
    EXPECT_EQ(out[i * 7 + 5], canonical(high)) << i;
    EXPECT_EQ(out[i * 7 + 6], canonical(a * b - 1)) << i;
  }
}

// As selections count floats: by the f16 towards zero, the largest first.
TEST(Conversion, PlacesOfHalves) {
  std::vector<float> values;
  std::vector<unsigned> expected;
  // From infinity, 0xFC00 as a key, down to -infinity, 0x3FF.
  auto add = [&](float value, unsigned key) {
    values.push_back(value);
    expected.push_back(0xFC00 - key);
  };
  for (unsigned code = 0; code <= 0x7C00; ++code) {
    const float half = float(valueOf(code, 5, 10, 15)),
                next = float(valueOf(code + 1, 5, 10, 15));
    if (code == 0x7C00) {
      const float infinity = std::numeric_limits<float>::infinity();
      add(infinity, 0xFC00);
      add(-infinity, 0x3FF);
      continue;
    }
    // Itself, and what is just short of the next one.
    for (float value : {half, std::nextafter(next, 0.0f)}) {
      add(value, 0x8000 + code);
      add(-value, value == 0 ? 0x8000 : 0x7FFF - code);
    }
  }
  // Beyond the largest.
  add(1e30f, 0xFBFF);
  while (values.size() % 128)
    add(-1e30f, 0x400);
  auto out = convertAll<float, uint32_t>(
      "  *(unsigned *)(out + 4 * i) = "
      "ordinal_rz_f16<0>(*(const float *)(in + 4 * i));\n",
      values, values.size(), 1);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(out[i], expected[i]) << values[i];
  // NaN is after all numbers.
  auto nan = convertAll<uint32_t, uint32_t>(
      "  *(unsigned *)(out + 4 * i) = "
      "ordinal_rz_f16<5>(*(const float *)(in + 4 * i));\n",
      {0x7FFFFFFF, 0xFFC00001, 0x7F800001, 0xFF800000}, 4, 1);
  EXPECT_GT(nan[0], nan[3]);
  EXPECT_EQ(nan[1], nan[0]);
  EXPECT_EQ(nan[2], nan[0]);
}

TEST(Conversion, FirstOfFour) {
  for (int count = -1; count <= 5; ++count) {
    auto out = convertAll<float, float>(
        "  float values[4];\n"
        "  for (int k = 0; k < 4; ++k) values[k] = ((const float *)in)[k];\n"
        "  keep_first_4(values, " +
            std::to_string(count) +
            ");\n"
            "  for (int k = 0; k < 4; ++k) ((float *)out)[k] = values[k];\n",
        {1, -2, 3, 0}, 4, 4);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(std::isnan(out[i]), i >= count) << count;
  }
}
