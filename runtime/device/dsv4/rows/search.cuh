//===- search.cuh - The request of a row ------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"
#include "core/memory.cuh"
#include "core/primitives.cuh"

namespace dsv4 {

// The last of `count` ascending elements that is at most `value`, or the first.
// Every thread searches by itself. Whatever the elements are, only the first
// `count` are read.
template <typename Integer>
__device__ __forceinline__ int search(const Integer *elements, int value,
                                      int count) {
  int found = 0;
  // It is one of `left` elements from `found` on.
#pragma unroll 1
  for (int left = count; left > 1;) {
    const int half = left / 2;
    if (load<Integer>(elements + found + half) <= value)
      found += half;
    left -= half;
  }
  return found;
}

// The same by the lanes of a row together: one load by each of them replaces
// log2(Lanes) loads that wait for each other.
template <int Lanes, typename Integer>
__device__ __forceinline__ int search(const Integer *elements, int value,
                                      int count) {
  // The halvings form a tree. The first one is node 1; after node n comes node
  // 2 n + 1 if its element is at most `value`, else node 2 n. Each lane loads
  // the element of the node of its number.
  constexpr int levels = ceil_log2(Lanes);
  const int node = threadIdx.x % Lanes;
  const int level = 31 - __clz(node | 1);
  int found = 0;
#pragma unroll 1
  for (int left = count; left > 1;) {
    int halves[levels], at = found;
#pragma unroll
    for (int i = 0; i < levels; ++i) {
      halves[i] = left / 2;
      left -= halves[i];
      // The nodes before this lane's are the leading bits of its number.
      if (i == level || (i < level && node >> (level - 1 - i) & 1))
        at += halves[i];
    }
    const bool passes = node > 0 && load<Integer>(elements + at) <= value;
    const unsigned nodes = __ballot_sync(lane_group<Lanes>(), passes) >>
                           (threadIdx.x % 32 / Lanes * Lanes);
    int next = 1;
#pragma unroll
    for (int i = 0; i < levels; ++i) {
      const int bit = nodes >> next & 1;
      found += bit ? halves[i] : 0;
      next = 2 * next + bit;
    }
  }
  return found;
}

} // namespace dsv4
