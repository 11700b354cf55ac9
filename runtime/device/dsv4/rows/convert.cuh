//===- convert.cuh - Between the stored element types and float -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every conversion to float is exact. The way back, float to bf16 or f16,
// rounds to the nearest, ties to even; a NaN becomes 0x7FFF.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// One 32-bit word of elements -> floats. The tag selects the type.
//===----------------------------------------------------------------------===//

__device__ __forceinline__ void decode(float *to, bf16, unsigned word) {
  to[0] = as_float(word << 16);
  to[1] = as_float(word & 0xFFFF0000u);
}

__device__ __forceinline__ void decode(float *to, f16, unsigned word) {
  cvt_f32_f16x2(to[0], to[1], word);
}

__device__ __forceinline__ void decode(float *to, e4m3, unsigned word) {
  if constexpr (has_cvt_e4m3) {
    cvt_f32_e4m3x4(to, word);
  } else {
    // Shifted into a float, the bits are the value times 2^-120, subnormals
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

// Eight E2M1 as pairs of bf16.
__device__ __forceinline__ void spread_e2m1(unsigned *to, unsigned word) {
  // The magnitude is an index into the values 0, 0.5, 1, 1.5, 2, 3, 4 and 6, as
  // lower and upper bytes of bf16.
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const unsigned codes = word >> 16 * i, magnitudes = codes & 0x7777;
    const unsigned signs =
        permute_bytes(0x80808080u, 0x80808080u, codes) << 1 & 0x80808080u;
    const unsigned low = permute_bytes(0xC0800000u, 0xC0804000u, magnitudes);
    const unsigned high =
        permute_bytes(0x3F3F3F00u, 0x40404040u, magnitudes) | signs;
    to[2 * i] = permute_bytes(low, high, 0x5140);
    to[2 * i + 1] = permute_bytes(low, high, 0x7362);
  }
}

__device__ __forceinline__ void decode(float *to, e2m1, unsigned word) {
  if constexpr (has_cvt_fp4) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      cvt_f32_f16x2(to[2 * i], to[2 * i + 1], cvt_f16x2_e2m1x2(word >> 8 * i));
  } else {
    unsigned pairs[4];
    spread_e2m1(pairs, word);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      decode(to + 2 * i, bf16(), pairs[i]);
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
  cvt_f32_ue8m0x4(to, word);
}

// The way back, of a pair.
__device__ __forceinline__ unsigned round_pair(bf16, float low, float high) {
  return cvt_bf16x2_f32(low, high);
}
__device__ __forceinline__ unsigned round_pair(f16, float low, float high) {
  return cvt_f16x2_f32(low, high);
}

//===----------------------------------------------------------------------===//
// One 32-bit word of elements -> pairs of bf16 or f16, as the first tag says
//===----------------------------------------------------------------------===//

template <typename To, typename From>
__device__ __forceinline__ void decode_pairs(unsigned *to, To, From,
                                             unsigned word) {
  float values[32 / bits_of<From>::value];
  decode(values, From(), word);
#pragma unroll
  for (int i = 0; i < 16 / bits_of<From>::value; ++i)
    to[i] = round_pair(To(), values[2 * i], values[2 * i + 1]);
}
__device__ __forceinline__ void decode_pairs(unsigned *to, bf16, e4m3,
                                             unsigned word) {
  if constexpr (has_cvt_e4m3)
    cvt_bf16_e4m3x4(to, word);
  else
    decode_pairs<bf16, e4m3>(to, bf16(), e4m3(), word);
}
__device__ __forceinline__ void decode_pairs(unsigned *to, bf16, e2m1,
                                             unsigned word) {
  spread_e2m1(to, word);
}

//===----------------------------------------------------------------------===//
// convert<To>(value)
//===----------------------------------------------------------------------===//

template <typename To, typename From, int S, int V>
__device__ __forceinline__ Tile<To, S, V>
convert(const Tile<From, S, V> &from) {
  constexpr int per_word = 32 / bits_of<From>::value,
                words = Tile<From, S, V>::vector_words,
                to_words = Tile<To, S, V>::vector_words;
  if constexpr (bits_of<To>::value == bits_of<From>::value) {
    return from; // the same type
  } else if constexpr (bits_of<To>::value == 32) {
    Tile<To, S, V> to;
#pragma unroll
    for (int i = 0; i < S * words; ++i) {
      const int vector = i / words, first = i % words * per_word;
      float values[per_word];
      decode(values, From(), from.words[i]);
#pragma unroll
      for (int j = 0; j < per_word; ++j)
        if (first + j < V)
          to.words[vector * V + first + j] = values[j];
    }
    return to;
  } else if constexpr (bits_of<From>::value < 16) {
    Tile<To, S, V> to; // exact
#pragma unroll
    for (int i = 0; i < S * words; ++i) {
      const int vector = i / words, first = i % words * per_word / 2;
      unsigned pairs[per_word / 2];
      decode_pairs(pairs, To(), From(), from.words[i]);
#pragma unroll
      for (int j = 0; j < per_word / 2; ++j)
        if (first + j < to_words)
          to.words[vector * to_words + first + j] = pairs[j];
    }
    return to;
  } else {
    static_assert(bits_of<To>::value == 16 && bits_of<From>::value == 32,
                  "quantisers are functions of their own");
    Tile<To, S, V> to;
#pragma unroll
    for (int i = 0; i < S * to_words; ++i) {
      const int first = i / to_words * V + i % to_words * 2;
      const bool pair = i % to_words * 2 + 1 < V;
      to.words[i] = round_pair(To(), from.words[first],
                               pair ? from.words[first + 1] : 0.0f);
    }
    return to;
  }
}

//===----------------------------------------------------------------------===//
// dequantize<To>(values, scales)
//===----------------------------------------------------------------------===//

// One 32-bit word of elements times one scale. Except for its range, a bf16
// holds the exact product of two elements of at most 8 bits, so rounding once
// gives the same as rounding twice.
template <typename Scale, typename From>
__device__ __forceinline__ void scale_word(float *to, From, unsigned word,
                                           float scale) {
  decode(to, From(), word);
#pragma unroll
  for (int i = 0; i < 32 / bits_of<From>::value; ++i)
    to[i] = mul_f32(to[i], scale);
}
template <typename Scale, typename From>
__device__ __forceinline__ void scale_word(unsigned *to, From, unsigned word,
                                           float scale) {
  constexpr int per_word = 32 / bits_of<From>::value;
  if constexpr (bits_of<From>::value <= 8 && bits_of<Scale>::value <= 8) {
    const unsigned pair = cvt_bf16x2_f32(scale, scale);
    decode_pairs(to, bf16(), From(), word);
#pragma unroll
    for (int i = 0; i < per_word / 2; ++i)
      to[i] = mul_bf16x2(to[i], pair);
  } else {
    float values[per_word];
    scale_word<Scale>(values, From(), word, scale);
#pragma unroll
    for (int i = 0; i < per_word / 2; ++i)
      to[i] = cvt_bf16x2_f32(values[2 * i], values[2 * i + 1]);
  }
}

// Every value times the scale it shares with its neighbours, rounded to float
// and then to `To`, float or bf16. Each scale covers the same number of
// consecutive values of the lane.
template <typename To, typename From, int S, int V, typename Scale, int R,
          int G>
__device__ __forceinline__ Tile<To, S, V>
dequantize(const Tile<From, S, V> &from, const Tile<Scale, R, G> &scales) {
  static_assert(S * V % (R * G) == 0, "scales stand for equally many values");
  constexpr int per_scale = S * V / (R * G),
                per_word = 32 / bits_of<From>::value,
                to_words = per_word * bits_of<To>::value / 32;
  const Tile<float, R, G> scale = convert<float>(scales);
  if constexpr (V % per_word == 0 && per_scale % per_word == 0) {
    Tile<To, S, V> to;
#pragma unroll
    for (int i = 0; i < S * V / per_word; ++i)
      scale_word<Scale>(to.words + i * to_words, From(), from.words[i],
                        scale[i * per_word / per_scale]);
    return to;
  } else {
    Tile<float, S, V> to = convert<float>(from);
#pragma unroll
    for (int i = 0; i < S * V; ++i)
      to.words[i] = mul_f32(to.words[i], scale[i / per_scale]);
    return convert<To>(to);
  }
}

//===----------------------------------------------------------------------===//
// Scalars, by their bits
//===----------------------------------------------------------------------===//

template <typename To>
__device__ __forceinline__ To convert(float value) {
  return To{(unsigned short)round_pair(To(), value, 0.0f)};
}
template <typename To, typename From>
__device__ __forceinline__ To convert(From value) {
  float values[32 / bits_of<From>::value];
  decode(values, From(), value.bits);
  return values[0];
}

} // namespace dsv4
