//===- ArithmeticTest.cpp - What compilers may not change of arithmetic --===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostTesting.h"

#include <cmath>
#include <cstring>
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
        const float quotient = dsv4::Divisor<float>(scale).quotient(value);
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
