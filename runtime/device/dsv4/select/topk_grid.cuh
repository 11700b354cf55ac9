//===- topk_grid.cuh - Rows shared by blocks of a grid ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row by 2 to 256 blocks without a cluster: for rows that a cluster would
// read too slowly, or where clusters do not exist. Each block puts its list
// into a workspace and counts itself. The one that completes the count joins
// the lists and emits the result. No block waits for another, so any number of
// them may be running.
//
// The workspace is zero before the first block starts, and when the last one
// ends. So a later launch may have other rows, or be of another kernel. A
// workspace that is not zero makes results wrong, but every block ends, and
// every index is in the row.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_rows.cuh"

namespace dsv4 {

// Of one row.
template <typename Config>
struct TopkWorkspace {
  enum : int { max_entries = Config::blocks_per_row * Config::k };

  // Entries with a slot in the list, and blocks that have finished.
  unsigned taken, through, unused[2];
  TopkEntry list[max_entries];
};

struct TopkGridShared {
  // Entries in the workspace: the first of this block, and the number of all.
  unsigned first, all;
  bool last;
};

template <typename Config>
struct TopkGrid {
  enum : int { parts = Config::blocks_per_row };
  static_assert(parts >= 2 && parts <= 256 && parts % 2 == 0,
                "an even number of blocks up to 256");
  static_assert(Config::read == TopkRead::sample, "all blocks have one bound");
  using Shape = TopkShape<Config>;
  static constexpr bool has_registers = false;
  typedef TopkWorkspace<Config> Workspace;
  static_assert(sizeof(Workspace) == 16ull + 8ull * parts * Shape::k,
                "what the compiler relies on");

  TopkGridShared &grid;
  Workspace &workspace;
  // Blocks with a part of the row; 1 if this block has all of it.
  int blocks;
  // Entries in the workspace: the range of this block, and the number of all.
  int first, own, all;
  int length, head;

  __device__ __forceinline__ TopkGrid(TopkGridShared &grid,
                                      Workspace &workspace, int blocks,
                                      int head)
      : grid(grid), workspace(workspace), blocks(blocks), first(0), own(0),
        all(0), length(0), head(head) {}

  __device__ __forceinline__ TopkRange range(int of) {
    length = of;
    const int part = blocks == 1 ? 0 : (int)(blockIdx.x % parts);
    return topk_range<Shape>(part, blocks, length);
  }

  __device__ __forceinline__ TopkNext next(int count, int wanted, bool any) {
    if (blocks == 1)
      return count < wanted && !any ? TopkNext::repeat : TopkNext::finish;
    // The workspace has room for `wanted` entries per block.
    if (count > wanted)
      return TopkNext::reduce;
    put(count);
    if (!finish_part())
      return TopkNext::leave;
    clear_own();
    if (all >= wanted || any)
      return TopkNext::merge;
    // The guess was too high for the whole row, which the others have left.
    // Drops their entries, because nothing reaches NaN.
    const float none = as_float(0x7FFFFFFFu);
    copy(0, {0, none, Shape::ties_high ? (int)topk_no_index : 0}, true, 0,
         end());
    blocks = 1;
    return TopkNext::repeat;
  }

  // Copies the list of this block to the workspace.
  __device__ __forceinline__ void put(int count) {
    if (threadIdx.x == 0)
      grid.first = atomicAdd(&workspace.taken, (unsigned)count);
    __syncthreads();
    first = grid.first <= (unsigned)(Workspace::max_entries - count)
                ? (int)grid.first
                : (int)Workspace::max_entries;
    own = first < Workspace::max_entries ? count : 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < own; i += Shape::threads)
      workspace.list[first + i] = topk_shared<Shape>().list[i];
    __syncthreads();
  }
  // Whether this block is the last one, which then sees all lists.
  __device__ __forceinline__ bool finish_part() {
    if (threadIdx.x == 0) {
      __threadfence();
      grid.last = atomicAdd(&workspace.through, 1u) == (unsigned)blocks - 1;
      if (grid.last) {
        __threadfence();
        grid.all = atomicExch(&workspace.taken, 0u);
        workspace.through = 0;
      }
    }
    __syncthreads();
    if (!grid.last)
      return false;
    all = grid.all < (unsigned)Workspace::max_entries
              ? (int)grid.all
              : (int)Workspace::max_entries;
    return true;
  }
  __device__ __forceinline__ void clear_own() {
#pragma unroll 1
    for (int i = threadIdx.x; i < own; i += Shape::threads)
      workspace.list[first + i] = 0;
  }

  __device__ __forceinline__ int begin() const { return 0; }
  __device__ __forceinline__ int end() const { return all - own; }
  // If this list was reduced, most entries of others come after it; and memory
  // that was not zero may hold anything.
  __device__ __forceinline__ bool chooses(bool) const { return true; }
  // Clears the memory that it has read.
  __device__ __forceinline__ void copy(int, const TopkBound &bound, bool,
                                       int from, int end) const {
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int warp = from + (int)threadIdx.x - lane; warp < end;
         warp += 4 * Shape::threads) {
      // Four loads in flight at a time.
      unsigned entries[4][2], slots[4];
      bool there[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = warp + lane + i * Shape::threads;
        const TopkEntry entry = at < end ? workspace.list[slot(at)] : 0;
        entries[i][0] = (unsigned)topk_index(entry);
        entries[i][1] = as_unsigned(topk_value(entry));
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = warp + lane + i * Shape::threads;
        there[i] =
            at < end && topk_is_there<Shape>(entries[i][0], length, head);
        if (at < end)
          workspace.list[slot(at)] = 0;
      }
      topk_keep<Shape>(entries, bound, there, slots);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        st_shared_8_if(there[i], topk_shared<Shape>().list, slots[i],
                       entries[i][0], entries[i][1]);
    }
  }
  // The slot of an entry of the other blocks.
  __device__ __forceinline__ int slot(int at) const {
    return at < first ? at : at + own;
  }

  __device__ __forceinline__ void release() {}
  __device__ __forceinline__ void close() {}
};

// Selects the k best of `length` elements, without the head, by the blocks of a
// row.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_grid(int length, int head, void *workspace,
                                          Load load, Emit emit) {
  typedef TopkGrid<Config> Grid;
  typedef TopkShape<Config> Shape;
  constexpr int parts = Config::blocks_per_row;
  // Short rows use only some of the blocks.
  const int rounds = (length + Shape::round - 1) / Shape::round;
  const int blocks = rounds < 1 ? 1 : rounds < parts ? rounds : parts;
  if ((int)(blockIdx.x % parts) >= blocks)
    return;
  if (length > head) {
    __shared__ TopkGridShared shared;
    typename Grid::Workspace *rows = (typename Grid::Workspace *)workspace;
    Grid group(shared, rows[blockIdx.x / parts], blocks, head);
    topk_row<Shape>(group, length, head, load, emit);
  } else {
    topk_emit<Shape>(0, true, head, emit);
  }
}

// Selects the k best of `length` elements by the blocks of a row.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_grid(int length, void *workspace,
                                          Load load, Emit emit) {
  topk_grid<Config>(length, 0, workspace, load, emit);
}

} // namespace dsv4
