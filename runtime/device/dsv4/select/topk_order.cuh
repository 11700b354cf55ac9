//===- topk_order.cuh - What all selections share ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"

namespace dsv4 {

enum class TopkOrder { unordered, sorted, index_ascending };

// Beyond every index of a row.
enum : int { topk_no_index = 0x7FFFFFFF };

// The position of an index in the order of equal elements, of indices below
// `count`.
template <bool TiesHigh>
__device__ __forceinline__ int topk_position(int index, int count) {
  return TiesHigh ? count - 1 - index : index;
}

} // namespace dsv4
