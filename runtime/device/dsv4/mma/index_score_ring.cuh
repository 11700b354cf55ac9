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

#include "mma/index_far_groups.cuh"
#include "mma/index_ring.cuh"

#ifdef __CUDACC__

namespace dsv4 {

template <typename Config, typename Page, typename Query, typename Weight,
          typename Limit>
class IndexScoreRing : IndexRing<Config, Page, Query, Weight, Limit> {
  using Ring = IndexRing<Config, Page, Query, Weight, Limit>;
  using Shape = IndexShape<Config>;
  using Cursor = IndexCursor<Config, Limit>;
  using Ring::adds_in_f16;
  using Ring::barrier_bytes;
  using Ring::base;
  using Ring::by_bulk;
  using Ring::full;
  using Ring::group_at;
  using Ring::in_f16;
  using Ring::init_barriers;
  using Ring::key_loaders;
  using Ring::lane;
  using Ring::limit;
  using Ring::load_first_queries;
  using Ring::load_later_queries;
  using Ring::load_segments;
  using Ring::load_single_keys;
  using Ring::memory;
  using Ring::missing_at;
  using Ring::page;
  using Ring::panel;
  using Ring::products;
  using Ring::query_empty;
  using Ring::query_full;
  using Ring::registers_barrier;
  using Ring::stage_at;
  using Ring::warp;

public:
  using Ring::Ring;

  // `get_range` is called where the warp has its registers.
  template <bool AbsoluteRows, typename GetRange, typename Consume>
  __device__ __forceinline__ void run(GetRange get_range, Consume consume) {
    if (warp >= 4 * Shape::warpgroups) {
      if constexpr (loader_registers != 0)
        lower_registers<loader_registers>();
      if (warp == 4 * Shape::warpgroups + key_loaders)
        init_barriers();
      const IndexRange range = get_range();
      if (warp >= 4 * Shape::warpgroups + key_loaders)
        load_later_queries(range);
      else if constexpr (by_bulk)
        load_segments(range, warp - 4 * Shape::warpgroups);
      else
        load_single_keys(range, warp - 4 * Shape::warpgroups);
      if constexpr (loader_registers != 0) {
        sync_warps(registers_barrier, Shape::threads);
        raise_registers<launch_registers>();
      }
    } else {
      if constexpr (loader_registers != 0) {
        raise_registers<compute_registers>();
        arrive_at_barrier(registers_barrier, Shape::threads);
      }
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
  using Window =
      ScaleWindow<MagnitudeTable<index_key_exponent<products>()>::max_distance>;
  enum : int {
    // Warps that compute take over some registers of those that load, where
    // both then have enough. Multiples of 8.
    launch_registers = 65536 / Shape::threads / 8 * 8,
    loader_registers = Shape::warpgroups < 3   ? 0
                       : Shape::warpgroups < 5 ? 56
                                               : 40,
    compute_registers =
        (launch_registers * (Shape::warpgroups + 1) - loader_registers) /
        Shape::warpgroups / 8 * 8,
    key_words = Shape::payload / 16,
    accumulators = Shape::head_tile / (adds_in_f16 ? 4 : 2),
    units = Shape::queries * Shape::head_tiles * Shape::tiles,
    // With two, a product is in flight while the one before is summed up. With
    // four warpgroups there are registers for one. Sums that are products need
    // no other beside them.
    buffers = units > 1 && Shape::warpgroups < 4 && !adds_in_f16 ? 2 : 1
  };
  using Number = typename IndexAdding<products>::Number;
  using Sums = typename IndexAdding<products>::Sums;
  // Whether the weights of a group stay in registers. Not beside a tile
  // source's consumer, which needs registers.
  template <bool AbsoluteRows>
  static constexpr bool keeps_weights =
      AbsoluteRows && Shape::queries * Shape::head_tiles == 1 &&
      Shape::warpgroups + Shape::tiles < 6 && !adds_in_f16;
  enum : bool {
    // Whether those of a row are read once for two tiles.
    shares_weights = Shape::queries * Shape::head_tiles > 1 &&
                     Shape::tiles == 2 && Shape::warpgroups < 4 && !adds_in_f16,
    // Whether the first tile of the next step is expanded, or only fetched,
    // while one is computed. Not fetched if the products read the very
    // registers that it comes to.
    expands_ahead = Shape::tiles == 2,
    fetches_ahead = Shape::tiles == 1 && (in_f16 || !Shape::keys_e4m3),
    // Whether an expansion needs all words and scales of its keys: a vote over
    // the scales, which are fetched last. Of other keys the products do.
    expansion_waits = Shape::keys_mxfp4,
    // Whether there are registers for what else takes some instructions.
    keeps_addresses = Shape::queries == 1 && Shape::warpgroups < 4
  };

  // A lane's words of keys l / 4 and l / 4 + 8 of its warp's 16 of a tile.
  struct RawKeys {
    unsigned words[2][key_words];
    unsigned scales[2];
    unsigned missing; // The word of note_missing() that its own key is in.
  };

  // Of this lane: addresses in a stage, that of the note of its own key less
  // twice that of the stage's barrier, and the bit of its own key in the note.
  struct LaneAddresses {
    unsigned payload, scales, missing, bit;
  };
  __device__ __forceinline__ LaneAddresses lane_addresses(int stage) const {
    const int key = warp % 4 * 16 + lane / 4, c = lane & 3;
    const int own = IndexLane<Config>::key();
    constexpr int own_scales = Shape::keys_mxfp4   ? 1
                               : Shape::keys_nvfp4 ? 2
                                                   : 0;
    static_assert(Shape::missing_bytes == 2 * barrier_bytes,
                  "notes are as far apart as two barriers");
    return {stage_at(stage) + key * Shape::payload + c * (Shape::payload / 4),
            stage_at(stage) + Shape::tile_keys * Shape::payload +
                key * Shape::scales + c * own_scales,
            missing_at(0) + own / 32 * 4 - 2 * full(0), 1u << own % 32};
  }

  // A lane's words of tile `t` of a stage.
  __device__ __forceinline__ void fetch_words(unsigned (&to)[2][key_words],
                                              const LaneAddresses &from,
                                              int t) const {
    const unsigned payload = from.payload + t * Shape::tile_bytes;
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int at = 0; at < 4 * key_words; at += 16)
        ld_shared_16(to[i] + at / 4, payload + i * 8 * Shape::payload + at);
  }
  __device__ __forceinline__ void
  fetch_scales(unsigned (&to)[2], const LaneAddresses &from, int t) const {
    const unsigned scales = from.scales + t * Shape::tile_bytes;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned at = scales + i * 8 * Shape::scales;
      to[i] = Shape::keys_mxfp4   ? ld_shared_1(at)
              : Shape::keys_nvfp4 ? ld_shared_2(at)
                                  : ld_shared_4(at);
    }
  }
  // Last comes what release() follows.
  __device__ __forceinline__ void fetch(RawKeys &to, const LaneAddresses &from,
                                        unsigned barrier, int t) const {
    if (t + 1 == Shape::tiles)
      to.missing = ld_shared_4(from.missing + 2 * barrier);
    if constexpr (expansion_waits) {
      fetch_words(to.words, from, t);
      fetch_scales(to.scales, from, t);
    } else {
      fetch_scales(to.scales, from, t);
      fetch_words(to.words, from, t);
    }
  }
  __device__ __forceinline__ void multiply(Number (&d)[accumulators],
                                           const Keys &keys, unsigned heads) {
    pin(d);
    begin_products();
    if constexpr (in_f16) {
#pragma unroll
      for (int s = 0; s < 8; ++s)
        wgmma_f16(d, keys.a[s],
                  swizzled_rows(heads + s / 4 * (panel / 16) + s % 4 * 2),
                  s > 0);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const unsigned long long slice = swizzled_rows(heads + 2 * j);
        if constexpr (adds_in_f16)
          wgmma_to_f16(d, keys.a[j], slice, j > 0);
        else
          wgmma<index_keys_type<Config>(), index_query_type<Config>()>(
              d, keys.a[j], slice, j > 0);
      }
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

  __device__ __forceinline__ void load_weights(float (&to)[Shape::lane_weights],
                                               int slot, int row) const {
#pragma unroll
    for (int i = 0; i < Shape::lane_weights; i += 4)
      ld_shared_16(to + i, weights_at(slot, row) + 4 * i);
  }

  // The same in f16, as swizzled_rows_at().
  __device__ __forceinline__ unsigned halves_at(int slot, int row) const {
    return swizzled_rows_at(base + Shape::halves_at +
                            (slot * Shape::queries * Shape::head_tiles + row) *
                                Shape::half_tile);
  }
  // What the sums of a query are to be multiplied with.
  __device__ __forceinline__ float sums_scale(int slot, int i) const {
    if constexpr (adds_in_f16)
      return as_float(
          ld_shared_4(base + Shape::weights_at + Shape::scale_slot * 4 +
                      (slot * Shape::queries + i) * Shape::weight_bytes));
    else
      return 1;
  }

  // The group of a warp.
  struct Position {
    int group, start, stop; // Its steps among those of all groups.
    int slot, slot_parity;
    unsigned queries; // See swizzled_rows_at().
    // Of the only row, if there is one.
    int limit;
    float weights[Shape::lane_weights];
  };

  // The keys of a warp. Those of its next step come while it computes. Of the
  // stage there is what instructions need, so that few compute it.
  struct Flow {
    unsigned barrier; // That the stage is full.
    int parity;
    LaneAddresses addresses;
    RawKeys raw;
    Keys keys[Shape::tiles];
    Window window;
  };

  // Waits for a step if there is one, and fetches its first tile. Without a
  // step, it fetches what lies there, which costs less than a branch.
  __device__ __forceinline__ void fetch_step(Flow &flow, bool there) {
    if (there)
      wait_for_phase(flow.barrier, flow.parity);
    fetch(flow.raw, flow.addresses, flow.barrier, 0);
  }
  // To the warpgroup's next stage.
  __device__ __forceinline__ void advance(Flow &flow) const {
    constexpr int by = Shape::warpgroups, back = by - Shape::stages;
    const bool wraps = flow.barrier >= full(-back);
    const int stages = wraps ? back : by;
    flow.barrier += stages * barrier_bytes;
    keep(flow.barrier);
    flow.parity ^= wraps;
    const unsigned bytes =
        wraps ? back * Shape::stage_bytes : by * Shape::stage_bytes;
    flow.addresses.payload += bytes;
    flow.addresses.scales += bytes;
  }
  __device__ __forceinline__ void expand(Flow &flow, int tile) {
    expand_index_keys<Config, products>(
        flow.keys[tile], flow.raw.words, flow.raw.scales, flow.window,
        [&](auto &words) { fetch_words(words, flow.addresses, tile); });
    if (expansion_waits && tile + 1 == Shape::tiles)
      release(flow);
  }
  // Gives the stage back for the next copy. This must follow an instruction
  // that needs the last word that was fetched: an arrival does not wait for
  // loads, and overtakes them if many are in flight. Loads of shared memory
  // end in their order, so the last one is enough. Every lane arrives for its
  // own loads. The instructions of NVRTC 13.0 have this order; racecheck does
  // not see it, so scripts/gpu-check compares the bits of many launches.
  __device__ __forceinline__ void release(const Flow &flow) const {
    arrive(flow.barrier + Shape::stages * barrier_bytes);
  }

  // The products of a tile with row `row` of head tiles; `weights` are those of
  // the row if they are shared.
  template <bool KeepsWeights>
  __device__ __forceinline__ void
  add_heads(IndexSums &to, const float (&d)[accumulators], const Position &at,
            int row, const float (&weights)[Shape::lane_weights]) const {
#pragma unroll
    for (int i = 0; i < Shape::lane_weights; i += 4) {
      float four[4];
      if constexpr (KeepsWeights || shares_weights) {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          four[j] = KeepsWeights ? at.weights[i + j] : weights[i + j];
      } else {
        ld_shared_16(four, weights_at(at.slot, row) + 4 * i);
      }
      to.add(d + 2 * i, four);
      to.add(d + 2 * i + 4, four + 2);
    }
  }

  // The scores of a step: one of each query.
  template <bool AbsoluteRows>
  __device__ __forceinline__ void score_step(float (&values)[Shape::queries],
                                             Flow &flow, const Position &at,
                                             int column, bool next_there) {
    Sums sums[Shape::tiles];
    Number d[buffers][accumulators];
    unsigned pairs[accumulators];
    float weights[Shape::lane_weights];
    float key_scale = 0;
    bool gone = false;
    const auto start = [&](int unit) {
      if (unit == 0 && !expands_ahead) {
        if (!fetches_ahead)
          fetch_step(flow, true);
        expand(flow, 0);
      }
      const int row = unit / Shape::tiles;
      multiply(d[unit % buffers], flow.keys[unit % Shape::tiles],
               at.queries + (row / Shape::head_tiles * Shape::query_bytes +
                             row % Shape::head_tiles * Shape::head_tile * 128) /
                                16);
      if (!expansion_waits && unit + 1 == Shape::tiles)
        release(flow);
      // What follows is done while this product is in flight.
      if (unit + 1 < Shape::tiles) {
        fetch(flow.raw, flow.addresses, flow.barrier, unit + 1);
        expand(flow, unit + 1);
      }
      if (unit + 1 == Shape::tiles) {
        key_scale = own_scale(flow.keys, lane & 2);
        gone = flow.raw.missing & flow.addresses.bit;
        if (!expands_ahead)
          advance(flow);
        if (fetches_ahead)
          fetch_step(flow, next_there);
      }
      if (expands_ahead && buffers == 1 && unit + 1 == units) {
        advance(flow);
        fetch_step(flow, next_there);
        expand(flow, 0);
      }
    };
    // The sum of a unit is complete.
    const auto finish = [&](int unit) {
      if ((unit + 1) % (Shape::tiles * Shape::head_tiles) != 0)
        return;
      const int i = unit / Shape::tiles / Shape::head_tiles;
      const float sum = mul_f32(own_sum<Shape::tiles>(sums, lane & 1, lane & 2),
                                sums_scale(at.slot, i));
      values[i] = mul_f32(sum, key_scale);
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
      if (shares_weights && tile == 0)
        load_weights(weights, at.slot, row);
      if (buffers == 2 && unit + 1 < units)
        wait_for_products<1>();
      else
        wait_for_products<0>();
      Number(&now)[accumulators] = d[unit % buffers];
      pin(now);
      if (unit >= units - Shape::tiles)
        hold(flow.keys[tile].a);
      const bool first_tile_done =
          expands_ahead && buffers == 2 && unit + Shape::tiles == units;
      if (first_tile_done) {
        advance(flow);
        fetch_step(flow, next_there);
      }
      const bool first_heads = row % Shape::head_tiles == 0;
      if constexpr (adds_in_f16) {
        if (unit > 0) {
          pin(pairs);
          pin(sums[(unit - 1) % Shape::tiles].part);
          finish(unit - 1);
        }
        sums[tile].start(pairs, now, halves_at(at.slot, row), !first_heads);
        // Beside the next product, if registers allow.
        if constexpr (!AbsoluteRows) {
          wait_for_products<0>();
          pin(pairs);
        }
      } else {
        if (first_heads)
          sums[tile] = Sums();
        add_heads<keeps_weights<AbsoluteRows>>(sums[tile], now, at, row,
                                               weights);
        if (first_tile_done)
          expand(flow, 0);
        finish(unit);
      }
    }
    if constexpr (adds_in_f16) {
      wait_for_products<0>();
      pin(pairs);
      pin(sums[Shape::tiles - 1].part);
      finish(units - 1);
      if (__any_sync(0xFFFFFFFFu, key_scale < 0))
        score_far_groups(values, at, column, key_scale < 0 && !gone);
    }
#pragma unroll
    for (int i = 0; i < Shape::queries; ++i)
      values[i] = gone ? as_float(0xFF800000u) : values[i];
  }

  // The scores of keys with groups that are too far apart for sums in f16.
  // `own` says whether this lane's key is one. It may be a column without a
  // key, for which any bytes are in shared memory.
  __device__ __forceinline__ void
  score_far_groups(float (&values)[Shape::queries], const Position &at,
                   int column, bool own) const {
    const int first = column - IndexLane<Config>::key() + warp % 4 * 16;
    const int columns = Cursor::columns_of(at.group, limit);
    own = own && column < columns;
#pragma unroll 1
    for (int tile = 0; tile < Shape::tiles; ++tile) {
      const bool here = own && tile == (Shape::tiles == 2 ? lane >> 1 & 1 : 0);
      if (!__any_sync(0xFFFFFFFFu, here))
        continue;
      const IndexFarGroups<Config> keys(
          page, at.group, first + tile * Shape::tile_keys, columns);
#pragma unroll 1
      for (int i = 0; i < Shape::queries; ++i) {
        const int row = at.slot * Shape::queries + i;
        const float value =
            keys.score(base + Shape::queries_at + row * Shape::query_bytes,
                       base + Shape::weights_at + row * Shape::weight_bytes);
#pragma unroll
        for (int j = 0; j < Shape::queries; ++j)
          values[j] = here && i == j ? value : values[j];
      }
    }
  }

  template <bool AbsoluteRows, typename Consume>
  __device__ __forceinline__ void compute(const IndexRange &range,
                                          Consume consume) {
    const int warpgroup = warp / 4;
    Flow flow;
    flow.barrier = full(warpgroup);
    flow.parity = 0;
    flow.addresses = lane_addresses(warpgroup);
    if constexpr (keeps_addresses) {
      keep(flow.addresses.payload);
      keep(flow.addresses.scales);
      keep(flow.addresses.missing);
      keep(flow.addresses.bit);
    }
    const Cursor first(range.group, range.group_start, limit);
    Position at{range.group, range.group_start, first.stop, -1, 1, 0, 0, {}};
    load_first_queries(range);
    if (range.begin == range.end)
      return;
    next_slot(at);
    enter<keeps_weights<AbsoluteRows>>(at);
    if ((fetches_ahead || expands_ahead) && range.begin + warpgroup < range.end)
      fetch_step(flow, true);
    if (expands_ahead && range.begin + warpgroup < range.end)
      expand(flow, 0);
    // All warpgroups have the same number of turns. Those of a group are a loop
    // of their own, which begins with what depends on the group.
    int turn = range.begin;
#pragma unroll 1
    while (turn < range.end) {
      if (turn + warpgroup < range.end)
        move<keeps_weights<AbsoluteRows>>(at, turn + warpgroup);
      const int end =
          ::min(range.end,
                ::max(from_lane<32, 32>(at.stop, 0) - warpgroup, turn + 1));
      int column = (turn + warpgroup - at.start) * Shape::step +
                   IndexLane<Config>::key();
#pragma unroll 1
      for (; turn < end; turn += Shape::warpgroups) {
        const int step = turn + warpgroup;
        const bool there = step < range.end;
        float values[Shape::queries];
#pragma unroll
        for (int i = 0; i < Shape::queries; ++i)
          values[i] = 0;
        if (there)
          score_step<AbsoluteRows>(values, flow, at, column,
                                   step + Shape::warpgroups < range.end);
        const bool owned = there && IndexLane<Config>::owns();
        consume(values, [&](int i) {
          const int below =
              Shape::queries == 1 ? at.limit : limit_of(at.slot, i);
          return TilePosition{AbsoluteRows ? at.group * Shape::queries + i : i,
                              column, owned && column < below};
        });
        column += Shape::warpgroups * Shape::step;
      }
    }
    // The queries of later groups wait for those before to be given back.
    move<keeps_weights<AbsoluteRows>>(at, range.end - 1);
  }

  __device__ __forceinline__ int limit_of(int slot, int i) const {
    return (int)ld_shared_4(base + Shape::limits_at +
                            4 * (slot * Shape::queries + i));
  }

  // Goes to the group of a step, and gives back those before.
  template <bool KeepsWeights>
  __device__ __forceinline__ void move(Position &at, int step) {
    const auto is_later = [&] {
      return __any_sync(0xFFFFFFFFu, step >= at.stop) != 0;
    };
    if (!is_later())
      return;
    do {
      arrive(query_empty(at.slot));
      next_slot(at);
      unsigned group[4];
      ld_shared_16(group, group_at(at.slot));
      at.group = (int)group[0];
      at.start = (int)group[1];
      at.stop = (int)group[2];
    } while (is_later());
    enter<KeepsWeights>(at);
  }
  __device__ __forceinline__ void next_slot(Position &at) {
    if (++at.slot == Shape::slots)
      at.slot = 0;
    if (at.slot == 0)
      at.slot_parity ^= 1;
    wait_for_phase(query_full(at.slot), at.slot_parity);
  }
  template <bool KeepsWeights>
  __device__ __forceinline__ void enter(Position &at) {
    at.queries =
        swizzled_rows_at(base + Shape::queries_at +
                         at.slot * Shape::queries * Shape::query_bytes);
    if constexpr (Shape::queries == 1)
      at.limit = limit_of(at.slot, 0);
    if constexpr (KeepsWeights)
      load_weights(at.weights, at.slot, 0);
  }
};

} // namespace dsv4

#endif // __CUDACC__
