//===- index_score_rows.cuh - Scores of keys, by tensor cores ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// index_score.cuh for operands as index_score_plain.cuh describes them: arrays,
// strides, and the regions `row` and `page`. index_score_block() is a tile
// source for the Config::queries rows of a block. index_score_grid() lets all
// blocks of the grid share `all_rows` rows, in groups of Config::queries. There
// a tile row is one of all rows, and the consumer must not wait for other
// warps.
//
// The rows of a group have the same keys: those of the first one, from its
// `first` on. Of a cache that is 0. Queries are aligned to 16 bytes.
//
// Every key of a row comes once, and every column below `columns`: -infinity
// where the row has no key, or the key no page.
//
// A config is a struct with the members of IndexScoreDefaults and
// IndexRowsDefaults, and
//
//   shared_bytes  index_score_shared<Config>()
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_score.cuh"

namespace dsv4 {

struct IndexRowsDefaults : IndexScoreDefaults {
  static constexpr long long key_base = 0, scale_base = 0;
};

// The regions of index_score.cuh, from those of rows.
template <typename Config, typename Query, typename QueryScale, typename Key,
          typename KeyScale, typename Row, typename Page>
struct IndexRows {
  const Query *queries;
  long long query_head;
  QueryScale query_scales;
  long long query_scale_head;
  const float *weights;
  const Key *keys;
  long long key_page;
  const KeyScale *key_scales;
  long long key_scale_page;
  Row row;
  Page page_of;

  __device__ __forceinline__ auto page() const {
    return [*this](int group, int number) {
      const int first_row = group * Config::queries;
      const long long at = page_of(first_row, number);
      if (at < 0)
        return IndexPage{nullptr, nullptr};
      const long long first = row(first_row).first;
      return IndexPage{(const char *)keys + Config::key_base + at * key_page +
                           first * Config::payload_stride,
                       (const char *)key_scales + Config::scale_base +
                           at * key_scale_page + first * Config::scale_stride};
    };
  }
  __device__ __forceinline__ auto query() const {
    return [*this](int at, int head) {
      const IndexRow begin = row(at);
      unsigned scales = 0;
      if constexpr (Config::query == IndexFormat::mxfp4)
        scales = load<unsigned>((const unsigned *)(query_scales + begin.scale +
                                                   head * query_scale_head));
      return IndexHead{queries + begin.query + head * query_head, scales};
    };
  }
  __device__ __forceinline__ auto weight() const {
    return [*this](int at, int head) {
      return load<float>(&weights[row(at).weight + head]);
    };
  }
  __device__ __forceinline__ auto limit() const {
    return [*this](int at) { return row(at).count; };
  }
};

// The threads that consume.
template <typename Config>
__device__ constexpr int index_rows_consumers() {
  return 128 * Config::warpgroups;
}

template <typename Config, typename Consume, typename Query,
          typename QueryScale, typename Key, typename KeyScale, typename Row,
          typename Page>
__device__ __forceinline__ void
index_score_grid(Consume consume, char *memory, int columns, int all_rows,
                 const Query *queries, long long query_head,
                 QueryScale query_scales, long long query_scale_head,
                 const float *weights, const Key *keys, long long key_page,
                 const KeyScale *key_scales, long long key_scale_page, Row row,
                 Page page) {
  static_assert(index_score_shared<Config>() == Config::shared_bytes,
                "shared_bytes is what the source needs");
  using Rows = IndexRows<Config, Query, QueryScale, Key, KeyScale, Row, Page>;
  const Rows rows{queries,        query_head, query_scales, query_scale_head,
                  weights,        keys,       key_page,     key_scales,
                  key_scale_page, row,        page};
  // While the first keys come.
  if ((int)threadIdx.x < index_rows_consumers<Config>())
    for_scores_beyond<index_rows_consumers<Config>() / 32>(
        all_rows, columns, rows.limit(), [&](int at, int column) {
          const float values[1] = {as_float(0xFF800000u)};
          consume(values, [&](int) { return TilePosition{at, column, true}; });
        });
  const int groups =
      (int)(((unsigned)all_rows + Config::queries - 1) / Config::queries);
  index_score_all<Config>(consume, memory, groups, rows.page(), rows.query(),
                          rows.weight(), rows.limit());
}

template <typename Config, typename Consume, typename Query,
          typename QueryScale, typename Key, typename KeyScale, typename Row,
          typename Page>
__device__ __forceinline__ void index_score_block(
    Consume consume, char *memory, int columns, const Query *queries,
    long long query_head, QueryScale query_scales, long long query_scale_head,
    const float *weights, const Key *keys, long long key_page,
    const KeyScale *key_scales, long long key_scale_page, Row row, Page page) {
  static_assert(index_score_shared<Config>() == Config::shared_bytes,
                "shared_bytes is what the source needs");
  using Rows = IndexRows<Config, Query, QueryScale, Key, KeyScale, Row, Page>;
  const Rows rows{queries,        query_head, query_scales, query_scale_head,
                  weights,        keys,       key_page,     key_scales,
                  key_scale_page, row,        page};
  const auto limit = rows.limit();
  index_score_group<Config>(consume, memory, 0, rows.page(), rows.query(),
                            rows.weight(), limit);
  if ((int)threadIdx.x >= index_rows_consumers<Config>())
    return;
  const TilePart part = consume.part();
  int first = columns;
  float values[Config::queries];
#pragma unroll
  for (int i = 0; i < Config::queries; ++i) {
    first = ::min(first, ::max(limit(i), 0));
    values[i] = as_float(0xFF800000u);
  }
  first = ::max(first, part.begin);
  const int end = ::min(::min(columns, consume.columns()), part.end);
  // As many as a selection has room for.
  constexpr int at_a_time = Config::warpgroups * IndexShape<Config>::step;
  const bool has_one = (int)threadIdx.x < at_a_time;
#pragma unroll 1
  for (int tile = first; tile < end; tile += at_a_time) {
    const int column = tile + (int)threadIdx.x;
    consume(values, [&](int i) {
      return TilePosition{i, column,
                          has_one && column < end && column >= limit(i)};
    });
  }
}

} // namespace dsv4
