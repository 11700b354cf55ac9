//===- convert.cuh - Between the stored element types and float -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every conversion to float is exact. The way back, float to bf16, rounds to
// the nearest, ties to even; a NaN becomes 0x7FFF.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// One 32-bit word of elements -> floats. The tag selects the type.
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void decode(float *to, bf16, unsigned word) {
  to[0] = as_float(word << 16);
  to[1] = as_float(word & 0xFFFF0000u);
}

__device__ __forceinline__ void decode(float *to, e4m3, unsigned word) {
  if constexpr (has_cvt_e4m3) {
    cvt_f32_f16x2(to[0], to[1], cvt_f16x2_e4m3x2(word));
    cvt_f32_f16x2(to[2], to[3], cvt_f16x2_e4m3x2(word >> 16));
  } else {
    // The bits at their place in a float are the value times 2^-120, subnormals
    // included.
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned byte = word >> 8 * i;
      const unsigned sign = byte << 24 & 0x80000000u, magnitude = byte & 0x7F;
      const float value = mul_f32(as_float(sign | magnitude << 20), 0x1p120f);
      to[i] = magnitude == 0x7F ? as_float(0x7FFFFFFFu) : value;
    }
  }
}

__device__ __forceinline__ void decode(float *to, e2m1, unsigned word) {
  if constexpr (has_cvt_fp4) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      cvt_f32_f16x2(to[2 * i], to[2 * i + 1], cvt_f16x2_e2m1x2(word >> 8 * i));
  } else {
    // The bits at their place in a float are the value times 2^-126, subnormals
    // included.
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const unsigned top = word << (28 - 4 * i);
      to[i] = mul_f32(as_float((top & 0x80000000u) | (top >> 6 & 0x01C00000u)),
                      0x1p126f);
    }
  }
}

__device__ __forceinline__ void decode(float *to, i4, unsigned word) {
  // 2^23 + (nibble + 8) is a float whose low bits are the nibble with its sign
  // bit flipped.
#pragma unroll
  for (int i = 0; i < 8; ++i)
    to[i] = sub_f32(as_float((word >> 4 * i & 0xF) ^ 0x4B000008u), 8388616.0f);
}

__device__ __forceinline__ void decode(float *to, ue8m0, unsigned word) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    // The code is the exponent field of a float, but for 0, which stands for
    // 2^-127, a subnormal, and 0xFF, which stands for NaN and would be
    // infinity.
    const float power = max_f32(
        as_float((i < 3 ? word << (23 - 8 * i) : word >> 1) & 0x7F800000u),
        0x1p-127f);
    to[i] = fma_f32(power, 0.0f, power);
  }
}

//===----------------------------------------------------------------------===//
// convert<To>(value)
//===----------------------------------------------------------------------===//

template <typename To, typename From, int S, int V>
__device__ __forceinline__ Tile<To, S, V>
convert(const Tile<From, S, V> &from) {
  if constexpr (bits_of<To> == bits_of<From>) {
    return from; // the same type
  } else if constexpr (bits_of<To> == 32) {
    constexpr int per_word = 32 / bits_of<From>,
                  chunk_words = Tile<From, S, V>::chunk_words;
    Tile<To, S, V> to;
#pragma unroll
    for (int i = 0; i < S * chunk_words; ++i) {
      if constexpr (V % per_word == 0) {
        decode(to.words + i * per_word, From(), from.words[i]);
      } else {
        const int first =
            i % chunk_words * per_word; // of this word in its chunk
        float values[per_word];
        decode(values, From(), from.words[i]);
#pragma unroll
        for (int j = 0; j < per_word; ++j)
          if (first + j < V)
            to.words[i / chunk_words * V + first + j] = values[j];
      }
    }
    return to;
  } else if constexpr (bits_of<From> < 16) {
    return convert<To>(convert<float>(from)); // exact
  } else {
    static_assert(bits_of<To> == 16 && bits_of<From> == 32,
                  "quantisers are functions of their own");
    constexpr int chunk_words = Tile<To, S, V>::chunk_words;
    Tile<To, S, V> to;
#pragma unroll
    for (int i = 0; i < S * chunk_words; ++i) {
      const int first = i / chunk_words * V + i % chunk_words * 2;
      const bool pair = i % chunk_words * 2 + 1 < V;
      to.words[i] = cvt_bf16x2_f32(from.words[first],
                                   pair ? from.words[first + 1] : 0.0f);
    }
    return to;
  }
}

// Scalars, whose bits are all that counts.
template <typename To>
__device__ __forceinline__ To convert(float value) {
  return To{(unsigned short)cvt_bf16x2_f32(value, 0.0f)};
}
template <typename To, typename From>
__device__ __forceinline__ To convert(From value) {
  float values[32 / bits_of<From>];
  decode(values, From(), value.bits);
  return values[0];
}

} // namespace dsv4
