//===- search.cuh - The request of a row ------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"

namespace dsv4 {

// The last of `count` ascending elements that is at most `value`, or the first.
// Every thread searches by itself: rows of a block are neighbours, which read
// mostly the same elements, from the L1 cache. Whatever the elements are, only
// the first `count` are read.
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

} // namespace dsv4
