//===- router_groups.cuh - Sums of 64 rows by warpgroups --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The products of router_rows.cuh for 64 rows and 32 experts, by two
// warpgroups (sm_90a). For CUDA only.
//
// Rows are A, in registers, and experts are B, in shared memory. A warpgroup
// has two slices, so each row is read from shared memory once. Elements are
// multiplied in the order of router_products.cuh, and products of warpgroups
// round as those of a warp do, so sums have the same bits.
//
// Lane c of four has the units of 16 bytes c of a row, of which word w belongs
// to the product w / 2 of two. So in a row of B, unit w has the words w of the
// four lanes.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_join.cuh"

#ifdef __CUDACC__

namespace dsv4 {

// `barriers`, `data` and `tiles` are addresses in shared memory: of the barrier
// of the rows of each slice, of the rows, and of Shape::tiles_bytes.
template <typename Config>
class RouterGroups {
public:
  using Shape = RouterRowsShape<Config>;
  enum : int { slice_units = router_slice / 32 };
  using Unit = RouterUnit<typename Config::Weight>;

  __device__ __forceinline__ RouterGroups(const RouterRowsBlock<Config> &block,
                                          unsigned barriers, unsigned data,
                                          unsigned tiles)
      : block(block), barriers(barriers), data(data), tiles(tiles),
        warp(threadIdx.x / 32), lane(threadIdx.x % 32), group(warp / 4) {}

  // The expert in a row of B. A lane has the sums of columns 2c, 2c + 1, 8 + 2c
  // and 8 + 2c + 1 of 16, which are those of four neighbours.
  __device__ __forceinline__ static int expert_of(int row) {
    return row / 16 * 16 + row % 8 / 2 * 4 + row / 8 % 2 * 2 + row % 2;
  }

  // `units` are of slice warp / 2, and of the experts in rows
  // warp % 2 * 16 + i * 8 + lane / 4 of B. Rows come to shared memory.
  template <bool IsWorkspace>
  __device__ __forceinline__ void
  store_sums(const Unit (&units)[slice_units][2], float *partials) {
    // Rows are there before the weights. Registers hold only a half of them
    // beside these.
    unsigned a[2][2 * slice_units][4];
    load_rows(a[0], 0);
    put_weights(units);
    load_rows(a[1], 1);
    fence_for_async();
    // The slices of this warpgroup are its own warps'.
    sync_warps(1 + group, 128);
    float sums[2][16];
    multiply(sums, a);
    float pair[16];
#pragma unroll
    for (int i = 0; i < 16; ++i)
      pair[i] = add_f32(sums[0][i], sums[1][i]);
    add_pairs<IsWorkspace>(pair, partials);
  }

private:
  // Of the slice `t` of the two.
  __device__ __forceinline__ void load_rows(unsigned (&a)[2 * slice_units][4],
                                            int t) const {
    const unsigned from = own_rows() + lane / 4 * Shape::hidden_pitch +
                          t * router_slice * 2 + lane % 4 * 16;
    wait_for_phase(barriers + 8 * (2 * group + t), 0);
#pragma unroll
    for (int u = 0; u < slice_units; ++u) {
      unsigned low[4], high[4];
      ld_shared_16(low, from + u * 64);
      ld_shared_16(high, from + 8 * Shape::hidden_pitch + u * 64);
#pragma unroll
      for (int s = 0; s < 2; ++s)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          a[u * 2 + s][i] = (i % 2 == 0 ? low : high)[2 * s + i / 2];
    }
  }
  // What this warp alone reads: 16 rows of the two slices.
  __device__ __forceinline__ unsigned own_rows() const {
    return data + warp % 4 * 16 * Shape::hidden_pitch +
           group * 2 * router_slice * 2;
  }

  __device__ __forceinline__ void
  put_weights(const Unit (&units)[slice_units][2]) const {
    const unsigned to = tiles + warp / 2 * 2 * Shape::tile_bytes +
                        (warp % 2 * 16 + lane / 4) * 128 + lane % 4 * 4;
#pragma unroll
    for (int u = 0; u < slice_units; ++u)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int w = 0; w < 4; ++w)
          st_shared_4(to + u / 2 * Shape::tile_bytes + i * 1024 +
                          (((u % 2 * 4 + w) ^ lane / 4) << 4),
                      units[u][i].word[w]);
  }

  // The products of the two slices take turns, because those of one wait for
  // each other.
  __device__ __forceinline__ void
  multiply(float (&sums)[2][16],
           const unsigned (&a)[2][2 * slice_units][4]) const {
#pragma unroll
    for (int i = 0; i < 16; ++i)
      sums[0][i] = sums[1][i] = 0;
    const unsigned b = swizzled_rows_at(tiles + group * 4 * Shape::tile_bytes);
    pin(sums[0]);
    pin(sums[1]);
    begin_products();
#pragma unroll
    for (int k = 0; k < 2 * slice_units; ++k)
#pragma unroll
      for (int t = 0; t < 2; ++t)
        wgmma_bf16(sums[t], a[t][k],
                   swizzled_rows(b +
                                 (2 * t + k / 4) * (Shape::tile_bytes / 16) +
                                 k % 4 * 2),
                   1);
    commit_products();
    wait_for_products<0>();
    pin(sums[0]);
    pin(sums[1]);
    hold(a[0]);
    hold(a[1]);
  }

  // Each warpgroup gives the other one the half of the experts that it does not
  // store, over the rows that it has read.
  template <bool IsWorkspace>
  __device__ __forceinline__ void add_pairs(const float (&pair)[16],
                                            float *partials) const {
    const unsigned to =
        own_rows() + lane / 16 * Shape::hidden_pitch + lane % 16 * 16;
    const unsigned from =
        group == 0 ? to + 2 * router_slice * 2 : to - 2 * router_slice * 2;
    // Of row lane / 4 + 8 h: neighbouring experts.
    const auto item = [](int half, int h, int i) {
      return half * 8 + i / 2 * 4 + h * 2 + i % 2;
    };
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[i] =
            as_unsigned(group == 0 ? pair[item(1, h, i)] : pair[item(0, h, i)]);
      st_shared_16(to + h * 256, words[0], words[1], words[2], words[3]);
    }
    __syncthreads();
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float others[4];
      ld_shared_16(others, from + h * 256);
      Vec<float, 4> sum;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sum.words[i] = add_f32(
            group == 0 ? pair[item(0, h, i)] : pair[item(1, h, i)], others[i]);
      const int row = warp % 4 * 16 + lane / 4 + 8 * h;
      float *const at = partials + row * Shape::row_partials +
                        block.part * Shape::row_experts + block.first_expert +
                        group * 16 + lane % 4 * 4;
      if (row < block.count) {
        if constexpr (IsWorkspace)
          store_marked(at, sum);
        else
          store(at, sum);
      }
    }
  }

  const RouterRowsBlock<Config> &block;
  unsigned barriers, data, tiles;
  int warp, lane, group;
};

} // namespace dsv4

#endif // __CUDACC__
