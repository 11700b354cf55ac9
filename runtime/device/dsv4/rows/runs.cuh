//===- runs.cuh - Values of a row in runs -----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scales of a row that lie apart in memory: in columns, or in the blocks that
// matrix products take.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"

namespace dsv4 {

// Stores the low bytes of a word as element `at` of `to`.
template <int Bytes>
__device__ __forceinline__ void store_value(void *to, long long at,
                                            unsigned word) {
  if constexpr (Bytes == 1)
    st_1((char *)to + at, word);
  else
    st_4((char *)to + at * 4, &word);
}

// The values of a row: value i goes to element offset + (i / Run) * stride +
// i % Run. Vector s of a thread has those from first + s * step on. Whoever has
// the last of Count values stores Pad zeros after it.
template <int Run, int Count, int Pad, typename T, int S, int V>
__device__ __forceinline__ void
store_runs(void *to, long long offset, long long stride,
           const Tile<T, S, V> &values, int first, int step = 0) {
  constexpr int bits = bits_of<T>::value, per_word = 32 / bits;
  static_assert(bits == 8 || bits == 32, "whole bytes or words");
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const int value = first + s * step + v;
      const unsigned word =
          bits_in(values.words[s * Tile<T, S, V>::vector_words + v / per_word]);
      store_value<bits / 8>(
          to, offset + (long long)(value / Run) * stride + value % Run,
          word >> v % per_word * bits);
      if (Pad > 0 && value == Count - 1)
#pragma unroll
        for (int i = Count; i < Count + Pad; ++i)
          store_value<bits / 8>(to, offset + (i / Run) * stride + i % Run, 0);
    }
}

template <int Run, typename T, int S, int V>
__device__ __forceinline__ void
load_runs_into(Tile<T, S, V> &to, bool condition, const void *from,
               long long offset, long long stride, int first, int step) {
  constexpr int bits = bits_of<T>::value, per_word = 32 / bits;
  static_assert(bits == 8 || bits == 32, "whole bytes or words");
#pragma unroll
  for (int s = 0; s < S; ++s)
#pragma unroll
    for (int v = 0; v < V; ++v) {
      const int value = first + s * step + v;
      const long long at =
          offset + (long long)(value / Run) * stride + value % Run;
      auto &word = to.words[s * Tile<T, S, V>::vector_words + v / per_word];
      if constexpr (bits == 8) {
        const unsigned byte =
            ld_1(condition, (const char *)from + at, evict_normal());
        word = (v % per_word ? word : 0) | byte << v % per_word * 8;
      } else {
        unsigned loaded;
        ld_4(&loaded, condition, (const char *)from + at * 4, evict_normal());
        assign(word, loaded);
      }
    }
}

// The values that store_runs<Run> stores. If the condition is false: zero bits,
// and no access to memory.
template <typename Type, int Run>
__device__ __forceinline__ Type load_runs_if(bool condition, const void *from,
                                             long long offset, long long stride,
                                             int first, int step = 0) {
  Type to;
  load_runs_into<Run>(to, condition, from, offset, stride, first, step);
  return to;
}
template <typename Type, int Run>
__device__ __forceinline__ Type load_runs(const void *from, long long offset,
                                          long long stride, int first,
                                          int step = 0) {
  return load_runs_if<Type, Run>(true, from, offset, stride, first, step);
}

} // namespace dsv4
