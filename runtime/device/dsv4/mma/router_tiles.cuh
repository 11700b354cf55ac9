//===- router_tiles.cuh - Logits of many rows -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The second function of router_logits.cuh: a block has 64 rows, 128 experts
// and all of their elements, which come in steps through a ring in shared
// memory. For CUDA only; the host has a twin of router_logits.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_products.cuh"

#ifdef __CUDACC__

namespace dsv4 {

template <typename Config>
class RouterTiles {
public:
  using Shape = RouterTilesShape<Config>;
  using Operands = RouterOperands<Config>;

  __device__ __forceinline__ RouterTiles(char *memory, const Operands &of)
      : of(of), base(shared_address(memory)), warp(threadIdx.x / 32),
        lane(threadIdx.x % 32) {}

  template <typename Consume>
  __device__ __forceinline__ void run(Consume consume) {
#pragma unroll
    for (int s = 0; s < Config::stages - 1; ++s)
      load_step(s);
    float chunk[Shape::items], pair[Shape::items], group[Shape::items],
        all[Shape::items];
#pragma unroll
    for (int i = 0; i < Shape::items; ++i)
      chunk[i] = pair[i] = group[i] = all[i] = 0;
#pragma unroll 1
    for (int step = 0; step < Shape::steps; ++step) {
      wait_for_copies<Config::stages - 2>();
      __syncthreads();
      load_step(step + Config::stages - 1);
      multiply(chunk, base + step % Config::stages * Shape::stage_bytes);
      const bool last = step == Shape::steps - 1;
      if (last || step % Shape::chunk_steps == Shape::chunk_steps - 1)
        end_sum(pair, chunk);
      if (last || step % (2 * Shape::chunk_steps) == 2 * Shape::chunk_steps - 1)
        end_sum(group, pair);
      if (last || step % Shape::group_steps == Shape::group_steps - 1)
        end_sum(all, group);
    }
    consume(all, [&](int i) { return block.position(i, of.rows); });
  }

private:
  using Weight = typename Config::Weight;
  using Unit = RouterUnit<Weight>;

  // Adds `part` to `sum`, and clears it. The first part is added to zero, which
  // changes nothing: no sum of tensor cores is a negative zero.
  __device__ __forceinline__ static void end_sum(float (&sum)[Shape::items],
                                                 float (&part)[Shape::items]) {
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      sum[i] = add_f32(sum[i], part[i]);
      part[i] = 0;
    }
  }

  // 16-byte units of two rows that lanes read together are in other banks.
  __device__ __forceinline__ static unsigned hidden_at(int row, int unit) {
    return row * (Shape::step * 2) + ((unit ^ (row & 1) << 2) << 4);
  }
  __device__ __forceinline__ static unsigned weight_at(int row, int unit) {
    constexpr int bit = Shape::weight_size == 2 ? 2 : 0;
    return Shape::hidden_bytes + row * Shape::weight_row +
           ((unit ^ (row & 1) << bit) << 4);
  }

  __device__ __forceinline__ void load_step(int step) {
    if (step < Shape::steps) {
      const unsigned to = base + step % Config::stages * Shape::stage_bytes;
      constexpr int units = Shape::step / 8;
#pragma unroll
      for (int i = threadIdx.x; i < Shape::rows * units; i += Shape::threads) {
        const int row = i / units, unit = i % units;
        const int element = step * Shape::step + unit * 8;
        if (block.first_row + row < of.rows)
          copy_router_unit<Shape::hidden_piece>(
              to + hidden_at(row, unit), (Shape::depth - element) * 2,
              (const char *)(of.hidden +
                             (block.first_row + row) * of.hidden_stride +
                             element));
      }
      constexpr int weight_units = Shape::weight_row / 16,
                    unit_elements = 16 / Shape::weight_size;
#pragma unroll
      for (int i = threadIdx.x; i < Shape::block_experts * weight_units;
           i += Shape::threads) {
        const int expert = block.first_expert + i / weight_units,
                  unit = i % weight_units;
        const int element = step * Shape::step + unit * unit_elements;
        if (expert < Shape::experts)
          copy_router_unit<Shape::weight_piece>(
              to + weight_at(i / weight_units, unit),
              (Shape::depth - element) * Shape::weight_size,
              (const char *)(of.weights + expert * of.weight_stride + element));
      }
    }
    commit_copies();
  }

  __device__ __forceinline__ void load_unit(Unit &to, unsigned stage, int row,
                                            int unit) const {
#pragma unroll
    for (int w = 0; w < Unit::words / 4; ++w)
      ld_shared_16(to.word + 4 * w,
                   stage + weight_at(row, unit * (Unit::words / 4) + w));
  }
  __device__ __forceinline__ void multiply(float (&sums)[Shape::items],
                                           unsigned stage) const {
    const int expert = warp % Shape::expert_warps * 32 + lane / 4;
    const int row = warp / Shape::expert_warps * 32 + lane / 4;
#pragma unroll
    for (int u = 0; u < Shape::step / 32; ++u) {
      const int unit = u * 4 + lane % 4;
      unsigned b[4][4];
#pragma unroll
      for (int n = 0; n < 4; ++n)
        ld_shared_16(b[n], stage + hidden_at(row + n * 8, unit));
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        Unit units[2];
        load_unit(units[0], stage, expert + m * 16, unit);
        load_unit(units[1], stage, expert + m * 16 + 8, unit);
        const RouterFragments<Weight> experts(units[0], units[1]);
#pragma unroll
        for (int n = 0; n < 4; ++n)
          experts.multiply((float (&)[4])sums[(m * 4 + n) * 4], b[n]);
      }
    }
  }

  const Operands &of;
  unsigned base;
  int warp, lane;
  const RouterTilesBlock<Config> block;
};

} // namespace dsv4

#endif // __CUDACC__
