//===- router_rows.cuh - Logits of few rows, by all blocks ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// router_rows() of router_logits.cuh: a block has some experts and a part of
// their elements, and stores its sums to the workspace. Then it adds the sums
// of all blocks for some rows, as router_join.cuh describes, and consumes
// these. In router_parts() and router_join() another kernel does that. For CUDA
// only; the host has a twin of router_logits.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_groups.cuh"

#ifdef __CUDACC__

namespace dsv4 {

template <typename Config>
class RouterRows {
public:
  using Shape = RouterRowsShape<Config>;
  using Operands = RouterOperands<Config>;

  __device__ __forceinline__ RouterRows(char *memory, const Operands &of)
      : of(of), block(of.rows), head(shared_address(memory)),
        data(head + Shape::head_bytes), warp(threadIdx.x / 32),
        lane(threadIdx.x % 32) {}

  // Stores the sums of this block: in a workspace as router_join.cuh says, else
  // as they are.
  template <bool IsWorkspace, typename Ready>
  __device__ __forceinline__ void store_part(float *partials, Ready ready) {
    Unit units[slice_units][2];
    if constexpr (Config::weights_first)
      load_weights(units);
    if constexpr (Config::multicast) {
      begin_copies();
      cluster_wait<Shape::cluster>();
    }
    ready();
    if constexpr (by_groups)
      copy_hidden();
    if constexpr (!Config::weights_first)
      load_weights(units);
    if constexpr (by_groups) {
      // What is not there of rows, the threads have made zero.
      if constexpr (Shape::depth % Shape::block_depth != 0)
        wait_for_hidden();
      const unsigned tiles = (data + Shape::data_bytes + 1023) & ~1023u;
      RouterGroups<Config>(block, head, data, tiles)
          .template store_sums<IsWorkspace>(units, partials);
      return;
    }
    copy_hidden();
    wait_for_hidden();
    float sums[products][4];
    multiply(sums, units);
    add_slices<IsWorkspace>(sums, partials);
  }
  template <typename Ready, typename Consume>
  __device__ __forceinline__ void run(unsigned *workspace, Ready ready,
                                      Consume consume) {
    RouterJoin<Config> join(block, workspace, data);
    store_part<true>(join.sums(), ready);
    join.run(consume);
  }
  template <typename Ready>
  __device__ __forceinline__ void run_part(float *partials, Ready ready) {
    store_part<false>(partials + (long long)block.row_block * Shape::partials,
                      ready);
  }

private:
  enum : int {
    slice_units = router_slice / 32,
    products = Shape::rows / 8,
    quad_experts = Shape::block_experts / 4
  };
  static constexpr bool by_groups = Shape::by_groups && has_wgmma;
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
        const int offset = warp_expert() + i * 8 + lane / 4;
        const int expert =
            block.first_expert +
            (by_groups ? RouterGroups<Config>::expert_of(offset) : offset);
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
#pragma unroll
      for (int part = 0; part < Shape::hidden_parts; ++part)
        init_barrier(head + 8 * part, 1);
      fence_barriers();
#pragma unroll
      for (int part = 0; part < Shape::hidden_parts; ++part)
        arrive_expecting(head + 8 * part, block.count * copied_bytes(part));
    }
    // A fence of all memory would wait for the weights.
    cluster_arrive_relaxed<Shape::cluster>();
  }
  // Of a row.
  __device__ __forceinline__ int copied_bytes() const {
    return ::min(Shape::depth - block.first_element, (int)Shape::block_depth) *
           2;
  }
  // Of a part of a row that has a barrier of its own.
  enum : int { part_bytes = Shape::block_depth * 2 / Shape::hidden_parts };
  __device__ __forceinline__ int copied_bytes(int part) const {
    return ::min(::max(copied_bytes() - part * part_bytes, 0), (int)part_bytes);
  }
  __device__ __forceinline__ const bf16 *hidden_row(int row) const {
    return of.hidden + (block.first_row + row) * of.hidden_stride +
           block.first_element;
  }

  __device__ __forceinline__ void copy_hidden() {
    constexpr int units = Shape::block_depth / 8;
    if constexpr (Config::multicast) {
      // First the slices that warpgroups begin with.
      constexpr int parts = Shape::hidden_parts, each = Shape::cluster_rows;
      if (warp == 0)
        for (int i = lane; i < parts * each; i += 32) {
          const int part = parts == 4 ? i / each / 2 + i / each % 2 * 2 : 0;
          const int row = cluster_rank<Shape::cluster>() * each + i % each;
          const int bytes = copied_bytes(part);
          if (row < block.count && bytes > 0)
            copy_bulk_to_cluster(
                data + row * Shape::hidden_pitch + part * part_bytes,
                (const char *)hidden_row(row) + part * part_bytes, bytes,
                head + 8 * part, Shape::cluster);
        }
      if constexpr (Shape::depth % Shape::block_depth != 0)
        for (int i = threadIdx.x; i < Shape::rows * units; i += Shape::threads)
          if (i % units * 16 >= copied_bytes())
            copy_router_unit<16>(data + i / units * Shape::hidden_pitch +
                                     i % units * 16,
                                 0, nullptr);
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
  }
  __device__ __forceinline__ void wait_for_hidden() {
    if constexpr (Config::multicast)
#pragma unroll
      for (int part = 0; part < Shape::hidden_parts; ++part)
        wait_for_phase(head + 8 * part, 0);
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
  template <bool IsWorkspace>
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
      float *const to = partials + row * Shape::row_partials +
                        block.part * Shape::row_experts + block.first_expert +
                        expert;
      const Vec<float, 4> sum = add_neighbours<Shape::block_slices>(slices);
      if constexpr (IsWorkspace)
        store_marked(to, sum);
      else
        store(to, sum);
    }
  }

  const Operands &of;
  const RouterRowsBlock<Config> block;
  // Addresses of the barrier, and of what follows it.
  unsigned head, data;
  int warp, lane;
};

} // namespace dsv4

#endif // __CUDACC__
