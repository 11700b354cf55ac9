//===- exp.cuh - e to a power -----------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"

namespace dsv4 {

// e^(factor * x) for a factor that is a power of two or minus one and a result
// of at most 1, within 4 ulp near x = 0: 2^k times a polynomial of the rest,
// |rest| <= 1/2. 0 if not `there`.
__device__ __forceinline__ float exp_f32(float x, float factor, bool there) {
  constexpr float log2_e = 1.44269502f, to_low_bits = 12582912.0f;
  const float scale = factor * log2_e;
  const float shifted = fma_f32(x, scale, to_low_bits);
  const float rest = fma_f32(x, scale, sub_f32(to_low_bits, shifted));
  float y = fma_f32(rest, 1.32647273e-03f, 9.67151299e-03f);
  y = fma_f32(y, rest, 5.55073358e-02f);
  y = fma_f32(y, rest, 2.40222424e-01f);
  y = fma_f32(y, rest, 6.93147004e-01f);
  y = fma_f32(y, rest, 1.0f);
  // The low bits of the sum are k, to be added to the exponent.
  const float scaled = as_float((as_unsigned(shifted) << 23) + as_unsigned(y));
  return there ? scaled : 0.0f;
}

// e^x for x <= 0. 0 below -87, and of NaN.
__device__ __forceinline__ float exp_f32(float x) {
  return exp_f32(x, 1.0f, x >= -87.0f);
}
// e^(-x/2) for x >= 0, the same as exp_f32(-0.5f * x).
__device__ __forceinline__ float exp_minus_half_f32(float x) {
  return exp_f32(x, -0.5f, x <= 174.0f);
}

} // namespace dsv4
