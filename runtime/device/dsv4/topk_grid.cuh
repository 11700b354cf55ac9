//===- topk_grid.cuh - Rows shared by blocks of the grid -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row by many blocks, which need not run at the same time: each leaves its list
// in the workspace, and the last one to do so collects them and has the output.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "topk_rows.cuh"

namespace dsv4 {

// The bytes of workspace for `rows` rows by `parts` blocks each. They are zero
// before the first launch; every launch leaves them ready for the next.
__device__ constexpr long long topk_workspace_bytes(long long rows, int parts,
                                                    int k) {
  // A ticket, the lengths of the lists, the lists.
  return rows * (16 + (parts + 3LL) / 4 * 16 + 8LL * parts * k);
}

enum : int { topk_most_parts = 256 };

struct TopkGridShared {
  bool last;
  // Where the lists begin if they are put one behind the other.
  unsigned offsets[topk_most_parts + 1];
};

// Where the list of each of `parts` blocks begins if they are put one behind the
// other, to offsets[0 .. parts], from how long each is.
template <typename Count>
__device__ __forceinline__ void topk_offsets(unsigned *offsets, int parts,
                                             Count count) {
  if (threadIdx.x < 32) {
    const int lane = threadIdx.x;
    unsigned before = 0;
#pragma unroll 1
    for (int first = 0; first < parts; first += 32) {
      const unsigned own = first + lane < parts ? count(first + lane) : 0;
      const unsigned upto = before + topk_upto(own);
      if (first + lane < parts)
        offsets[first + lane + 1] = upto;
      before = __shfl_sync(0xFFFFFFFFu, upto, 31);
    }
    if (lane == 0)
      offsets[0] = 0;
  }
  __syncthreads();
}

// The part whose list has the entry `at` of all of them.
template <int MostParts>
__device__ __forceinline__ int topk_part(const unsigned *offsets, int parts,
                                         int at) {
  int part = 0;
#pragma unroll 1
  for (int step = MostParts / 2; step > 0; step /= 2)
    if (part + step < parts && (int)offsets[part + step] <= at)
      part += step;
  return part;
}

template <typename Shape> struct TopkGrid {
  TopkGridShared &grid;
  unsigned *ticket, *counts;
  TopkEntry *lists;
  int part, parts;
  // Whether this block does the row by itself.
  bool alone;

  __device__ __forceinline__ TopkGrid(TopkGridShared &grid, void *workspace,
                                      int part, int parts)
      : grid(grid), ticket((unsigned *)workspace), counts(ticket + 4),
        lists((TopkEntry *)(counts + (parts + 3) / 4 * 4)), part(part),
        parts(parts), alone(false) {}

  __device__ __forceinline__ TopkRange range(int length) const {
    return alone ? TopkRange{0, length}
                 : topk_range<Shape>(part, part + 1, parts, length);
  }

  __device__ __forceinline__ TopkNext next(int count, int wanted, bool any) {
    if (alone)
      return TopkNext::finish;
    if (count > Shape::k)
      return TopkNext::reduce;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += Shape::threads)
      lists[part * Shape::k + i] = topk_shared<Shape>().list[i];
    if (threadIdx.x == 0)
      counts[part] = (unsigned)count;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
      grid.last = atomicAdd(ticket, 1u) == (unsigned)parts - 1;
      if (grid.last)
        *ticket = 0;
    }
    __syncthreads();
    if (!grid.last)
      return TopkNext::leave;
    __threadfence();
    topk_offsets(grid.offsets, parts, [&](int other) {
      return other == part ? 0 : ld_grid_4(&counts[other]);
    });
    // Who has left something out has all that are wanted.
    alone = count + end() < wanted && !any;
    return alone ? TopkNext::repeat : TopkNext::merge;
  }
  __device__ __forceinline__ int begin() const { return 0; }
  __device__ __forceinline__ int end() const { return grid.offsets[parts]; }
  __device__ __forceinline__ void copy(TopkEntry *to, int from, int end) const {
#pragma unroll 1
    for (int at = from + threadIdx.x; at < end; at += Shape::threads) {
      const int other = topk_part<topk_most_parts>(grid.offsets, parts, at);
      to[at - from] =
          ld_grid_8(&lists[other * Shape::k + at - (int)grid.offsets[other]]);
    }
  }
  __device__ __forceinline__ void release() {}
  __device__ __forceinline__ void close() {}
};

// The K best of `length` elements of row `row`, by `parts` blocks of the grid, at
// most 256, of which this one is number `part`.
template <typename Shape, typename Load, typename Emit>
__device__ __forceinline__ void topk_grid(int row, int part, int parts,
                                          int length, Load load, Emit emit,
                                          void *workspace) {
  __shared__ TopkGridShared grid;
  TopkGrid<Shape> group(
      grid, (char *)workspace + topk_workspace_bytes(row, parts, Shape::k),
      part, parts);
  if (length > 0)
    topk_row<Shape>(group, length, load, emit);
  else if (part == 0)
    topk_emit<Shape>(0, emit);
}

} // namespace dsv4
