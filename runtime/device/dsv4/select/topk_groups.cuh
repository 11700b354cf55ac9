//===- topk_groups.cuh - The best groups of a short row ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_warp.cuh"

namespace dsv4 {

// A row has `groups` groups of `group_size` neighbours. The selection is from
// the `kept_groups` groups whose `best_per_group` best elements have the
// largest sums.
template <typename Config>
struct WarpGroups {
  static constexpr bool keeps_all = false;
  enum : int {
    groups = Config::groups,
    size = Config::group_size,
    kept_groups = Config::kept_groups,
    by = Config::best_per_group
  };
  static_assert(Config::groups >= 1 && Config::groups <= 32, "a lane a group");

  // Whether neighbouring lanes, a power of two of them, have the elements of a
  // group, one vector each, and at most two elements count.
  template <typename Shape>
  __device__ __forceinline__ static constexpr bool is_split() {
    constexpr int lanes = size / Shape::vector;
    return size % Shape::vector == 0 && lanes <= 32 &&
           (lanes & (lanes - 1)) == 0 && by <= 2;
  }

  // The sum of the best elements of the group of a lane's vector, as a key; 0
  // if the group has no element.
  template <typename Shape>
  __device__ __forceinline__ static unsigned sum_split(const unsigned *keys) {
    unsigned best = 0, next = 0;
#pragma unroll
    for (int v = 0; v < Shape::vector; ++v) {
      next = keys[v] > best ? best : keys[v] > next ? keys[v] : next;
      best = keys[v] > best ? keys[v] : best;
    }
#pragma unroll
    for (int distance = 1; distance < size / Shape::vector; distance *= 2) {
      const unsigned a = exchange<32>(best, distance);
      const unsigned b = exchange<32>(next, distance);
      next = a > best ? (best > b ? best : b) : a > next ? a : next;
      best = a > best ? a : best;
    }
    if (by == 1 || next == 0)
      return best;
    return warp_ordered_key<Shape>(
        add_f32(warp_number(best), warp_number(next)));
  }

  // The same for group `group`, one group at a time.
  template <typename Shape>
  __device__ __forceinline__ static unsigned sum(const WarpRow<Shape> &row,
                                                 int first, int group) {
    unsigned left = 0;
#pragma unroll
    for (int i = 0; i < Shape::items; ++i)
      left |= (first + row.offset(i)) / size == group ? 1u << i : 0;
    float total = 0.0f;
    bool any = false;
#pragma unroll 1
    for (int n = 0; n < by; ++n) {
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
    return any ? warp_ordered_key<Shape>(total) : 0;
  }

  // Removes the elements of all other groups.
  template <typename Shape>
  __device__ __forceinline__ static void keep(WarpRow<Shape> &row, int first) {
    const int lane = threadIdx.x % 32;
    unsigned own = 0;
    if constexpr (is_split<Shape>()) {
      constexpr int lanes = size / Shape::vector;
#pragma unroll
      for (int c = 0; c < Shape::vectors; ++c) {
        const unsigned key = sum_split<Shape>(row.keys + c * Shape::vector);
        // The lanes that stand for the groups read from the first lanes of the
        // groups.
        const int group = lane - c * (32 / lanes);
        const unsigned found =
            __shfl_sync(0xFFFFFFFFu, key, group * lanes & 31);
        own = (unsigned)group < 32 / lanes ? found : own;
      }
    } else {
#pragma unroll 1
      for (int group = 0; group < groups; ++group) {
        const unsigned key = sum(row, first, group);
        own = lane == group ? key : own;
      }
    }
    int before = 0;
#pragma unroll 1
    for (int other = 0; other < groups; ++other) {
      const unsigned key = __shfl_sync(0xFFFFFFFFu, own, other);
      before += key > own || (key == own && other < lane);
    }
    const unsigned kept =
        __ballot_sync(0xFFFFFFFFu, lane < groups && before < kept_groups);
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      const int group = (first + row.offset(i)) / size;
      row.keys[i] = kept >> (group & 31) & 1 ? row.keys[i] : 0;
    }
  }
};

// Selects the k best of the kept groups, as topk_warp() selects from a row.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_groups(int length, Load load, Emit emit) {
  topk_lanes<WarpShape<Config>, WarpGroups<Config>>(length, 0, load, emit);
}

} // namespace dsv4
