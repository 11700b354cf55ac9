//===- router_rows.cuh - Logits of few rows, by all blocks ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first function of router_logits.cuh: a block has some experts and one
// group of their elements. It stores its sums to the workspace and counts
// itself. The cluster that completes the count adds the groups, and consumes
// whole rows. For CUDA only; the host has a twin of router_logits.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_products.cuh"

#ifdef __CUDACC__

namespace dsv4 {

// Counts up to `count`, and then from 0 again. Returns whether that is now;
// what was written before the other counts is then visible to the block, after
// a barrier.
__device__ __forceinline__ bool completes_count(unsigned *counter, int count) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"((unsigned)count - 1)
               : "memory");
  return before == (unsigned)count - 1;
}

template <typename Config>
class RouterRows {
public:
  using Shape = RouterRowsShape<Config>;
  using Operands = RouterOperands<Config>;
  using Row = Tile<float, Shape::vectors, Shape::vector>;

  __device__ __forceinline__ RouterRows(char *memory, const Operands &of)
      : of(of), block(of.rows), head(shared_address(memory)),
        data(head + Shape::head_bytes), flag((unsigned *)memory + 2),
        warp(threadIdx.x / 32), lane(threadIdx.x % 32) {}

  template <typename Ready, typename Consume>
  __device__ __forceinline__ void run(unsigned *counters, float *partials,
                                      Ready ready, Consume consume) {
    if constexpr (Config::multicast)
      begin_copies();
    Unit units[chunk_units][2];
    load_weights(units);
    ready();
    load_hidden();
    float sums[products][4];
    multiply(sums, units);
    partials += (long long)block.row_block * Shape::partials;
    add_chunks(sums, partials);
    if (!is_last(counters + block.row_block * Shape::counters))
      return;
    add_groups(partials);
    consume_rows(consume);
  }

private:
  enum : int {
    chunk_units = router_chunk / 32,
    products = Shape::rows / 8,
    quad_experts = Shape::block_experts / 4
  };
  using Unit = RouterUnit<typename Config::Weight>;

  __device__ __forceinline__ int chunk() const {
    return warp / Shape::expert_warps;
  }
  // The first of the 16 experts of this warp, among those of the block.
  __device__ __forceinline__ int warp_expert() const {
    return warp % Shape::expert_warps * 16;
  }

  __device__ __forceinline__ void load_weights(Unit (&to)[chunk_units][2]) {
    const int first = block.group * router_group + chunk() * router_chunk;
#pragma unroll
    for (int u = 0; u < chunk_units; ++u)
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
          load_router_unit<Shape::weight_piece>(to[u][i].word + w, left - 4 * w,
                                                from + 4 * w);
      }
  }

  // Before the blocks of a cluster may write to each other.
  __device__ __forceinline__ void begin_copies() {
    if (threadIdx.x == 0) {
      init_barrier(head, 1);
      fence_barriers();
      arrive_expecting(head, block.count * copied_bytes());
    }
    cluster_arrive<Shape::cluster>();
  }
  // Of a row.
  __device__ __forceinline__ int copied_bytes() const {
    return ::min(Shape::depth - block.group * router_group, (int)router_group) *
           2;
  }
  __device__ __forceinline__ const bf16 *hidden_row(int row) const {
    return of.hidden + (block.first_row + row) * of.hidden_stride +
           block.group * router_group;
  }

  __device__ __forceinline__ void load_hidden() {
    constexpr int units = router_group / 8;
    if constexpr (Config::multicast) {
      cluster_wait<Shape::cluster>();
      const int row = cluster_rank<Shape::cluster>() * Shape::own_rows + lane;
      if (warp == 0 && lane < Shape::own_rows && row < block.count)
        copy_bulk_to_cluster(data + row * Shape::hidden_pitch, hidden_row(row),
                             copied_bytes(), head, Shape::cluster);
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
        if (row < block.count)
          copy_router_unit<Shape::hidden_piece>(
              data + row * Shape::hidden_pitch + element * 2,
              (Shape::depth - block.group * router_group - element) * 2,
              (const char *)(hidden_row(row) + element));
      }
      commit_copies();
      wait_for_copies<0>();
    }
    __syncthreads();
  }

  // What is in the columns of rows that are not there does not matter.
  __device__ __forceinline__ void
  multiply(float (&sums)[products][4], const Unit (&units)[chunk_units][2]) {
#pragma unroll
    for (int n = 0; n < products; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[n][i] = 0;
    const unsigned from = data + lane / 4 * Shape::hidden_pitch +
                          chunk() * router_chunk * 2 + lane % 4 * 16;
#pragma unroll
    for (int u = 0; u < chunk_units; ++u) {
      const RouterFragments<typename Config::Weight> experts(units[u][0],
                                                             units[u][1]);
#pragma unroll
      for (int n = 0; n < products; ++n)
        if (n * 8 < block.count) {
          unsigned b[4];
          ld_shared_16(b, from + n * 8 * Shape::hidden_pitch + u * 64);
          experts.multiply(sums[n], b);
        }
    }
  }

  // Adds the chunks of the group, and stores the sums.
  __device__ __forceinline__ void add_chunks(const float (&sums)[products][4],
                                             float *partials) {
    __syncthreads();
    constexpr int chunk_bytes = Shape::rows * Shape::sum_pitch;
    const unsigned to = data + chunk() * chunk_bytes +
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
      Vec<float, 4> sum;
      ld_shared_16(sum.words, from);
#pragma unroll
      for (int c = 1; c < router_group_chunks; ++c) {
        Vec<float, 4> next;
        ld_shared_16(next.words, from + c * chunk_bytes);
        sum = sum + next;
      }
      store(partials + (block.group * Shape::rows + row) * Shape::row_experts +
                block.first_expert + expert,
            sum);
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

  // To shared memory.
  __device__ __forceinline__ void add_groups(const float *partials) {
    constexpr int quads = Shape::row_experts / 4;
    const int own = block.own_count();
#pragma unroll 1
    for (int i = threadIdx.x; i < own * quads; i += Shape::threads) {
      const float *from =
          partials + block.own_row() * Shape::row_experts + 4 * i;
      Vec<float, 4> parts[Shape::groups];
#pragma unroll
      for (int g = 0; g < Shape::groups; ++g)
        parts[g] = load<Vec<float, 4>>(
            from + g * (int)(Shape::rows * Shape::row_experts));
#pragma unroll
      for (int g = 1; g < Shape::groups; ++g)
        parts[0] = parts[0] + parts[g];
      const unsigned to = data + 16 * i;
      st_shared_8(to, as_unsigned(parts[0][0]), as_unsigned(parts[0][1]));
      st_shared_8(to + 8, as_unsigned(parts[0][2]), as_unsigned(parts[0][3]));
    }
    __syncthreads();
  }

  template <typename Consume>
  __device__ __forceinline__ void consume_rows(Consume consume) {
#pragma unroll 1
    for (int i = warp; i < block.own_count(); i += Shape::warps) {
      Row logits = {};
#pragma unroll
      for (int s = 0; s < Shape::vectors; ++s) {
        const int column = (s * 32 + lane) * Shape::vector;
        const unsigned from = data + (i * Shape::row_experts + column) * 4;
        if (column < Shape::row_experts)
#pragma unroll
          for (int v = 0; v < Shape::vector; ++v)
            logits.words[s * Shape::vector + v] =
                as_float(ld_shared_4(from + 4 * v));
      }
      consume(block.first_row + block.own_row() + i, logits);
    }
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
