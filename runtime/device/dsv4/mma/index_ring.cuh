//===- index_ring.cuh - Keys and queries in shared memory -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of index_score_ring.cuh that loads: a ring of steps in shared
// memory, the warps that fill it, and those that bring the queries. For CUDA
// only; the host has a twin of index_score.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_sums.cuh"

#ifdef __CUDACC__

namespace dsv4 {

template <typename Config, typename Page, typename Query, typename Weight,
          typename Limit>
class IndexRing {
public:
  using Shape = IndexShape<Config>;
  using Cursor = IndexCursor<Config, Limit>;

  __device__ __forceinline__ IndexRing(char *memory, Page page, Query query,
                                       Weight weight, Limit limit)
      : memory(memory), base(shared_address(memory)), page(page), query(query),
        weight(weight), limit(limit),
        warp(from_lane<32, 32>(threadIdx.x / 32, 0)), lane(threadIdx.x % 32) {}

protected:
  // The same warps fill and empty a stage every time. Otherwise a warp could
  // wait for a phase that is two phases ahead, and such a wait returns at once.
  static_assert(Shape::stages % Shape::warpgroups == 0 &&
                    Shape::stages % 2 == 0,
                "stages are a multiple of 2 and of the warpgroups");

  enum : int {
    key_loaders = 2,                        // warps
    query_loaders = 32 * (4 - key_loaders), // threads
    // The first warp that brings queries initialises the barriers in shared
    // memory. Those that load keys wait for that at the first of these, those
    // that compute at the second, where they also wait for queries, and the
    // other one that brings queries at the third.
    key_barrier = 2,
    compute_barrier = 3,
    query_barrier = 4,
    // Warps that load take registers back after all others have theirs. If one
    // of few steps did so before, those would wait for ever.
    registers_barrier = 5,
    barrier_bytes = 8,
    key_barrier_threads = 32 * key_loaders + 32,
    compute_barrier_threads = Shape::consumers + 32,
    // A step has segments, which lie within a page and a tile. Each is copied
    // by one lane.
    segment = Shape::page_size < Shape::tile_keys ? Shape::page_size
                                                  : +Shape::tile_keys,
    segments = Shape::step / segment,
    lane_keys = Shape::step / 32,
    // Of heads in f16, the two halves lie one after another.
    panel = Shape::padded_heads * 128
  };
  // MXFP4 keys are multiplied with E4M3 queries in half the registers.
  static constexpr IndexProducts products =
      Config::exact                            ? IndexProducts::f16
      : Shape::keys_mxfp4 && !Shape::query_fp4 ? IndexProducts::f8_in_f16
                                               : IndexProducts::f8;
  enum : bool {
    in_f16 = products == IndexProducts::f16,
    adds_in_f16 = products == IndexProducts::f8_in_f16
  };
  enum : bool {
    by_bulk = Shape::page_size >= 16 && Config::align == 16 &&
              (Shape::tile_keys % Shape::page_size == 0 ||
               Shape::page_size % Shape::tile_keys == 0) &&
              Shape::payload_stride == +Shape::payload &&
              Shape::scale_stride == +Shape::scales
  };

  __device__ __forceinline__ unsigned full(int stage) const {
    return base + Shape::barriers_at + barrier_bytes * stage;
  }
  __device__ __forceinline__ unsigned empty(int stage) const {
    return full(Shape::stages + stage);
  }
  __device__ __forceinline__ unsigned query_full(int slot) const {
    return full(2 * Shape::stages + slot);
  }
  __device__ __forceinline__ unsigned query_empty(int slot) const {
    return full(2 * Shape::stages + Shape::slots + slot);
  }
  __device__ __forceinline__ unsigned stage_at(int stage) const {
    return base + Shape::ring_at + stage * Shape::stage_bytes;
  }
  // By one warp, for which the others wait. Also notes that no keys are
  // missing.
  __device__ __forceinline__ void init_barriers() {
#pragma unroll 1
    for (int i = lane; i < Shape::stages; i += 32) {
      init_barrier(full(i), by_bulk ? 32 : 64);
      init_barrier(empty(i), 128);
    }
#pragma unroll 1
    for (int i = lane; i < Shape::slots; i += 32) {
      init_barrier(query_full(i), query_loaders);
      init_barrier(query_empty(i), Shape::consumers);
    }
    fence_barriers();
#pragma unroll 1
    for (int i = lane; i < Shape::stages * Shape::missing_bytes / 4; i += 32)
      st_shared_4(missing_at(0) + 4 * i, 0);
    arrive_at_barrier(key_barrier, key_barrier_threads);
    arrive_at_barrier(compute_barrier, compute_barrier_threads);
  }

  // Of each slot: its group, and the first step and the end of that.
  __device__ __forceinline__ unsigned group_at(int slot) const {
    return base + Shape::groups_at + slot * 16;
  }
  // Of each stage: a bit per key that has no page, 32 in a word.
  __device__ __forceinline__ unsigned missing_at(int stage) const {
    return base + Shape::missing_at + stage * Shape::missing_bytes;
  }

  //===--------------------------------------------------------------------===//
  // Warps that load
  //===--------------------------------------------------------------------===//

  // Keys that a lane brings: `rows` from the given addresses on, or null.
  struct Part {
    const char *payload, *scales;
    int rows;
  };

  __device__ __forceinline__ Part find(const Cursor &at, int step, int key,
                                       int keys) {
    const int column = (step - at.start) * Shape::step + key;
    const int left = at.columns - column;
    Part part{nullptr, nullptr, ::max(::min(left, keys), 0)};
    if (part.rows > 0) {
      const IndexPage from = page(at.group, column / Shape::page_size);
      const int entry = column % Shape::page_size;
      if (from.payload) {
        part.payload = (const char *)from.payload +
                       (long long)entry * Shape::payload_stride;
        part.scales =
            (const char *)from.scales + (long long)entry * Shape::scale_stride;
      }
    }
    return part;
  }

  // Notes which keys have no page: a bit for each of 32 keys of a lane's word.
  __device__ __forceinline__ void note_missing(int stage, unsigned word) {
    if (lane < Shape::step / 32)
      st_shared_4(missing_at(stage) + 4 * lane, word);
  }

  struct Stage {
    int number, parity;

    __device__ __forceinline__ void advance(int by) {
      number += by;
      if (number >= Shape::stages) {
        number -= Shape::stages;
        parity ^= 1;
      }
    }
  };

  // A lane has a segment of one of the next steps. Their pages are known before
  // the steps before are loaded, because a page table is far away, too.
  __device__ __forceinline__ void load_segments(const IndexRange &range,
                                                int first) {
    constexpr int batch = 32 / segments;
    static_assert(batch > 2, "the pages of the next steps are looked up");
    Cursor at(range.group, range.group_start, limit);
    const auto find_own = [&](int step) {
      step += lane / segments * key_loaders;
      if (step >= range.end)
        return Part{nullptr, nullptr, 0};
      while (step >= at.stop)
        at.advance();
      return find(at, step, lane % segments * segment, segment);
    };
    Stage stage{first, 1};
    int step = range.begin + first;
    Part next = find_own(step);
    sync_warps(key_barrier, key_barrier_threads);
    // Whether there are notes of missing keys. Later steps replace them.
    bool notes = false;
    // All blocks begin together. One whose first keys came after the whole
    // rings of others would end last. So nobody asks for more than a step of
    // each warpgroup before its first keys are there.
    constexpr int first_steps =
        Shape::warpgroups > key_loaders ? +Shape::warpgroups : +key_loaders;
    bool begun = false;
#pragma unroll 1
    while (step < range.end) {
      const Part now = next;
      const unsigned others = ~__ballot_sync(0xFFFFFFFFu, is_whole(now));
      notes |= __any_sync(0xFFFFFFFFu, now.rows > 0 && !now.payload);
#pragma unroll 1
      for (int i = 0; i < batch && step < range.end; ++i) {
        const int first_lane = i * segments;
        if (!begun && step >= range.begin + first_steps) {
          wait_for_phase(full(first), 0);
          begun = true;
        }
        wait_for_phase(empty(stage.number), stage.parity);
        if (notes || others << (32 - segments - first_lane) >> (32 - segments))
          copy_segments(now, first_lane, stage.number);
        else
          copy_whole_segments(now, first_lane, stage.number);
        __syncwarp();
        // Not before the first copies, because this waits for the page table.
        if (i == 1)
          next = find_own(step + (batch - 1) * key_loaders);
        step += key_loaders;
        stage.advance(key_loaders);
      }
    }
  }

  // A lane has some keys of a step. Their pages are known one step ahead.
  __device__ __forceinline__ void load_single_keys(const IndexRange &range,
                                                   int first) {
    Cursor at(range.group, range.group_start, limit);
    const auto find_keys = [&](Part(&parts)[lane_keys], int step) {
      if (step >= range.end)
        return;
      while (step >= at.stop)
        at.advance();
#pragma unroll
      for (int i = 0; i < lane_keys; ++i)
        parts[i] = find(at, step, lane + 32 * i, 1);
    };
    Stage stage{first, 1};
    Part next[lane_keys];
    find_keys(next, range.begin + first);
    sync_warps(key_barrier, key_barrier_threads);
#pragma unroll 1
    for (int step = range.begin + first; step < range.end;
         step += key_loaders) {
      Part now[lane_keys];
#pragma unroll
      for (int i = 0; i < lane_keys; ++i)
        now[i] = next[i];
      find_keys(next, step + key_loaders);
      wait_for_phase(empty(stage.number), stage.parity);
      copy_keys(now, stage.number);
      stage.advance(key_loaders);
    }
  }

  // Where a lane's segment goes.
  __device__ __forceinline__ unsigned payload_at(int stage) const {
    const int key = lane % segments * segment;
    return stage_at(stage) + key / Shape::tile_keys * Shape::tile_bytes +
           key % Shape::tile_keys * Shape::payload;
  }
  __device__ __forceinline__ unsigned scales_at(int stage) const {
    const int key = lane % segments * segment;
    return stage_at(stage) + key / Shape::tile_keys * Shape::tile_bytes +
           Shape::tile_keys * Shape::payload +
           key % Shape::tile_keys * Shape::scales;
  }

  // Whether all keys of a segment are there and, of a whole tile, the scales
  // follow the payloads.
  __device__ __forceinline__ static bool is_whole(const Part &part) {
    return part.payload && part.rows == segment &&
           (segment < Shape::tile_keys ||
            part.scales == part.payload + segment * Shape::payload);
  }
  // A step of such segments: those of the lanes from `first_lane` on. This is
  // what most steps are, and the schedulers are busy with warps that compute,
  // so that few instructions matter.
  __device__ __forceinline__ void
  copy_whole_segments(const Part &part, int first_lane, int stage) {
    if (lane == first_lane)
      arrive_expecting(full(stage), Shape::stage_bytes);
    else
      arrive(full(stage));
    if (lane / segments != first_lane / segments)
      return;
    constexpr int payloads = segment * Shape::payload,
                  scales = segment * Shape::scales;
    if constexpr (segment == Shape::tile_keys) {
      copy_bulk<Config::keys_once>(payload_at(stage), part.payload,
                                   payloads + scales, full(stage));
    } else {
      copy_bulk<Config::keys_once>(payload_at(stage), part.payload, payloads,
                                   full(stage));
      copy_bulk<Config::keys_once>(scales_at(stage), part.scales, scales,
                                   full(stage));
    }
  }

  // Any step, in the same way.
  __device__ __forceinline__ void copy_segments(const Part &part,
                                                int first_lane, int stage) {
    const bool own = lane / segments == first_lane / segments;
    const bool there = part.payload != nullptr;
    const int rows = own && there ? part.rows : 0;
    const unsigned missing =
        __ballot_sync(0xFFFFFFFFu, own && part.rows > 0 && !there) >>
        first_lane;
    unsigned word = 0;
    if (missing) {
#pragma unroll
      for (int i = 0; i < segments; ++i)
        if (missing >> i & 1 && i * segment / 32 <= lane &&
            lane <= ((i + 1) * segment - 1) / 32)
          word |= segment >= 32
                      ? 0xFFFFFFFFu
                      : ((1u << segment % 32) - 1) << i * segment % 32;
    }
    note_missing(stage, word);
    const unsigned payload_to = payload_at(stage), scales_to = scales_at(stage);
    // The scales' last words are not 16 bytes.
    const int in_bulk = rows * Shape::scales & ~15;
#pragma unroll 1
    for (int i = in_bulk; i < rows * Shape::scales; i += 4)
      st_shared_4(scales_to + i, load<unsigned>(part.scales + i));
    const int bytes = rows * Shape::payload + in_bulk;
    const int total = (int)__reduce_add_sync(0xFFFFFFFFu, (unsigned)bytes);
    // Every lane arrives for what it stored.
    if (lane == 0)
      arrive_expecting(full(stage), total);
    else
      arrive(full(stage));
    if (rows > 0) {
      if (segment == Shape::tile_keys && rows == segment &&
          part.scales == part.payload + rows * Shape::payload) {
        copy_bulk<Config::keys_once>(payload_to, part.payload, bytes,
                                     full(stage));
      } else {
        copy_bulk<Config::keys_once>(payload_to, part.payload,
                                     rows * Shape::payload, full(stage));
        if (in_bulk > 0)
          copy_bulk<Config::keys_once>(scales_to, part.scales, in_bulk,
                                       full(stage));
      }
    }
  }

  // Some keys per lane, each in words.
  __device__ __forceinline__ void copy_keys(const Part (&parts)[lane_keys],
                                            int stage) {
    unsigned word = 0;
#pragma unroll
    for (int i = 0; i < lane_keys; ++i) {
      const bool there = parts[i].payload != nullptr;
      const unsigned missing =
          __ballot_sync(0xFFFFFFFFu, parts[i].rows > 0 && !there);
      word = lane == i ? missing : word;
      if (!there)
        continue;
      const int key = lane + 32 * i;
      const unsigned tile =
          stage_at(stage) + key / Shape::tile_keys * Shape::tile_bytes;
      const unsigned payload_to =
          tile + key % Shape::tile_keys * Shape::payload;
#pragma unroll
      for (int at = 0; at < Shape::payload; at += Config::align)
        copy_async<Config::align>(payload_to + at, parts[i].payload + at);
      const unsigned scales_to = tile + Shape::tile_keys * Shape::payload +
                                 key % Shape::tile_keys * Shape::scales;
#pragma unroll
      for (int at = 0; at < Shape::scales; at += 4)
        copy_async<4>(scales_to + at, parts[i].scales + at);
    }
    note_missing(stage, word);
    arrive_after_copies(full(stage));
    arrive(full(stage));
  }

  // The queries of a group, by `Threads` threads of which this one is `thread`.
  template <int Threads>
  __device__ __forceinline__ void bring_queries(int thread, int group,
                                                int slot) {
    const unsigned to =
        base + Shape::queries_at + slot * Shape::queries * Shape::query_bytes;
    load_index_queries<Config, Threads>(
        thread, group, index_products_scale<Config, products>(), query, weight,
        limit,
        [&](int i, int head, int word, unsigned bits) {
          // Lane c has word 8c + unit of a head.
          const int unit = word % 8, c = word / 8;
          const unsigned row = to + i * Shape::query_bytes + head * 128;
          if constexpr (in_f16) {
            unsigned pairs[2];
            f16_of<index_query_type<Config>()>(pairs, bits);
#pragma unroll
            for (int half = 0; half < 2; ++half)
              st_shared_4(row + unit / 4 * panel +
                              ((unit % 4 * 2 + half) ^ (head & 7)) * 16 + 4 * c,
                          pairs[half]);
          } else {
            st_shared_4(row + (unit ^ (head & 7)) * 16 + 4 * c, bits);
          }
        },
        [&](int i, const auto &values) {
          const int row = slot * Shape::queries + i;
          char *weights =
              memory + Shape::weights_at + row * Shape::weight_bytes;
          put_index_weights<Config>(weights, values);
          // The weights of products in f32 have a factor 1/2.
          if constexpr (adds_in_f16)
            put_half_weights<Config>(
                memory + Shape::halves_at + row * Shape::half_bytes, weights,
                1 + magnitude_exponent - index_key_exponent<products>());
        });
    if (thread < Shape::queries)
      ((int *)(memory + Shape::limits_at))[slot * Shape::queries + thread] =
          limit(group * Shape::queries + thread);
    fence_for_async();
  }

  // All warps that compute bring the first queries, because they wait for them.
  __device__ __forceinline__ void load_first_queries(const IndexRange &range) {
    if (range.begin != range.end)
      bring_queries<Shape::consumers>(threadIdx.x, range.group, 0);
    sync_warps(compute_barrier, compute_barrier_threads);
  }
  __device__ __forceinline__ void load_later_queries(const IndexRange &range) {
    sync_warps(query_barrier, query_loaders);
    if (range.begin == range.end)
      return;
    Cursor at(range.group, range.group_start, limit);
    const int thread = (warp - 4 * Shape::warpgroups - key_loaders) * 32 + lane;
    int slot = 0, parity = 1;
    // The first queries are waited for at the barrier above.
    arrive(query_full(slot));
#pragma unroll 1
    while (at.stop < range.end) {
      at.advance();
      if (++slot == Shape::slots) {
        slot = 0;
        parity ^= 1;
      }
      wait_for_phase(query_empty(slot), parity);
      bring_queries<query_loaders>(thread, at.group, slot);
      if (thread == 0)
        st_shared_16(group_at(slot), at.group, at.start, at.stop, 0);
      arrive(query_full(slot));
    }
  }

  char *memory;
  unsigned base;
  Page page;
  Query query;
  Weight weight;
  Limit limit;
  int warp, lane;
};

} // namespace dsv4

#endif // __CUDACC__
