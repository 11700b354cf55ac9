//===- index_score_warps.cuh - Scores by single warps -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// index_score.cuh with products of single warps (below sm_90a, and from
// sm_100): a warp loads its keys to registers, 16 of each tile, and all have
// the queries of one group in shared memory. For CUDA only; the host has a twin
// of index_score.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_sums.cuh"

#ifdef __CUDACC__

namespace dsv4 {

template <typename Config, typename Page, typename Query, typename Weight,
          typename Limit>
class IndexScoreWarps {
public:
  using Shape = IndexShape<Config>;
  using Cursor = IndexCursor<Config, Limit>;

  __device__ __forceinline__ IndexScoreWarps(char *memory, Page page,
                                             Query query, Weight weight,
                                             Limit limit)
      : memory(memory), base(shared_address(memory)), page(page), query(query),
        weight(weight), limit(limit), warp(threadIdx.x / 32),
        lane(threadIdx.x % 32) {}

  template <bool AbsoluteRows, typename GetRange, typename Consume>
  __device__ __forceinline__ void run(GetRange get_range, Consume consume) {
    const IndexRange range = get_range();
    if (range.begin == range.end)
      return;
    Cursor group(range.group, range.group_start, limit);
#pragma unroll 1
    while (true) {
      sync_warps(barrier, Shape::threads);
      load_queries(group.group);
      sync_warps(barrier, Shape::threads);
      const int end = ::min(group.stop, range.end);
      if (warp < 4 * Shape::warpgroups)
#pragma unroll 1
        for (int turn = ::max(group.start, range.begin); turn < end;
             turn += Shape::warpgroups)
          score_step<AbsoluteRows>(group, turn + warp / 4, end, consume);
      if (group.stop >= range.end)
        break;
      group.advance();
    }
  }

private:
  enum : int { barrier = 2 };
  static constexpr IndexProducts products =
      Config::exact || !has_mma_f8 ? IndexProducts::f16 : IndexProducts::f8;
  enum : bool { in_f16 = products == IndexProducts::f16 };
  enum : int { head_row = Shape::depth * (in_f16 ? 2 : 1) };
  using Keys = IndexFragment<in_f16 ? 8 : 4>;

  __device__ __forceinline__ void load_queries(int group) {
    load_index_queries<Config, Shape::threads>(
        threadIdx.x, group, index_products_scale<Config, products>(), query,
        weight, limit,
        [&](int i, int head, int word, unsigned bits) {
          const unsigned to =
              base + (i * Shape::padded_heads + head) * head_row;
          const int unit = word % 8, c = word / 8;
          if constexpr (!in_f16) {
            st_shared_4(to + ((unit ^ (head & 7)) << 4) + 4 * c, bits);
          } else {
            unsigned halves[2];
            f16_of<index_query_type<Config>()>(halves, bits);
            // Two lanes c have 16 bytes.
            st_shared_8(to + ((2 * unit + c / 2) ^ (head & 7)) * 16 + c % 2 * 8,
                        halves[0], halves[1]);
          }
        },
        [&](int i, const auto &values) {
          put_index_weights<Config>(memory + Shape::plain_weights_at +
                                        i * Shape::weight_bytes,
                                    values);
        });
  }

  // Two keys of this lane, as expand_index_keys() takes them.
  struct RawKeys {
    unsigned words[2][Shape::payload / 16], scales[2];
    bool there[2];
  };
  __device__ __forceinline__ void load_key(RawKeys &to, int i,
                                           const Cursor &group, int column) {
    const int c = lane & 3;
    constexpr int bytes = Shape::payload / 4;
    IndexPage from{nullptr, nullptr};
    if (column < group.columns)
      from = page(group.group, column / Shape::page_size);
    const int entry = column % Shape::page_size;
    to.there[i] = from.payload != nullptr;
    load_bytes<bytes, Config::align, evict_normal>(
        to.words[i], to.there[i],
        (const char *)from.payload + (long long)entry * Shape::payload_stride +
            c * bytes);
    // The word with the scales of this lane's groups.
    const int word = Shape::keys_nvfp4 ? c / 2 : 0;
    to.scales[i] = load_if<unsigned>(
        to.there[i], (const char *)from.scales +
                         (long long)entry * Shape::scale_stride + 4 * word);
    if constexpr (Shape::keys_mxfp4)
      to.scales[i] = to.scales[i] >> 8 * c & 0xFF;
    if constexpr (Shape::keys_nvfp4)
      to.scales[i] = to.scales[i] >> 16 * (c % 2) & 0xFFFF;
  }

  template <bool AbsoluteRows, typename Consume>
  __device__ __forceinline__ void score_step(const Cursor &group, int step,
                                             int end, Consume consume) {
    const bool there = step < end;
    const int first = (step - group.start) * Shape::step;
    Keys keys[Shape::tiles];
    bool gone = false;
    if (there) {
      RawKeys raw[Shape::tiles];
#pragma unroll
      for (int t = 0; t < Shape::tiles; ++t)
#pragma unroll
        for (int i = 0; i < 2; ++i)
          load_key(raw[t], i, group,
                   first + t * Shape::tile_keys + warp % 4 * 16 + i * 8 +
                       lane / 4);
#pragma unroll
      for (int t = 0; t < Shape::tiles; ++t)
        expand_index_keys<Config, products>(
            keys[t], raw[t].words, raw[t].scales, window, [&](auto &words) {
#pragma unroll
              for (int j = 0; j < 8; ++j)
                words[j / 4][j % 4] = raw[t].words[j / 4][j % 4];
            });
      const int own = Shape::tiles == 2 ? lane >> 1 & 1 : 0;
      const bool odd = lane & 1;
      const auto &own_tile = own ? raw[Shape::tiles - 1] : raw[0];
      gone = !(odd ? own_tile.there[1] : own_tile.there[0]);
    }
    float values[Shape::queries];
#pragma unroll
    for (int i = 0; i < Shape::queries; ++i)
      values[i] = 0;
    if (there) {
      const float key_scale = own_scale(keys, lane & 2);
#pragma unroll 1
      for (int i = 0; i < Shape::queries; ++i) {
        IndexSums sums[Shape::tiles];
        multiply(sums, keys, i);
        float value =
            mul_f32(own_sum<Shape::tiles>(sums, lane & 1, lane & 2), key_scale);
        value = gone ? as_float(0xFF800000u) : value;
#pragma unroll
        for (int j = 0; j < Shape::queries; ++j)
          values[j] = i == j ? value : values[j];
      }
    }
    const int column = first + IndexLane<Config>::key();
    consume(values, [&](int i) {
      const int row = group.group * Shape::queries + i;
      return TilePosition{AbsoluteRows ? row : i, column,
                          there && IndexLane<Config>::owns() &&
                              column < limit(row)};
    });
  }

  __device__ __forceinline__ void multiply(IndexSums (&sums)[Shape::tiles],
                                           const Keys (&keys)[Shape::tiles],
                                           int query_of_group) {
    const int c = lane & 3;
    const unsigned weights = shared_address(memory + Shape::plain_weights_at) +
                             query_of_group * Shape::weight_bytes +
                             c * (Shape::lane_weights + 4) * 4;
#pragma unroll 1
    for (int heads = 0; heads < Shape::padded_heads; heads += 8) {
      const int head = query_of_group * Shape::padded_heads + heads + lane / 4;
      const unsigned row = base + head * head_row;
      float d[Shape::tiles][4] = {};
      if constexpr (in_f16) {
#pragma unroll
        for (int s = 0; s < 8; ++s) {
          unsigned b[2];
          ld_shared_8(b, row + ((2 * s + c / 2) ^ (head & 7)) * 16 + c % 2 * 8);
#pragma unroll
          for (int t = 0; t < Shape::tiles; ++t)
            mma_f16(d[t], keys[t].a[s], b[0], b[1]);
        }
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const unsigned b0 =
              ld_shared_4(row + (2 * j ^ (head & 7)) * 16 + 4 * c);
          const unsigned b1 =
              ld_shared_4(row + ((2 * j + 1) ^ (head & 7)) * 16 + 4 * c);
#pragma unroll
          for (int t = 0; t < Shape::tiles; ++t)
            mma_f8<index_keys_type<Config>(), index_query_type<Config>()>(
                d[t], keys[t].a[j], b0, b1);
        }
      }
      const unsigned from = weights +
                            heads / Shape::head_tile * Shape::weight_row * 4 +
                            heads % Shape::head_tile;
      unsigned pair[2];
      ld_shared_8(pair, from);
      const float final_weights[2] = {as_float(pair[0]), as_float(pair[1])};
#pragma unroll
      for (int t = 0; t < Shape::tiles; ++t)
        sums[t].add(d[t], final_weights);
    }
  }

  char *memory;
  unsigned base;
  Page page;
  Query query;
  Weight weight;
  Limit limit;
  int warp, lane;
  ScaleWindow<QueryMagnitudes::max_distance> window;
};

} // namespace dsv4

#endif // __CUDACC__
