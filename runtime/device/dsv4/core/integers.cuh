//===- integers.cuh - Between integers of 64, 32 and 16 bits ----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"

namespace dsv4 {

// An index as int: -1, which is none, for what that does not hold.
__device__ __forceinline__ int narrow(long long index) {
  return (int)index == index ? (int)index : -1;
}
// A length as int: the nearest, for what that does not hold.
__device__ __forceinline__ int saturate(long long length) {
  return (int)length == length ? (int)length : (int)(length >> 63) ^ 0x7FFFFFFF;
}

template <int S, int V>
__device__ __forceinline__ Tile<int, S, V>
narrow(const Tile<long long, S, V> &indices) {
  Tile<int, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] =
        narrow((long long)((unsigned long long)indices.words[2 * i + 1] << 32 |
                           indices.words[2 * i]));
  return to;
}
template <int S, int V>
__device__ __forceinline__ Tile<long long, S, V>
widen(const Tile<int, S, V> &indices) {
  Tile<long long, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i) {
    to.words[2 * i] = (unsigned)indices.words[i];
    to.words[2 * i + 1] = (unsigned)(indices.words[i] >> 31);
  }
  return to;
}

template <int S, int V>
__device__ __forceinline__ Tile<int, S, V>
widen(const Tile<short, S, V> &indices) {
  constexpr int words = Tile<short, S, V>::vector_words;
  Tile<int, S, V> to;
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i] =
        (short)(indices.words[i / V * words + i % V / 2] >> i % V % 2 * 16);
  return to;
}
// The low half of each index.
template <int S, int V>
__device__ __forceinline__ Tile<short, S, V>
halve(const Tile<int, S, V> &indices) {
  constexpr int words = Tile<short, S, V>::vector_words;
  Tile<short, S, V> to = {};
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    to.words[i / V * words + i % V / 2] |= ((unsigned)indices.words[i] & 0xFFFF)
                                           << i % V % 2 * 16;
  return to;
}

template <int S, int V>
__device__ __forceinline__ Tile<int, S, V> min(Tile<int, S, V> a,
                                               const Tile<int, S, V> &b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = ::min(a.words[i], b.words[i]);
  return a;
}

template <int S, int V>
__device__ __forceinline__ Tile<int, S, V> max(Tile<int, S, V> a,
                                               const Tile<int, S, V> &b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = ::max(a.words[i], b.words[i]);
  return a;
}

} // namespace dsv4
