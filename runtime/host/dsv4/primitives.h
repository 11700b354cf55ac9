//===- primitives.h - What the machine does, on a CPU -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of the device library's primitives.cuh with the same meaning to the
// bit, in integer and plain float arithmetic written from the definitions of
// the formats. Arithmetic relies on a compiler that neither contracts a*b+c nor
// reorders (-ffp-contract=off, no -ffast-math), as the device's relies on the
// `rn` intrinsics, which are never contracted.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_PRIMITIVES_H
#define DSV4_HOST_PRIMITIVES_H

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

__device__ __forceinline__ float as_float(unsigned bits) {
  return __uint_as_float(bits);
}
__device__ __forceinline__ unsigned as_unsigned(float value) {
  return __float_as_uint(value);
}

__device__ __forceinline__ unsigned permute_bytes(unsigned a, unsigned b,
                                                  unsigned selector) {
  const unsigned long long source = (unsigned long long)b << 32 | a;
  unsigned to = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> 4 * i & 0xF;
    const unsigned byte = (unsigned)(source >> 8 * (nibble & 7)) & 0xFF;
    to |= (nibble & 8 ? (byte & 0x80 ? 0xFFu : 0u) : byte) << 8 * i;
  }
  return to;
}

//===----------------------------------------------------------------------===//
// Arithmetic. A GPU has one NaN for results; a CPU hands the operand's through.
//===----------------------------------------------------------------------===//

__device__ __forceinline__ float one_nan(float value) {
  return value == value ? value : as_float(0x7FFFFFFFu);
}

__device__ __forceinline__ float add_f32(float a, float b) {
  return one_nan(a + b);
}
__device__ __forceinline__ float sub_f32(float a, float b) {
  return one_nan(a - b);
}
__device__ __forceinline__ float mul_f32(float a, float b) {
  return one_nan(a * b);
}
__device__ __forceinline__ float div_f32(float a, float b) {
  return one_nan(a / b);
}
__device__ __forceinline__ float div_few_registers_f32(float a, float b) {
  return div_f32(a, b);
}

// Rounded once, in hardware or by libm.
__device__ __forceinline__ float fma_f32(float a, float b, float c) {
  return one_nan(__builtin_fmaf(a, b, c));
}

__device__ __forceinline__ float sqrt_f32(float a) {
  return one_nan(__builtin_sqrtf(a));
}

__device__ __forceinline__ float sqrt_large_f32(float a) { return sqrt_f32(a); }
__device__ __forceinline__ float rcp_approx_f32(float a) {
  return div_f32(1.0f, a);
}
__device__ __forceinline__ float div_approx_f32(float a, float b) {
  return div_f32(a, b);
}

__device__ __forceinline__ float abs_f32(float a) {
  return as_float(as_unsigned(a) & 0x7FFFFFFFu);
}

// -0 orders below +0.
__device__ __forceinline__ float min_f32(float a, float b) {
  if (a != a || b != b)
    return one_nan(a != a ? b : a);
  if (a == b)
    return as_float(as_unsigned(a) | as_unsigned(b));
  return a < b ? a : b;
}
__device__ __forceinline__ float max_f32(float a, float b) {
  if (a != a || b != b)
    return one_nan(a != a ? b : a);
  if (a == b)
    return as_float(as_unsigned(a) & as_unsigned(b));
  return a > b ? a : b;
}

__device__ __forceinline__ unsigned reach_f32(const float *values,
                                              float least) {
  unsigned bits = 0;
  for (int i = 0; i < 4; ++i)
    bits |= (unsigned)(values[i] >= least) << i;
  return bits;
}

__device__ __forceinline__ float max_nan_f32(float a, float b) {
  return a != a || b != b ? as_float(0x7FFFFFFFu) : max_f32(a, b);
}
__device__ __forceinline__ unsigned max_bf16(float a, float b, bool keep_nan) {
  return as_unsigned(keep_nan ? max_nan_f32(a, b) : max_f32(a, b)) >> 16;
}
__device__ __forceinline__ unsigned max_bf16x2(unsigned a, unsigned b,
                                               bool keep_nan = false) {
  return max_bf16(as_float(a << 16), as_float(b << 16), keep_nan) |
         max_bf16(as_float(a & 0xFFFF0000u), as_float(b & 0xFFFF0000u),
                  keep_nan)
             << 16;
}
__device__ __forceinline__ unsigned max_nan_bf16x2(unsigned a, unsigned b) {
  return max_bf16x2(a, b, true);
}

__device__ inline float f32_of_f16(unsigned half);
__device__ inline unsigned max_f16(unsigned a, unsigned b, bool keep_nan) {
  const float x = f32_of_f16(a), y = f32_of_f16(b);
  if (x != x || y != y)
    return keep_nan || (x != x && y != y) ? 0x7FFF : x != x ? b : a;
  if (x == y) // zeros
    return a & b;
  return x > y ? a : b;
}
__device__ __forceinline__ unsigned max_f16x2(unsigned a, unsigned b,
                                              bool keep_nan = false) {
  return max_f16(a & 0xFFFF, b & 0xFFFF, keep_nan) |
         max_f16(a >> 16, b >> 16, keep_nan) << 16;
}
__device__ __forceinline__ unsigned max_nan_f16x2(unsigned a, unsigned b) {
  return max_f16x2(a, b, true);
}

//===----------------------------------------------------------------------===//
// Other lanes
//===----------------------------------------------------------------------===//

template <int Lanes>
__device__ __forceinline__ unsigned lane_group() {
  return Lanes == 32
             ? 0xFFFFFFFFu
             : ((1u << Lanes % 32) - 1) << (threadIdx.x % 32 / Lanes * Lanes);
}
template <int Lanes, typename Word>
__device__ __forceinline__ Word exchange(Word word, int distance) {
  return __shfl_xor_sync(lane_group<Lanes>(), word, distance);
}
template <int Lanes, int Width, typename Word>
__device__ __forceinline__ Word from_lane(Word word, int lane) {
  return __shfl_sync(lane_group<Lanes>(), word, lane, Width);
}

__device__ __forceinline__ unsigned sum_up_to_lane(unsigned value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned other = __shfl_up_sync(0xFFFFFFFFu, value, distance);
    value += (int)(threadIdx.x % 32) >= distance ? other : 0;
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

// The f16 of sign, and `significand` * 2^`exponent` where significand < 8 and
// the value is a normal f16 (the smallest is 2^-14) or zero.
__device__ inline unsigned f16_of(unsigned sign, unsigned significand,
                                  int exponent) {
  if (significand == 0)
    return sign << 15;
  int top = 0;
  while (significand >> (top + 1))
    ++top;
  const unsigned mantissa = (significand << (10 - top)) & 0x3FF;
  return sign << 15 | (unsigned)(exponent + top + 15) << 10 | mantissa;
}

__device__ inline float f32_of_f16(unsigned half) {
  const unsigned sign = half << 16 & 0x80000000u;
  const unsigned exponent = half >> 10 & 0x1F, mantissa = half & 0x3FF;
  if (exponent == 0x1F)
    return as_float(mantissa ? 0x7FFFFFFFu : sign | 0x7F800000u);
  if (exponent)
    return as_float(sign | (exponent - 15 + 127) << 23 | mantissa << 13);
  // Subnormal: mantissa * 2^-24, exact in a float.
  const float magnitude = (float)mantissa * 0x1p-24f;
  return as_float(sign | as_unsigned(magnitude));
}
__device__ __forceinline__ void cvt_f32_f16x2(float &low, float &high,
                                              unsigned pair) {
  low = f32_of_f16(pair & 0xFFFF);
  high = f32_of_f16(pair >> 16);
}

// Finite values stay finite; 2^-24 is the smallest subnormal one.
__device__ inline unsigned rz_f16_of_f32(float value) {
  const unsigned bits = as_unsigned(value), sign = bits >> 16 & 0x8000;
  const unsigned magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u)
    return 0x7FFF;
  if (magnitude == 0x7F800000u)
    return sign | 0x7C00;
  if (magnitude >= 0x47800000u)
    return sign | 0x7BFF;
  if (magnitude >= 0x38800000u)
    return sign | (magnitude - 0x38000000u) >> 13;
  return sign | (unsigned)(as_float(magnitude) * 0x1p24f);
}
template <int Shift>
__device__ __forceinline__ unsigned ordinal_rz_f16(float value) {
  const unsigned half = rz_f16_of_f32(value + 0.0f);
  return ((0xFC00u << 16 | 0xFFFFu) -
          ((half ^ (half & 0x8000u ? 0xFFFFu : 0x8000u)) << 16 |
           (half & 0x8000u ? 0xFFFFu : 0))) >>
         (16 + Shift);
}

__device__ __forceinline__ void keep_first_4(float *values, int count) {
  for (int i = count < 0 ? 0 : count; i < 4; ++i)
    values[i] = as_float(0x7FFFFFFFu);
}

__device__ inline unsigned bf16_of_f32(float value) {
  if (value != value)
    return 0x7FFF;
  const unsigned bits = as_unsigned(value);
  // Just under half of the last place kept, and one more where that one is odd;
  // the carry runs into the exponent as it should, up to infinity.
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}
__device__ __forceinline__ unsigned cvt_bf16x2_f32(float low, float high) {
  return bf16_of_f32(low) | bf16_of_f32(high) << 16;
}

__device__ inline unsigned f16_of_f32(float value) {
  const unsigned bits = as_unsigned(value), sign = bits >> 16 & 0x8000;
  const unsigned magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u)
    return 0x7FFF;
  // From the middle between the largest f16 and 2^16 on.
  if (magnitude >= 0x477FF000u)
    return sign | 0x7C00;
  if (magnitude >= 0x38800000u) // As in bf16_of_f32.
    return sign |
           (magnitude - 0x38000000u + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  // Subnormal: in a float of this size, the last place is 2^-24.
  return sign | (as_unsigned(as_float(magnitude) + 0.5f) - 0x3F000000u);
}
__device__ __forceinline__ unsigned cvt_f16x2_f32(float low, float high) {
  return f16_of_f32(low) | f16_of_f32(high) << 16;
}

// Exact in a float, whose rounding is the only one.
__device__ __forceinline__ unsigned mul_bf16x2(unsigned a, unsigned b) {
  return cvt_bf16x2_f32(as_float(a << 16) * as_float(b << 16),
                        as_float(a & 0xFFFF0000u) * as_float(b & 0xFFFF0000u));
}

__device__ __forceinline__ unsigned gtu_bf16x2(unsigned a, unsigned b) {
  return (as_float(a << 16) <= as_float(b << 16) ? 0u : 0xFFFFu) |
         (as_float(a & 0xFFFF0000u) <= as_float(b & 0xFFFF0000u) ? 0u
                                                                 : 0xFFFF0000u);
}
__device__ __forceinline__ unsigned geu_bf16x2(unsigned a, unsigned b) {
  return (as_float(a << 16) < as_float(b << 16) ? 0u : 0xFFFFu) |
         (as_float(a & 0xFFFF0000u) < as_float(b & 0xFFFF0000u) ? 0u
                                                                : 0xFFFF0000u);
}

// The library's own bit arithmetic serves the host: one path less to trust.
enum : bool { has_cvt_e4m3 = false };
enum : bool { has_cvt_fp4 = false };

__device__ inline unsigned f16_of_e4m3(unsigned byte) {
  const unsigned sign = byte >> 7 & 1, exponent = byte >> 3 & 0xF,
                 mantissa = byte & 7;
  if (exponent == 0xF && mantissa == 7)
    return 0x7FFF;
  if (exponent == 0)
    return f16_of(sign, mantissa, -9);
  return sign << 15 | (exponent - 7 + 15) << 10 | mantissa << 7;
}
__device__ __forceinline__ void cvt_f32_e4m3x4(float *to, unsigned word) {
  for (int i = 0; i < 4; ++i)
    to[i] = f32_of_f16(f16_of_e4m3(word >> 8 * i & 0xFF));
}
__device__ __forceinline__ void cvt_bf16_e4m3x4(unsigned *to, unsigned word) {
  float values[4];
  cvt_f32_e4m3x4(values, word);
  to[0] = cvt_bf16x2_f32(values[0], values[1]);
  to[1] = cvt_bf16x2_f32(values[2], values[3]);
}

// The code, 0 to `last` (the largest finite magnitude), that is nearest by
// distance, the even one of two at the same distance.
template <typename Value>
__device__ inline unsigned nearest_code(float value, unsigned last,
                                        Value value_of) {
  const double magnitude = __builtin_fabs((double)value);
  unsigned best = 0;
  for (unsigned code = 1; code <= last; ++code) {
    const double now = __builtin_fabs(value_of(code) - magnitude),
                 before = __builtin_fabs(value_of(best) - magnitude);
    if (now < before || (now == before && code % 2 == 0))
      best = code;
  }
  return magnitude >= value_of(last) ? last : best;
}
__device__ inline unsigned e4m3_of_f32(float value) {
  if (value != value)
    return 0x7F;
  const unsigned sign = as_unsigned(value) >> 24 & 0x80;
  return sign | nearest_code(value, 0x7E, [](unsigned code) {
           return (double)f32_of_f16(f16_of_e4m3(code));
         });
}
__device__ __forceinline__ unsigned cvt_e4m3x2_f32(float low, float high) {
  return e4m3_of_f32(low) | e4m3_of_f32(high) << 8;
}

__device__ inline unsigned f16_of_e2m1(unsigned code) {
  const unsigned sign = code >> 3 & 1, exponent = code >> 1 & 3,
                 mantissa = code & 1;
  return exponent ? f16_of(sign, 2 + mantissa, (int)exponent - 2)
                  : f16_of(sign, mantissa, -1);
}
__device__ __forceinline__ unsigned cvt_f16x2_e2m1x2(unsigned pair) {
  return f16_of_e2m1(pair & 0xF) | f16_of_e2m1(pair >> 4 & 0xF) << 16;
}

__device__ inline unsigned e2m1_of_f32(float value) {
  if (value != value)
    return 7;
  const unsigned sign = as_unsigned(value) >> 28 & 8;
  return sign | nearest_code(value, 7, [](unsigned code) {
           return (double)f32_of_f16(f16_of_e2m1(code));
         });
}
__device__ __forceinline__ unsigned cvt_e2m1x2_f32(float low, float high) {
  return e2m1_of_f32(low) | e2m1_of_f32(high) << 4;
}

// 2^-127 is a subnormal float.
__device__ __forceinline__ void cvt_f32_ue8m0x4(float *to, unsigned word) {
  for (int i = 0; i < 4; ++i) {
    const unsigned byte = word >> 8 * i & 0xFF;
    to[i] = as_float(byte == 0xFF ? 0x7FFFFFFFu
                     : byte == 0  ? 0x00400000u
                                  : byte << 23);
  }
}

} // namespace dsv4

#endif // DSV4_HOST_PRIMITIVES_H
