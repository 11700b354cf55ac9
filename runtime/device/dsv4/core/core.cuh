//===- core.cuh - Elements, vectors and tiles in registers ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of a tensor lives in the registers of the lanes that share it: each
// lane holds one `Tile`, its vectors in the order of the steps. A `Vec` is the
// one-dimensional case. Arithmetic is elementwise, in fp32, one rounding per
// operation.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/accesses.cuh"

namespace dsv4 {

// The binary logarithm, rounded up.
__device__ constexpr int ceil_log2(int value) {
  return value <= 1 ? 0 : 1 + ceil_log2((value + 1) / 2);
}

//===----------------------------------------------------------------------===//
// Element types: bits in memory, no arithmetic of their own
//===----------------------------------------------------------------------===//

// Sign, 4 exponent bits (bias 7), 3 mantissa bits; 0x7F is NaN.
struct e4m3 {
  unsigned char bits;
};
// 2^(bits - 127); 0xFF is NaN.
struct ue8m0 {
  unsigned char bits;
};
// The upper half of a float.
struct bf16 {
  unsigned short bits;
};
// Sign, 5 exponent bits (bias 15), 10 mantissa bits.
struct f16 {
  unsigned short bits;
};
// A nibble: sign, 2 exponent bits (bias 1), 1 mantissa bit.
struct e2m1 {};
// A nibble: two's complement.
struct i4 {};

// Constants are enumerators, because variables would become part of every
// module.
template <typename T>
struct bits_of {
  enum : int { value = 8 * sizeof(T) };
};
template <>
struct bits_of<e2m1> {
  enum : int { value = 4 };
};
template <>
struct bits_of<i4> {
  enum : int { value = 4 };
};

// The register type of a 32-bit word of elements: elements of less than 32 bits
// are packed into it, the first one lowest. Those of 64 bits have two, the low
// one first.
template <typename T>
struct WordOf {
  using type = unsigned;
};
template <>
struct WordOf<float> {
  using type = float;
};
template <>
struct WordOf<int> {
  using type = int;
};

//===----------------------------------------------------------------------===//
// Tile and Vec
//===----------------------------------------------------------------------===//

// S vectors of V consecutive elements, one vector per step. A vector starts at
// a new word.
template <typename T, int S, int V>
struct Tile {
  enum : int {
    steps = S,
    vector = V,
    vector_bytes = (V * bits_of<T>::value + 7) / 8,
    vector_words = (V * bits_of<T>::value + 31) / 32
  };

  using Vector = Tile<T, 1, V>;

  typename WordOf<T>::type words[S * vector_words];

  // Element i of all S * V, for elements of 32 bits.
  __device__ __forceinline__ T &operator[](int i) { return words[i]; }
  __device__ __forceinline__ const T &operator[](int i) const {
    return words[i];
  }
};

// N consecutive elements.
template <typename T, int N>
using Vec = Tile<T, 1, N>;

// A tile of one number, for elements of 32 bits.
template <typename To, typename Number>
__device__ __forceinline__ To fill(Number number) {
  To to;
#pragma unroll
  for (int i = 0; i < (int)(sizeof(to.words) / sizeof(to.words[0])); ++i)
    to.words[i] = number;
  return to;
}

// Elements Begin .. Begin + Count - 1.
template <int Begin, int Count, typename T, int N>
__device__ __forceinline__ Vec<T, Count> slice(const Tile<T, 1, N> &from) {
  static_assert(Begin >= 0 && Count > 0 && Begin + Count <= N,
                "slice out of range");
  constexpr int word = Begin * bits_of<T>::value / 32,
                shift = Begin * bits_of<T>::value % 32;
  Vec<T, Count> to;
#pragma unroll
  for (int i = 0; i < Vec<T, Count>::vector_words; ++i) {
    if constexpr (shift == 0) {
      to.words[i] = from.words[word + i];
    } else {
      to.words[i] = from.words[word + i] >> shift;
      if (word + i + 1 < Vec<T, N>::vector_words)
        to.words[i] |= from.words[word + i + 1] << (32 - shift);
    }
  }
  return to;
}

// N values, each repeated over S / N consecutive vectors of V elements.
template <int S, int V, int N>
__device__ __forceinline__ Tile<float, S, V>
repeat(const Tile<float, 1, N> &from) {
  static_assert(S % N == 0, "a value covers whole vectors");
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = from.words[i / (S / N * V)];
  return to;
}

// G values per vector, each repeated over the V / G elements of its group.
template <int V, int S, int G>
__device__ __forceinline__ Tile<float, S, V>
expand(const Tile<float, S, G> &from) {
  static_assert(V % G == 0, "a vector holds whole groups");
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = from.words[i / (V / G)];
  return to;
}

// For records whose even elements are in the high nibbles.
template <typename T, int S, int V>
__device__ __forceinline__ Tile<T, S, V> swap_nibbles(Tile<T, S, V> value) {
  static_assert(bits_of<T>::value == 4, "elements of 4 bits");
#pragma unroll
  for (int i = 0; i < S * Tile<T, S, V>::vector_words; ++i)
    value.words[i] = (value.words[i] & 0x0F0F0F0Fu) << 4 |
                     (value.words[i] >> 4 & 0x0F0F0F0Fu);
  return value;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

__device__ __forceinline__ float min(float a, float b) { return min_f32(a, b); }
__device__ __forceinline__ float max(float a, float b) { return max_f32(a, b); }

template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
operator+(const Tile<float, S, V> &a, const Tile<float, S, V> &b) {
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = add_f32(a.words[i], b.words[i]);
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
operator-(const Tile<float, S, V> &a, const Tile<float, S, V> &b) {
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = sub_f32(a.words[i], b.words[i]);
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
operator*(const Tile<float, S, V> &a, const Tile<float, S, V> &b) {
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = mul_f32(a.words[i], b.words[i]);
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
operator/(const Tile<float, S, V> &a, const Tile<float, S, V> &b) {
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = div_f32(a.words[i], b.words[i]);
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> min(const Tile<float, S, V> &a,
                                                 const Tile<float, S, V> &b) {
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = min_f32(a.words[i], b.words[i]);
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> max(const Tile<float, S, V> &a,
                                                 const Tile<float, S, V> &b) {
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = max_f32(a.words[i], b.words[i]);
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
operator*(const Tile<float, S, V> &a, float b) {
  Tile<float, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] = mul_f32(a.words[i], b);
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
operator*(float a, const Tile<float, S, V> &b) {
  return b * a;
}

} // namespace dsv4
