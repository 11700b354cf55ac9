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
    float slice[Shape::items], pair[Shape::items], group[Shape::items],
        all[Shape::items];
#pragma unroll
    for (int i = 0; i < Shape::items; ++i)
      slice[i] = pair[i] = group[i] = all[i] = 0;
#pragma unroll 1
    for (int step = 0; step < Shape::steps; ++step) {
      wait_for_copies<Config::stages - 2>();
      __syncthreads();
      load_step(step + Config::stages - 1);
      multiply(slice, base + step % Config::stages * Shape::stage_bytes);
      const bool last = step == Shape::steps - 1;
      if (last || step % Shape::slice_steps == Shape::slice_steps - 1)
        end_sum(pair, slice);
      if (last || step % (2 * Shape::slice_steps) == 2 * Shape::slice_steps - 1)
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

  // A 16-byte unit of a row of elements of `Size` bytes. Units of two rows that
  // lanes read together are in other banks.
  template <int Size>
  __device__ __forceinline__ static unsigned unit_at(int row, int unit) {
    constexpr int bit = Size == 2 ? 2 : 0;
    return row * (Shape::step * Size) + ((unit ^ (row & 1) << bit) << 4);
  }

  // Copies `Rows` rows of a step, of which `there` exist. A thread copies the
  // same unit of several rows.
  template <int AccessBytes, int Size, int Rows>
  __device__ __forceinline__ void copy_rows(unsigned to, const void *first,
                                            long long stride, int there,
                                            int step) const {
    constexpr int units = Shape::step * Size / 16,
                  pass = Shape::threads / units;
    static_assert(pass % 2 == 0 && Rows % pass == 0, "whole passes");
    const int row = threadIdx.x / units, unit = threadIdx.x % units;
    const int at = step * (Shape::step * Size) + unit * 16;
    const char *from = (const char *)first + row * stride * Size + at;
    const int left = Shape::depth * Size - at;
    to += unit_at<Size>(row, unit);
    // Rows at any address would take too many registers.
#pragma unroll(AccessBytes == 16 ? Rows / pass : 1)
    for (int i = 0; i < Rows / pass; ++i)
      copy_router_unit<AccessBytes>(to + i * pass * Shape::step * Size,
                                    row + i * pass < there ? left : 0,
                                    from + i * (pass * Size) * stride);
  }
  __device__ __forceinline__ void load_step(int step) const {
    if (step < Shape::steps) {
      const unsigned to = base + step % Config::stages * Shape::stage_bytes;
      copy_rows<Shape::hidden_access_bytes, 2, Shape::rows>(
          to, of.hidden + block.first_row * of.hidden_stride, of.hidden_stride,
          of.rows - block.first_row, step);
      copy_rows<Shape::weight_access_bytes, Shape::weight_size,
                Shape::block_experts>(
          to + Shape::hidden_bytes,
          of.weights + block.first_expert * of.weight_stride, of.weight_stride,
          Shape::experts - block.first_expert, step);
    }
    commit_copies();
  }

  __device__ __forceinline__ void load_unit(Unit &to, unsigned stage, int row,
                                            int unit) const {
#pragma unroll
    for (int w = 0; w < Unit::words / 4; ++w)
      ld_shared_16(to.word + 4 * w, stage + Shape::hidden_bytes +
                                        unit_at<Shape::weight_size>(
                                            row, unit * (Unit::words / 4) + w));
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
        ld_shared_16(b[n], stage + unit_at<2>(row + n * 8, unit));
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
