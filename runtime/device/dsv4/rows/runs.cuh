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

} // namespace dsv4
