//===- find_range.cuh - Which range a number is in --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"

namespace dsv4 {

// The last of `count` ranges that begins at `at` or before it, else 0. Starts in
// no order lead to some range.
template <typename Integer>
__device__ __forceinline__ int find_range(int at, const Integer *starts,
                                          int count) {
  int first = 0, last = count - 1;
  while (first < last) {
    const int middle = first + (last - first + 1) / 2;
    if (load<Integer>(starts + middle) <= at)
      first = middle;
    else
      last = middle - 1;
  }
  return first;
}

} // namespace dsv4
