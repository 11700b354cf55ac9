//===- topk_groups.cuh - The best groups of a short row ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "topk_warp.cuh"

namespace dsv4 {

// Of `Groups` runs of `Size` neighbours those `Kept` are chosen from whose `By`
// best elements have the largest sums.
template <int Groups, int Size, int Kept, int By> struct WarpGroups {
  static_assert(Groups <= 32, "a lane a group");

  // The sum of the best elements of a group, as a key; 0 where it has none.
  template <typename Shape>
  __device__ __forceinline__ static unsigned sum(const WarpRow<Shape> &row,
                                                 int first, int group) {
    unsigned left = 0;
#pragma unroll
    for (int i = 0; i < Shape::items; ++i)
      left |= (first + row.offset(i)) / Size == group ? 1u << i : 0;
    float total = 0.0f;
    bool any = false;
#pragma unroll 1
    for (int n = 0; n < By; ++n) {
      unsigned own = 0, which = 0;
#pragma unroll
      for (int i = 0; i < Shape::items; ++i) {
        const bool better = (left >> i & 1) && row.keys[i] > own;
        own = better ? row.keys[i] : own;
        which = better ? 1u << i : which;
      }
      const unsigned best = __reduce_max_sync(0xFFFFFFFFu, own);
      if (best == 0)
        break;
      const unsigned holders = __ballot_sync(0xFFFFFFFFu, own == best);
      if ((int)(threadIdx.x % 32) == 31 - __clz((int)holders))
        left &= ~which;
      const float value = warp_number(best);
      total = any ? add_f32(total, value) : value;
      any = true;
    }
    return any ? warp_key(total) : 0;
  }

  // Elements of the others are no longer there.
  template <typename Shape>
  __device__ __forceinline__ static void keep(WarpRow<Shape> &row, int first) {
    const int lane = threadIdx.x % 32;
    unsigned own = 0;
#pragma unroll 1
    for (int group = 0; group < Groups; ++group) {
      const unsigned key = sum(row, first, group);
      own = lane == group ? key : own;
    }
    int before = 0;
#pragma unroll 1
    for (int other = 0; other < Groups; ++other) {
      const unsigned key = __shfl_sync(0xFFFFFFFFu, own, other);
      before += key > own || (key == own && other < lane);
    }
    const unsigned kept =
        __ballot_sync(0xFFFFFFFFu, lane < Groups && before < Kept);
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      const int group = (first + row.offset(i)) / Size;
      row.keys[i] = kept >> (group & 31) & 1 ? row.keys[i] : 0;
    }
  }
};

} // namespace dsv4
