//===- index_score_ring.cuh - Scores by warpgroups --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// index_score.cuh with products of warpgroups (sm_90a): warps that load and
// warpgroups that compute, with a ring of steps in shared memory between them.
// For CUDA only; the host has a twin of index_score.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_ring.cuh"

#ifdef __CUDACC__

namespace dsv4 {

template <typename Config, typename Page, typename Query, typename Weight,
          typename Limit>
class IndexScoreRing : IndexRing<Config, Page, Query, Weight, Limit> {
  using Ring = IndexRing<Config, Page, Query, Weight, Limit>;
  using Shape = IndexShape<Config>;
  using Cursor = IndexCursor<Config, Limit>;
  using Stage = typename Ring::Stage;
  using Ring::base;
  using Ring::by_bulk;
  using Ring::empty;
  using Ring::full;
  using Ring::in_f16;
  using Ring::init_barriers;
  using Ring::key_loaders;
  using Ring::lane;
  using Ring::limit;
  using Ring::load_queries;
  using Ring::load_segments;
  using Ring::load_single_keys;
  using Ring::memory;
  using Ring::missing_at;
  using Ring::panel;
  using Ring::query_empty;
  using Ring::query_full;
  using Ring::stage_at;
  using Ring::wait_for_barriers;
  using Ring::warp;

public:
  using Ring::Ring;

  // `get_range` is called where the warp has its registers.
  template <bool AbsoluteRows, typename GetRange, typename Consume>
  __device__ __forceinline__ void run(GetRange get_range, Consume consume) {
    if (threadIdx.x == 0)
      init_barriers();
    if (warp >= 4 * Shape::warpgroups) {
      if constexpr (loader_registers != 0)
        lower_registers<loader_registers>();
      const IndexRange range = get_range();
      if (warp >= 4 * Shape::warpgroups + key_loaders)
        load_queries(range);
      else if constexpr (by_bulk)
        load_segments(range, warp - 4 * Shape::warpgroups);
      else
        load_single_keys(range, warp - 4 * Shape::warpgroups);
      if constexpr (loader_registers != 0)
        raise_registers<launch_registers>();
    } else {
      if constexpr (loader_registers != 0)
        raise_registers<compute_registers>();
      compute<AbsoluteRows>(get_range(), consume);
      if constexpr (loader_registers != 0)
        lower_registers<launch_registers>();
    }
  }

private:
  //===--------------------------------------------------------------------===//
  // Warpgroups that compute
  //===--------------------------------------------------------------------===//

  using Keys = IndexFragment<in_f16 ? 8 : 4>;
  enum : int {
    // Warps that compute take over some registers of those that load, where
    // both then have enough. Multiples of 8.
    launch_registers = 65536 / Shape::threads / 8 * 8,
    loader_registers = Shape::warpgroups == 3   ? 56
                       : Shape::warpgroups == 5 ? 40
                                                : 0,
    compute_registers =
        (launch_registers * (Shape::warpgroups + 1) - loader_registers) /
        Shape::warpgroups / 8 * 8,
    accumulators = Shape::head_tile / 2,
    units = Shape::queries * Shape::head_tiles * Shape::tiles,
    // With four warpgroups there are registers for one product at a time.
    buffers = units > 1 && Shape::warpgroups < 4 ? 2 : 1
  };
  // Whether the weights of a group stay in registers.
  enum : bool {
    keeps_weights =
        Shape::queries * Shape::head_tiles == 1 && Shape::warpgroups < 5,
    // Whether the keys of the next step come while those of one are computed.
    // Not if the products read the very registers that these come to.
    ahead = Shape::tiles == 1 && (in_f16 || !Shape::keys_e4m3),
    // Whether there are registers for what else takes some instructions.
    keeps_addresses = Shape::queries == 1 && Shape::warpgroups < 4
  };

  // A lane's words of keys l / 4 and l / 4 + 8 of its warp's 16 of a tile.
  struct RawKeys {
    unsigned words[2][Shape::payload / 16];
    unsigned scales[2];
  };
  // Those of a step, and the word of note_missing() that its own key is in.
  struct RawStep {
    RawKeys tiles[Shape::tiles];
    unsigned missing;
  };

  // Of this lane: addresses in stage 0, and the bit of its own key in a word of
  // note_missing().
  struct LaneAddresses {
    unsigned payload, scales, missing, bit;
  };
  __device__ __forceinline__ LaneAddresses lane_addresses() const {
    const int key = warp % 4 * 16 + lane / 4, c = lane & 3;
    const int own = IndexLane<Config>::key();
    constexpr int own_scales = Shape::keys_mxfp4   ? 1
                               : Shape::keys_nvfp4 ? 2
                                                   : 0;
    return {stage_at(0) + key * Shape::payload + c * (Shape::payload / 4),
            stage_at(0) + Shape::tile_keys * Shape::payload +
                key * Shape::scales + c * own_scales,
            missing_at(0) + own / 32 * 4, 1u << own % 32};
  }

  // Waits for a step, and gives its stage back.
  __device__ __forceinline__ void fetch(RawStep &to, const LaneAddresses &from,
                                        const Stage &stage) {
    wait_for_phase(full(stage.number), stage.parity);
    const unsigned offset = stage.number * Shape::stage_bytes;
#pragma unroll
    for (int t = 0; t < Shape::tiles; ++t)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const unsigned payload = from.payload + offset + t * Shape::tile_bytes +
                                 i * 8 * Shape::payload;
#pragma unroll
        for (int at = 0; at < Shape::payload / 4; at += 16)
          ld_shared_16(to.tiles[t].words[i] + at / 4, payload + at);
        const unsigned scales = from.scales + offset + t * Shape::tile_bytes +
                                i * 8 * Shape::scales;
        to.tiles[t].scales[i] = Shape::keys_mxfp4   ? ld_shared_1(scales)
                                : Shape::keys_nvfp4 ? ld_shared_2(scales)
                                                    : ld_shared_4(scales);
      }
    to.missing =
        ld_shared_4(from.missing + stage.number * Shape::missing_bytes);
    __syncwarp();
    if (lane == 0)
      arrive(empty(stage.number));
  }

  __device__ __forceinline__ void multiply(float (&d)[accumulators],
                                           const Keys &keys,
                                           unsigned long long heads) {
    pin(d);
    begin_products();
    if constexpr (in_f16) {
#pragma unroll
      for (int s = 0; s < 8; ++s)
        wgmma_f16(d, keys.a[s], heads + s / 4 * (panel / 16) + s % 4 * 2,
                  s > 0);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        wgmma<index_keys_type<Config>(), index_query_type<Config>()>(
            d, keys.a[j], heads + 2 * j, j > 0);
    }
    commit_products();
  }

  // This lane's, for row `row` of head tiles.
  __device__ __forceinline__ unsigned weights_at(int slot, int row) const {
    return base + Shape::weights_at +
           (slot * Shape::queries * Shape::head_tiles + row) *
               Shape::weight_row * 4 +
           (lane & 3) * (Shape::lane_weights + 4) * 4;
  }

  // The group of a warp.
  struct Position {
    Cursor group;
    int slot, slot_parity;
    // Of the only row, if there is one.
    int limit;
    float weights[Shape::lane_weights];
  };

  // The scores of a step: one of each query. Calls `fetch_next` as soon as its
  // keys have left `raw`.
  template <typename FetchNext>
  __device__ __forceinline__ void
  score_step(float (&values)[Shape::queries], const Position &at,
             const RawStep &raw, unsigned own_bit, FetchNext fetch_next) {
    const bool gone = raw.missing & own_bit;
    // With two buffers, a product is in flight while the one before is summed
    // up.
    Keys keys[Shape::tiles];
    IndexSums sums[Shape::tiles];
    float d[buffers][accumulators];
    float key_scale = 0;
    const unsigned long long queries =
        swizzled_rows(base + Shape::queries_at +
                      at.slot * Shape::queries * Shape::query_bytes);
    const auto start = [&](int unit) {
      if (unit < Shape::tiles)
        expand_index_keys<Config, in_f16>(
            keys[unit], raw.tiles[unit].words[0], raw.tiles[unit].words[1],
            raw.tiles[unit].scales[0], raw.tiles[unit].scales[1]);
      const int row = unit / Shape::tiles;
      multiply(d[unit % buffers], keys[unit % Shape::tiles],
               queries + (row / Shape::head_tiles * Shape::query_bytes +
                          row % Shape::head_tiles * Shape::head_tile * 128) /
                             16);
      if (unit + 1 == Shape::tiles) {
        key_scale = own_scale(keys);
        fetch_next();
      }
    };
    if (buffers == 2)
      start(0);
#pragma unroll
    for (int unit = 0; unit < units; ++unit) {
      const int row = unit / Shape::tiles, tile = unit % Shape::tiles;
      if (buffers == 1)
        start(unit);
      else if (unit + 1 < units)
        start(unit + 1);
      if (buffers == 2 && unit + 1 < units)
        wait_for_products<1>();
      else
        wait_for_products<0>();
      float (&now)[accumulators] = d[unit % buffers];
      pin(now);
      if (unit >= units - Shape::tiles)
        hold(keys[tile].a);
      if (row % Shape::head_tiles == 0)
        sums[tile] = IndexSums();
#pragma unroll
      for (int i = 0; i < Shape::lane_weights; i += 4) {
        float four[4] = {at.weights[i], at.weights[i + 1], at.weights[i + 2],
                         at.weights[i + 3]};
        if constexpr (!keeps_weights)
          ld_shared_16(four, weights_at(at.slot, row) + 4 * i);
        sums[tile].add(now + 2 * i, four);
        sums[tile].add(now + 2 * i + 4, four + 2);
      }
      if ((unit + 1) % (Shape::tiles * Shape::head_tiles) == 0) {
        const float value = mul_f32(quad_sum(sums), key_scale);
        values[row / Shape::head_tiles] = gone ? as_float(0xFF800000u) : value;
      }
    }
  }

  template <bool AbsoluteRows, typename Consume>
  __device__ __forceinline__ void compute(const IndexRange &range,
                                          Consume consume) {
    const int warpgroup = warp / 4;
    LaneAddresses addresses = lane_addresses();
    if constexpr (keeps_addresses) {
      keep(addresses.payload);
      keep(addresses.scales);
      keep(addresses.missing);
      keep(addresses.bit);
    }
    Position at{Cursor(range.group, range.group_start, limit), -1, 1, 0, {}};
    Stage stage{warpgroup, 0};
    wait_for_barriers();
    if (range.begin == range.end)
      return;
    next_slot(at);
    enter(at);
    RawStep raw;
    int step = range.begin + warpgroup;
    if (ahead && step < range.end)
      fetch(raw, addresses, stage);
    // All warpgroups have the same number of turns.
#pragma unroll 1
    for (int turn = range.begin; turn < range.end; turn += Shape::warpgroups) {
      const bool there = step < range.end;
      float values[Shape::queries];
#pragma unroll
      for (int i = 0; i < Shape::queries; ++i)
        values[i] = 0;
      if (there) {
        if (step >= at.group.stop)
          move(at, step);
        if (!ahead)
          fetch(raw, addresses, stage);
        stage.advance(Shape::warpgroups);
        score_step(values, at, raw, addresses.bit, [&] {
          if (ahead && step + Shape::warpgroups < range.end)
            fetch(raw, addresses, stage);
        });
      }
      const int column =
          (step - at.group.start) * Shape::step + IndexLane<Config>::key();
      const bool owned = there && IndexLane<Config>::owns();
      consume(values, [&](int i) {
        const int below = Shape::queries == 1 ? at.limit : limit_of(at.slot, i);
        return TilePosition{AbsoluteRows ? at.group.group * Shape::queries + i
                                         : i,
                            column, owned && column < below};
      });
      step += Shape::warpgroups;
    }
    // The queries of later groups wait for those before to be given back.
    move(at, range.end - 1);
  }

  __device__ __forceinline__ int limit_of(int slot, int i) const {
    return (int)ld_shared_4(base + Shape::limits_at +
                            4 * (slot * Shape::queries + i));
  }

  // Goes to the group of a step, and gives back those before.
  __device__ __forceinline__ void move(Position &at, int step) {
    while (step >= at.group.stop) {
      __syncwarp();
      if (lane == 0)
        arrive(query_empty(at.slot));
      at.group.advance();
      next_slot(at);
    }
    enter(at);
  }
  __device__ __forceinline__ void next_slot(Position &at) {
    if (++at.slot == Shape::slots)
      at.slot = 0;
    if (at.slot == 0)
      at.slot_parity ^= 1;
    wait_for_phase(query_full(at.slot), at.slot_parity);
  }
  __device__ __forceinline__ void enter(Position &at) {
    if constexpr (Shape::queries == 1)
      at.limit = limit_of(at.slot, 0);
    if constexpr (keeps_weights) {
#pragma unroll
      for (int i = 0; i < Shape::lane_weights; i += 4)
        ld_shared_16(at.weights + i, weights_at(at.slot, 0) + 4 * i);
    }
  }
};

} // namespace dsv4

#endif // __CUDACC__
