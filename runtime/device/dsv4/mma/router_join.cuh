//===- router_join.cuh - Partial sums of blocks to whole rows ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What adds the partial sums that the blocks of router_rows.cuh have stored.
// For CUDA only.
//
// In one kernel the rows are spread over the blocks. A block that has rows
// reads their partial sums until all of them are there. The workspace was zero,
// and a sum of zero is stored as negative zero, which sums never are: so a
// word that is not zero is there, and nobody waits for a fence or a counter.
// What was read becomes zero again.
//
// The others may not be running, so a block does not wait for long. Each block
// counts itself when it has stored its sums, and has its rows or leaves them.
// The one that completes the count takes all rows that were left.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_products.cuh"

#ifdef __CUDACC__

namespace dsv4 {

// The sum of `Count` vectors, as a tree; a power of two.
template <int Count, typename Vector>
__device__ __forceinline__ Vector add_neighbours(const Vector *vectors) {
  if constexpr (Count == 1)
    return vectors[0];
  else
    return add_neighbours<Count / 2>(vectors) +
           add_neighbours<Count / 2>(vectors + Count / 2);
}

// All earlier loads of the warp start before anything waits for one of them.
// Otherwise the compiler, which saves registers, would add the first ones
// first.
__device__ __forceinline__ void start_loads() { __threadfence_block(); }

// A partial sum as it is in a workspace of zeros, and back.
__device__ __forceinline__ unsigned mark_sum(unsigned bits) {
  return bits == 0 ? 0x80000000u : bits;
}
__device__ __forceinline__ void store_marked(float *to,
                                             const Vec<float, 4> &sums) {
  unsigned words[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    words[i] = mark_sum(as_unsigned(sums.words[i]));
  st_current_16(to, words);
}
__device__ __forceinline__ unsigned unmark_sum(unsigned bits) {
  return bits == 0x80000000u ? 0 : bits;
}

// The parts of neighbouring logits.
template <typename Config, typename Vector>
struct RouterParts {
  using Shape = RouterRowsShape<Config>;
  enum : int { all = Shape::groups * Shape::group_parts };
  Vector parts[all];

  __device__ __forceinline__ void load(bool condition, const float *from) {
#pragma unroll
    for (int i = 0; i < all; ++i) {
      if (i < Shape::parts)
        parts[i] =
            load_if<Vector>(condition, from + i * (int)Shape::row_experts);
      else
        parts[i] = fill<Vector>(0.0f);
    }
  }
  // Loads until all parts are there, up to `tries` times. Returns whether they
  // are.
  __device__ __forceinline__ bool load_marked(const float *from, int tries) {
#pragma unroll
    for (int i = 0; i < all; ++i)
      parts[i] = fill<Vector>(0.0f);
#pragma unroll 1
    for (; tries > 0; --tries) {
#pragma unroll
      for (int i = 0; i < Shape::parts; ++i)
        ld_current_if(parts[i].words, !is_there(parts[i]),
                      from + i * (int)Shape::row_experts);
      bool there = true;
#pragma unroll
      for (int i = 0; i < Shape::parts; ++i)
        there &= is_there(parts[i]);
      if (there)
        return true;
    }
    return false;
  }
  __device__ __forceinline__ Vector sum() const {
    Vector sum = add_neighbours<Shape::group_parts>(parts);
#pragma unroll
    for (int g = 1; g < Shape::groups; ++g)
      sum = sum +
            add_neighbours<Shape::group_parts>(parts + g * Shape::group_parts);
    return sum;
  }

private:
  __device__ __forceinline__ static bool is_there(const Vector &part) {
    bool there = true;
#pragma unroll
    for (int v = 0; v < (int)(sizeof(part.words) / 4); ++v)
      there &= as_unsigned(part.words[v]) != 0;
    return there;
  }
};

// The logits of a row, by the lanes of a warp.
template <typename Config>
__device__ __forceinline__ auto add_router_parts(const float *row) {
  using Shape = RouterRowsShape<Config>;
  constexpr int vector = Shape::vector, items = Shape::vectors * vector,
                all = Shape::groups * Shape::group_parts;
  // Vectors are loaded in halves if they have many parts. This number of items
  // is loaded at a time that their parts take half of the registers.
  constexpr int width = all > 16 && vector == 4 ? 2 : vector,
                most = 128 / (all * width) < 1 ? 1 : 128 / (all * width);
  const int lane = threadIdx.x % 32;
  Tile<float, Shape::vectors, vector> logits;
#pragma unroll
  for (int first = 0; first < items; first += most * width) {
    RouterParts<Config, Vec<float, width>> parts[most];
#pragma unroll
    for (int p = 0; p < most; ++p) {
      const int item = first + p * width;
      const int column = (item / vector * 32 + lane) * vector + item % vector;
      if (item < items)
        parts[p].load(column < Shape::row_experts, row + column);
    }
    start_loads();
#pragma unroll
    for (int p = 0; p < most; ++p) {
      const int item = first + p * width;
      if (item < items) {
        const auto sum = parts[p].sum();
#pragma unroll
        for (int v = 0; v < width; ++v)
          logits.words[item + v] = sum.words[v];
      }
    }
  }
  return logits;
}

// The rows of a row block in a workspace, by the threads of one of its blocks.
// Shared memory has logits at `data`.
template <typename Config>
class RouterJoin {
public:
  using Shape = RouterRowsShape<Config>;

  __device__ __forceinline__ RouterJoin(const RouterRowsBlock<Config> &block,
                                        unsigned *workspace, unsigned data)
      : block(block),
        state(workspace + (long long)block.row_block * Shape::workspace),
        partials((float *)state + Shape::state_words), data(data),
        warp(threadIdx.x / 32), lane(threadIdx.x % 32) {}

  __device__ __forceinline__ float *sums() const { return partials; }

  // After the block has stored its sums.
  template <typename Consume>
  __device__ __forceinline__ void run(Consume consume) {
    const int first = block.own_row(), count = block.own_count();
    __syncthreads();
    bool complete = true;
    if (count > 0) {
      pause_thread<Shape::pause>();
      complete = __syncthreads_and(add_rows(first, count));
      if (complete)
        clear_rows(first, count);
    }
    const int end = complete ? count : 0;
    unsigned long long left = 0;
    bool counted = false;
    // One loop, because what consumes is long.
#pragma unroll 1
    for (int row = warp;; row += Shape::warps) {
      int at = first + row, slot = row;
      if (row >= end) {
        // The last warp has the fewest rows of its own.
        if (warp < Shape::warps - 1)
          break;
        if (!counted)
          left = count_block(first, complete ? 0 : count);
        counted = true;
        if (left == 0)
          break;
        at = __ffsll((long long)left) - 1;
        left &= left - 1;
        slot = Shape::own_rows;
        add_left_row(at);
      }
      consume(block.first_row + at, load_row(slot));
    }
  }

private:
  // Adds the parts of neighbouring logits, and puts these into shared memory.
  // Returns whether all parts were there.
  template <int Width>
  __device__ __forceinline__ bool add_logits(unsigned to, const float *from,
                                             int tries) {
    RouterParts<Config, Vec<float, Width>> parts;
    const bool there = parts.load_marked(from, tries);
    const auto sum = parts.sum();
#pragma unroll
    for (int v = 0; v < Width; ++v)
      st_shared_4(to + 4 * v, unmark_sum(as_unsigned(sum.words[v])));
    return there;
  }
  __device__ __forceinline__ bool add_rows(int first, int count) {
    constexpr int width = Shape::join_width,
                  vectors = Shape::row_experts / width;
    bool there = true;
#pragma unroll 1
    for (int i = threadIdx.x; i < count * vectors; i += Shape::threads)
      there &= add_logits<width>(
          data + 4 * width * i,
          partials + (first + i / vectors) * Shape::row_partials +
              i % vectors * width,
          there ? Config::tries : 1);
    return there;
  }
  // A row that was left, by one warp.
  __device__ __forceinline__ void add_left_row(int row) {
    float *const from = partials + row * Shape::row_partials;
    // The lanes have read the one before.
    __syncwarp();
#pragma unroll 1
    for (int i = lane; i < Shape::row_experts; i += 32)
      add_logits<1>(data + (Shape::own_rows * Shape::row_experts + i) * 4,
                    from + i, 1);
    __syncwarp();
#pragma unroll 1
    for (int i = lane * 4; i < Shape::row_partials; i += 32 * 4)
      store(from + i, fill<Vec<float, 4>>(0.0f));
  }
  __device__ __forceinline__ auto load_row(int slot) const {
    Tile<float, Shape::vectors, Shape::vector> logits = {};
#pragma unroll
    for (int i = 0; i < Shape::vectors * Shape::vector; ++i) {
      const int column =
          (i / Shape::vector * 32 + lane) * Shape::vector + i % Shape::vector;
      if (column < Shape::row_experts)
        logits.words[i] = as_float(
            ld_shared_4(data + (slot * Shape::row_experts + column) * 4));
    }
    return logits;
  }
  // Not by the last warp, whose atomic would wait for the stores, nor by those
  // that have rows, if there are others.
  __device__ __forceinline__ void clear_rows(int first, int count) {
    float *const at = partials + first * Shape::row_partials;
    constexpr int begin =
                      Shape::own_rows < Shape::warps - 1 ? Shape::own_rows : 0,
                  end = Shape::warps > 1 ? Shape::warps - 1 : 1;
    if (warp >= begin && warp < end)
      for (int i = (int)threadIdx.x - 32 * begin;
           i < count * (Shape::row_partials / 4); i += 32 * (end - begin))
        store(at + i * 4, fill<Vec<float, 4>>(0.0f));
  }

  // Counts this block, by one warp, and says that it leaves `count` rows. The
  // last block gets the rows that all have left, one bit each: everything is
  // stored then.
  __device__ __forceinline__ unsigned long long count_block(int first,
                                                            int count) {
    unsigned long long rows = 0;
    if (lane == 0) {
#pragma unroll 1
      for (int row = first; row < first + count; ++row)
        atomicOr(state + 1 + row / 32, 1u << row % 32);
      constexpr unsigned leaves = 1u << 16;
      const unsigned own = count > 0 ? 1 + leaves : 1,
                     all = add_current(state, own) + own;
      if (all % leaves == Shape::blocks) {
        *state = 0;
        if (all >= leaves)
          rows = atomicExch(state + 1, 0u) |
                 (unsigned long long)atomicExch(state + 2, 0u) << 32;
      }
    }
    return __shfl_sync(0xFFFFFFFFu, rows, 0);
  }

  const RouterRowsBlock<Config> &block;
  // The number of blocks that have stored their sums, and of those that have
  // left their rows, in one word; then a bit for each row that was left.
  unsigned *state;
  float *partials;
  unsigned data;
  int warp, lane;
};

} // namespace dsv4

#endif // __CUDACC__
