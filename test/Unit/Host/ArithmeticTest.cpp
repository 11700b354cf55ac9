//===- ArithmeticTest.cpp - What compilers may not change of arithmetic --===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

using namespace dsv4::rt;
using namespace dsv4::rt::test;

// (2^12 + 1)^2 - 2^24 is 8193 exactly, and 8192 if the product is rounded
// first.
TEST(Arithmetic, NothingIsContracted) {
  auto kernel = loadKernel(
      "extern \"C\" __global__ void contract(float a, float c, float *out) {\n"
      "  out[0] = a * a + c;\n"
      "  out[1] = dsv4::fma_f32(a, a, c);\n"
      "}\n",
      "contract");
  ASSERT_TRUE(kernel);
  float out[2];
  Status status = launch(*kernel, 1, 1, 0, 4097.0f, -16777216.0f, (float *)out);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(out[0], 8192.0f);
  EXPECT_EQ(out[1], 8193.0f);
}

// A quotient may be off by its last bit, but is on the same side of every
// number of five significant bits as the one rounded to nearest: those are
// where codes of E4M3 and E2M1 part. `stride` 1 takes all significands of
// values (2^31 comparisons, half a minute); each with the scales that bring
// the quotient closest to such a number and to where floats round to it.
TEST(Arithmetic, QuotientsBesideCodes) {
  constexpr unsigned stride = 509;
  auto kernel = loadKernel(R"(
__device__ int side(float quotient, float number) {
  return (quotient > number) - (quotient < number);
}
__device__ float neighbour(float value, int distance) {
  return __uint_as_float(__float_as_uint(value) + distance);
}
extern "C" __global__ void compare(unsigned stride, unsigned *counts) {
  for (unsigned bits = blockIdx.x; bits < 1u << 23; bits += stride) {
    const float value = __uint_as_float(0x3F800000u | bits);
    for (int k = 0; k < 48; ++k) {
      const float number = 1 + k / 3 / 16.0f;
      const double near =
          ((double)number + neighbour(number, k % 3 - 1)) / 2;
      const double exact = value / near;
      const float closest = exact < 1 ? 2 * exact : exact;
      const float at = exact < 1 ? number / 2 : number;
      for (int distance = -2; distance <= 2; ++distance) {
        const float scale = neighbour(closest, distance);
        const float quotient = dsv4::Divisor<float, float>(scale).quotient(value);
        counts[0] += side(quotient, at) != side(value / scale, at);
        counts[1] += side(value / scale, at) == 0;
      }
    }
  }
}
)",
                           "compare");
  ASSERT_TRUE(kernel);
  unsigned counts[2] = {};
  Status status = launch(*kernel, 1, 1, 0, stride, (unsigned *)counts);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(counts[0], 0u);
  // The scales are as close as that.
  EXPECT_GT(counts[1], (1u << 23) / stride * 16);
}

// Of bf16, too. `stride` 1 takes all significands of scales (2^30 quotients,
// some seconds); the last one is always taken, because quotients of powers of
// two by it are nearest to where floats round to a number of five bits.
TEST(Arithmetic, QuotientsOfBF16BesideCodes) {
  constexpr unsigned stride = 509;
  auto kernel = loadKernel(R"(
__device__ unsigned side(float quotient) {
  const unsigned bits = __float_as_uint(quotient);
  return bits >> 19 << 1 | ((bits & 0x7FFFF) != 0);
}
extern "C" __global__ void compare(unsigned stride, unsigned *counts) {
  const unsigned last = (1u << 23) - 1;
  for (unsigned bits = last % stride; bits <= last; bits += stride) {
    const float scale = __uint_as_float(0x3F800000u | bits);
    const dsv4::Divisor<float, dsv4::bf16> by(scale);
    for (unsigned i = 0; i < 128; ++i) {
      const float value = __uint_as_float(0x3F800000u | i << 16);
      counts[0] += side(by.quotient(value)) != side(value / scale);
      counts[1] += by.quotient(-value) != -by.quotient(value);
    }
  }
}
)",
                           "compare");
  ASSERT_TRUE(kernel);
  unsigned counts[2] = {};
  Status status = launch(*kernel, 1, 1, 0, stride, (unsigned *)counts);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(counts[0], 0u);
  EXPECT_EQ(counts[1], 0u);
}

// Codes are those of the quotients as floats: of zeros, infinities, NaN,
// subnormal and all other values, by all scales from the smallest normal one.
TEST(Arithmetic, QuantizesByAnyScale) {
  auto kernel = loadKernel(R"(
template <typename To, typename From>
__device__ unsigned differ(const float *values, float scale) {
  dsv4::Vec<float, 8> floats, quotients;
  for (int i = 0; i < 8; ++i) {
    floats.words[i] = values[i];
    quotients.words[i] = dsv4::div_f32(values[i], scale);
  }
  dsv4::Vec<From, 8> from;
  if constexpr (dsv4::bits_of<From>::value == 32)
    from = floats;
  else
    from = dsv4::convert<From>(floats);
  dsv4::Vec<float, 1> scales;
  scales.words[0] = scale;
  const auto codes = dsv4::quantize<To>(from, scales);
  const auto expected = dsv4::encode<To>(quotients);
  unsigned differs = 0;
  for (int i = 0; i < dsv4::Vec<To, 8>::vector_words; ++i)
    differs |= codes.words[i] ^ expected.words[i];
  return differs != 0;
}
extern "C" __global__ void compare(int count, const float *scales,
                                   const float *values, unsigned *counts) {
  for (int i = 0; i < count; ++i) {
    const float *group = values + 8 * i;
    counts[0] += differ<dsv4::e4m3, dsv4::bf16>(group, scales[i]);
    counts[1] += differ<dsv4::e2m1, dsv4::bf16>(group, scales[i]);
    counts[2] += differ<dsv4::e4m3, float>(group, scales[i]);
    counts[3] += differ<dsv4::e2m1, float>(group, scales[i]);
  }
}
)",
                           "compare");
  ASSERT_TRUE(kernel);
  constexpr int count = 200000;
  const uint32_t special[] = {0,          0x7F800000, 0x7FC00000, 0x7F7F0000,
                              0x00010000, 0x007F0000, 0x00800000, 0x3F800000};
  const uint32_t scaleBits[] = {0x00800000, 0x00800001, 0x217FFFFF, 0x5F7FFFFF,
                                0x5F800000, 0x5F800001, 0x7E800000, 0x7F7FFFFF,
                                0x7FFFFFFF, 0x3FFFFFFF, 0x5FFFFFFF, 0x00FFFFFF};
  std::vector<float> scales, values;
  uint64_t state = 1;
  auto random = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
  };
  for (int i = 0; i < count; ++i) {
    uint32_t scale = i % 4 == 0 ? scaleBits[random() % std::size(scaleBits)]
                                : 0x00800000 + random() % 0x7F000000;
    scales.push_back(floatOf(scale));
    for (int k = 0; k < 8; ++k) {
      // Most quotients are from 2^-12 to 2^12.
      int64_t near = (int64_t)(scale >> 23) + random() % 24 - 12;
      uint32_t bits = random() % 8 == 0 ? special[random() % std::size(special)]
                      : random() % 8 == 0
                          ? random() >> 1
                          : (uint32_t)std::clamp<int64_t>(near, 0, 254) << 23 |
                                random() >> 9;
      values.push_back(floatOf((bits | random() << 31) & 0xFFFF0000));
    }
  }
  unsigned counts[4] = {};
  Status status = launch(*kernel, 1, 1, 0, count, (const float *)scales.data(),
                         (const float *)values.data(), (unsigned *)counts);
  ASSERT_TRUE(status.ok()) << status.message();
  for (unsigned wrong : counts)
    EXPECT_EQ(wrong, 0u);
}
