//===- router_rows.cuh - Logits of few rows, by all blocks ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// router_rows() of router_logits.cuh: a block has some experts and a part of
// their elements. It stores its sums to the workspace and counts itself. The
// cluster that completes the count adds the parts, and consumes whole rows. In
// router_parts() and router_join() another kernel does that. For CUDA only; the
// host has a twin of router_logits.cuh.
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
  // What was loaded becomes zero in memory.
  __device__ __forceinline__ static void clear(float *at) {
#pragma unroll
    for (int i = 0; i < Shape::parts; ++i)
      store(at + i * (int)Shape::row_experts, fill<Vector>(0.0f));
  }
  __device__ __forceinline__ Vector sum() const {
    Vector sum = add_neighbours<Shape::group_parts>(parts);
#pragma unroll
    for (int g = 1; g < Shape::groups; ++g)
      sum = sum +
            add_neighbours<Shape::group_parts>(parts + g * Shape::group_parts);
    return sum;
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

// Consumes `count` rows of a row block from its row `first` on, by `Threads`
// threads, with shared memory for their logits at `data`.
template <typename Config, int Threads, typename Consume>
__device__ __forceinline__ void join_router_rows(Consume consume, unsigned data,
                                                 float *partials, int first,
                                                 int count, int first_row) {
  using Shape = RouterRowsShape<Config>;
  constexpr int all = Shape::groups * Shape::group_parts;
  // The wider, the fewer loads. But the parts of a vector are in registers, of
  // which other blocks of the multiprocessor need half.
  constexpr int width = all <= 16 ? 4 : all <= 32 ? 2 : 1;
  constexpr int vectors = Shape::row_experts / width;
#pragma unroll 1
  for (int round = 0; round < count * vectors; round += Threads) {
    const int i = round + (int)threadIdx.x;
    const bool there = i < count * vectors;
    float *const from = partials + (first + i / vectors) * Shape::row_partials +
                        i % vectors * width;
    RouterParts<Config, Vec<float, width>> parts;
    parts.load(there, from);
    // As start_loads(), whose fence would wait for earlier stores here.
    __syncthreads();
    const auto sum = parts.sum();
    if constexpr (Config::one_workspace)
      if (there)
        parts.clear(from);
    if (there)
#pragma unroll
      for (int v = 0; v < width; ++v)
        st_shared_4(data + 4 * (width * i + v), as_unsigned(sum.words[v]));
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int row = threadIdx.x / 32; row < count; row += Threads / 32) {
    Tile<float, Shape::vectors, Shape::vector> logits = {};
#pragma unroll
    for (int i = 0; i < Shape::vectors * Shape::vector; ++i) {
      const int column =
          (i / Shape::vector * 32 + lane) * Shape::vector + i % Shape::vector;
      if (column < Shape::row_experts)
        logits.words[i] = as_float(
            ld_shared_4(data + (row * Shape::row_experts + column) * 4));
    }
    consume(first_row + first + row, logits);
  }
}

template <typename Config>
class RouterRows {
public:
  using Shape = RouterRowsShape<Config>;
  using Operands = RouterOperands<Config>;

  __device__ __forceinline__ RouterRows(char *memory, const Operands &of)
      : of(of), block(of.rows), head(shared_address(memory)),
        data(head + Shape::head_bytes), flag((unsigned *)memory + 2),
        warp(threadIdx.x / 32), lane(threadIdx.x % 32) {}

  // Stores the sums of this block.
  template <typename Ready>
  __device__ __forceinline__ void store_part(float *partials, Ready ready) {
    Unit units[slice_units][2];
    load_weights(units);
    if constexpr (Config::multicast)
      begin_copies();
    ready();
    load_hidden();
    float sums[products][4];
    multiply(sums, units);
    add_slices(sums,
               partials + (long long)block.row_block * Shape::partial_stride);
  }
  template <typename Ready, typename Consume>
  __device__ __forceinline__ void run(unsigned *counters, float *partials,
                                      Ready ready, Consume consume) {
    store_part(partials, ready);
    if (is_last(counters + (long long)block.row_block * Shape::counter_stride))
      join_router_rows<Config, Shape::threads>(
          consume, data,
          partials + (long long)block.row_block * Shape::partial_stride,
          block.own_row(), block.own_count(), block.first_row);
  }

private:
  enum : int {
    slice_units = router_slice / 32,
    products = Shape::rows / 8,
    quad_experts = Shape::block_experts / 4
  };
  using Unit = RouterUnit<typename Config::Weight>;

  __device__ __forceinline__ int slice() const {
    return warp / Shape::expert_warps;
  }
  // The first of the 16 experts of this warp, among those of the block.
  __device__ __forceinline__ int warp_expert() const {
    return warp % Shape::expert_warps * 16;
  }

  __device__ __forceinline__ void load_weights(Unit (&to)[slice_units][2]) {
    const int first = block.first_element + slice() * router_slice;
#pragma unroll
    for (int u = 0; u < slice_units; ++u)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int expert =
            block.first_expert + warp_expert() + i * 8 + lane / 4;
        const int element = first + u * 32 + lane % 4 * 8;
        const char *from =
            (const char *)(of.weights + expert * of.weight_stride + element);
        const int left = expert < Shape::experts
                             ? (Shape::depth - element) * Shape::weight_size
                             : 0;
#pragma unroll
        for (int w = 0; w < Unit::words; w += 4)
          load_router_unit<Shape::weight_access_bytes>(
              to[u][i].word + w, left - 4 * w, from + 4 * w);
      }
  }

  // Before the blocks of a cluster may write to each other.
  __device__ __forceinline__ void begin_copies() {
    if (threadIdx.x == 0) {
      init_barrier(head, 1);
      fence_barriers();
      arrive_expecting(head, block.count * copied_bytes());
    }
    // A fence of all memory would wait for the weights.
    cluster_arrive_relaxed<Shape::cluster>();
  }
  // Of a row.
  __device__ __forceinline__ int copied_bytes() const {
    return ::min(Shape::depth - block.first_element, (int)Shape::block_depth) *
           2;
  }
  __device__ __forceinline__ const bf16 *hidden_row(int row) const {
    return of.hidden + (block.first_row + row) * of.hidden_stride +
           block.first_element;
  }

  __device__ __forceinline__ void load_hidden() {
    constexpr int units = Shape::block_depth / 8;
    if constexpr (Config::multicast) {
      cluster_wait<Shape::cluster>();
      const int row = cluster_rank<Shape::cluster>() * Shape::own_rows + lane;
      if (warp == 0 && lane < Shape::own_rows && row < block.count)
        copy_bulk_to_cluster(data + row * Shape::hidden_pitch, hidden_row(row),
                             copied_bytes(), head, Shape::cluster);
      if constexpr (Shape::depth % Shape::block_depth != 0)
        for (int i = threadIdx.x; i < Shape::rows * units; i += Shape::threads)
          if (i % units * 16 >= copied_bytes())
            copy_router_unit<16>(data + i / units * Shape::hidden_pitch +
                                     i % units * 16,
                                 0, nullptr);
      wait_for_phase(head, 0);
    } else {
#pragma unroll 8
      for (int i = threadIdx.x; i < Shape::rows * units; i += Shape::threads) {
        const int row = i / units, element = i % units * 8;
        const int left = Shape::depth - block.first_element - element;
        copy_router_unit<Shape::hidden_access_bytes>(
            data + row * Shape::hidden_pitch + element * 2,
            row < block.count ? left * 2 : 0,
            (const char *)(hidden_row(row) + element));
      }
    }
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
  }

  // Of rows that are not there, too: what their sums are does not matter.
  __device__ __forceinline__ void
  multiply(float (&sums)[products][4], const Unit (&units)[slice_units][2]) {
#pragma unroll
    for (int n = 0; n < products; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[n][i] = 0;
    const unsigned from = data + lane / 4 * Shape::hidden_pitch +
                          slice() * router_slice * 2 + lane % 4 * 16;
#pragma unroll
    for (int u = 0; u < slice_units; ++u) {
      const RouterFragments<typename Config::Weight> experts(units[u][0],
                                                             units[u][1]);
      unsigned b[products][4];
#pragma unroll
      for (int n = 0; n < products; ++n)
        ld_shared_16(b[n], from + n * 8 * Shape::hidden_pitch + u * 64);
#pragma unroll
      for (int n = 0; n < products; ++n)
        experts.multiply(sums[n], b[n]);
    }
  }

  // Adds the slices of the block, and stores the sums.
  __device__ __forceinline__ void add_slices(const float (&sums)[products][4],
                                             float *partials) {
    __syncthreads();
    constexpr int slice_bytes = Shape::rows * Shape::sum_pitch;
    const unsigned to = data + slice() * slice_bytes +
                        lane % 4 * 2 * Shape::sum_pitch +
                        (warp_expert() + lane / 4) * 4;
#pragma unroll
    for (int n = 0; n < products; ++n)
      if (n * 8 < block.count)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          st_shared_4(to + (n * 8 + i % 2) * Shape::sum_pitch + i / 2 * 32,
                      as_unsigned(sums[n][i]));
    __syncthreads();
#pragma unroll 2
    for (int i = threadIdx.x; i < block.count * quad_experts;
         i += Shape::threads) {
      const int row = i / quad_experts, expert = i % quad_experts * 4;
      const unsigned from = data + row * Shape::sum_pitch + expert * 4;
      Vec<float, 4> slices[Shape::block_slices];
#pragma unroll
      for (int c = 0; c < Shape::block_slices; ++c)
        ld_shared_16(slices[c].words, from + c * slice_bytes);
      store(partials + row * Shape::row_partials +
                block.part * Shape::row_experts + block.first_expert + expert,
            add_neighbours<Shape::block_slices>(slices));
    }
  }

  // Whether this block adds the groups of its rows.
  __device__ __forceinline__ bool is_last(unsigned *counters) {
    const int rank = cluster_rank<Shape::cluster>();
    if constexpr (Shape::cluster > 1)
      cluster_arrive<Shape::cluster>();
    cluster_wait<Shape::cluster>();
    if (threadIdx.x == 0)
      *flag = completes_count(counters + rank, Shape::blocks / Shape::cluster);
    __syncthreads();
    return *flag;
  }

  const Operands &of;
  const RouterRowsBlock<Config> block;
  // Addresses of the barrier, and of what follows it.
  unsigned head, data;
  unsigned *flag;
  int warp, lane;
};

} // namespace dsv4

#endif // __CUDACC__
