//===- index_score_plain.cuh - Scores of keys, on any machine ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scores of the lightning indexer without tensor cores, as a tile source
// (select/topk_tiles.cuh): a thread has one key of each row at a time, and
// multiplies it by all queries of the row, which are in shared memory.
//
//   score = scale(key) * sum over h of weight[h] * relu(sum over d of q * k)
//
// Both sums are in fp32, one fused multiply-add per term, in the order of d and
// of h: a score depends on one query and one key alone.
//
//   row(tile_row)        where a row begins: dsv4::index_row().
//   page(tile_row, number)
//                        the page of keys [number * page_size, ...) of a row
//                        that has keys; negative: none, and nothing is read.
//
// Key s is entry s % page_size of its page. Entry e of page p begins at byte
// p * key_page + key_base + e * key_entry of `keys`, its scales alike. Every
// key of a row comes once, and every column below `columns`: -infinity where
// the row has no key, or the key no page.
//
// A config is a struct with the members of IndexPlainDefaults, and
//
//   rows          rows of the block
//   tile_columns  columns of one row in one call of consume(): all threads
//   heads, dim    queries of a row, and elements of one
//   query, key    formats (IndexFormat)
//   page_size     keys of a page
//   shared_bytes  sizeof(IndexPlainShared<Config>)
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"
#include "core/tiles.cuh"
#include "mma/index_row.cuh"
#include "rows/convert.cuh"

namespace dsv4 {

struct IndexPlainDefaults {
  static constexpr int key_base = 0, scale_base = 0;
  // Divisors of addresses.
  static constexpr int query_align = 1, key_align = 1, scale_align = 1;
};

// Elements that are read together, 16 bytes, and their scales.
template <IndexFormat>
struct IndexVector {
  using Elements = Vec<e2m1, 32>;
  using Scales = Vec<ue8m0, 1>;
};
template <>
struct IndexVector<IndexFormat::nvfp4> {
  using Elements = Vec<e2m1, 32>;
  using Scales = Vec<e4m3, 2>;
};
template <>
struct IndexVector<IndexFormat::e4m3> {
  using Elements = Vec<e4m3, 16>;
};
template <>
struct IndexVector<IndexFormat::bf16> {
  using Elements = Vec<bf16, 8>;
};

// The source's part of the block's shared memory: queries as pairs of bf16,
// which hold elements of all formats times their scales.
template <typename Config>
struct IndexPlainShared {
  unsigned query[Config::rows][Config::heads][Config::dim / 2];
  float weight[Config::rows][Config::heads];
};

// max(x, 0) that keeps NaN.
__device__ __forceinline__ float relu(float x) { return x < 0.0f ? 0.0f : x; }

// The vector with number `vector` of a key or a query whose elements begin at
// `from` and whose scales at `scales`, times the scales.
template <typename To, IndexFormat Format, int Align, int ScaleAlign>
__device__ __forceinline__ auto load_index_vector(const unsigned char *from,
                                                  const unsigned char *scales,
                                                  int vector) {
  using Vector = IndexVector<Format>;
  const auto elements =
      load<typename Vector::Elements, Align>(from + 16 * vector);
  if constexpr (Format == IndexFormat::e4m3 || Format == IndexFormat::bf16) {
    return convert<To>(elements);
  } else {
    using Scales = typename Vector::Scales;
    constexpr int bytes = Scales::vector_bytes;
    return dequantize<To>(elements,
                          load<Scales, ScaleAlign>(scales + bytes * vector));
  }
}

template <typename Config>
class IndexPlain {
public:
  enum : int {
    rows = Config::rows,
    heads = Config::heads,
    dim = Config::dim,
    threads = Config::tile_columns
  };

  __device__
      __forceinline__ explicit IndexPlain(IndexPlainShared<Config> &shared)
      : shared(shared) {}

  template <typename Query, typename Scale>
  __device__ __forceinline__ void
  load_queries(int row, const Query *queries, long long head_stride,
               const Scale *scales, long long scale_stride,
               const float *weights) {
    constexpr int vector_elements =
        IndexVector<Config::query>::Elements::vector;
    constexpr int vectors = dim / vector_elements;
#pragma unroll 1
    for (int i = threadIdx.x; i < heads * vectors; i += threads) {
      const int head = i / vectors, vector = i % vectors;
      const auto pairs =
          load_index_vector<bf16, Config::query, Config::query_align, 1>(
              (const unsigned char *)(queries + head * head_stride),
              (const unsigned char *)(scales + head * scale_stride), vector);
      unsigned *to = &shared.query[row][head][vector * vector_elements / 2];
#pragma unroll
      for (int word = 0; word < vector_elements / 2; ++word)
        to[word] = pairs.words[word];
    }
#pragma unroll 1
    for (int head = threadIdx.x; head < heads; head += threads)
      shared.weight[row][head] = load<float>(&weights[head]);
  }

  // The score of one key, but for the scale of a whole key.
  __device__ __forceinline__ float score(int row, const unsigned char *key,
                                         const unsigned char *scales) {
    constexpr int vector_elements = IndexVector<Config::key>::Elements::vector;
    float values[dim];
#pragma unroll
    for (int vector = 0; vector < dim / vector_elements; ++vector) {
      const auto part =
          load_index_vector<float, Config::key, Config::key_align,
                            Config::scale_align>(key, scales, vector);
#pragma unroll
      for (int i = 0; i < vector_elements; ++i)
        values[vector * vector_elements + i] = part[i];
    }
    float sum = 0.0f;
#pragma unroll 1
    for (int head = 0; head < heads; ++head) {
      const unsigned *query = shared.query[row][head];
      float product = 0.0f;
#pragma unroll
      for (int word = 0; word < dim / 2; ++word) {
        float pair[2];
        decode(pair, bf16(), query[word]);
        product = fma_f32(pair[0], values[2 * word], product);
        product = fma_f32(pair[1], values[2 * word + 1], product);
      }
      sum = fma_f32(shared.weight[row][head], relu(product), sum);
    }
    return sum;
  }

private:
  IndexPlainShared<Config> &shared;
};

template <typename Config, typename Consume, typename Query,
          typename QueryScale, typename Key, typename KeyScale, typename Row,
          typename Page>
__device__ __forceinline__ void index_score_plain(
    Consume consume, char *memory, int columns, const Query *queries,
    long long query_head, QueryScale query_scales, long long query_scale_head,
    const float *weights, const Key *keys, long long key_page,
    long long key_entry, KeyScale key_scales, long long key_scale_page,
    long long key_scale_entry, Row row, Page page) {
  static_assert(sizeof(IndexPlainShared<Config>) == Config::shared_bytes,
                "shared_bytes is what the source needs");
  constexpr int columns_of_tile = Config::tile_columns;
  IndexPlain<Config> scores(*(IndexPlainShared<Config> *)memory);
  int first[Config::rows], count[Config::rows], end = columns;
#pragma unroll
  for (int tile_row = 0; tile_row < Config::rows; ++tile_row) {
    const IndexRow begin = row(tile_row);
    first[tile_row] = begin.first;
    count[tile_row] = begin.count;
    end = ::max(end, begin.count);
    if (begin.count > 0) {
      if constexpr (Config::query == IndexFormat::mxfp4)
        scores.load_queries(tile_row, queries + begin.query, query_head,
                            query_scales + begin.scale, query_scale_head,
                            weights + begin.weight);
      else
        scores.load_queries(tile_row, queries + begin.query, query_head,
                            (const unsigned char *)nullptr, 0,
                            weights + begin.weight);
    }
  }
  const TilePart part = consume.part();
  end = ::min(::min(end, consume.columns()), part.end);
  __syncthreads();
#pragma unroll 1
  for (int tile = part.begin; tile < end; tile += columns_of_tile) {
    const int column = tile + (int)threadIdx.x;
    float values[Config::rows];
#pragma unroll
    for (int tile_row = 0; tile_row < Config::rows; ++tile_row) {
      values[tile_row] = as_float(0xFF800000u);
      if (column >= count[tile_row])
        continue;
      const int key = first[tile_row] + column;
      const int entry = key % Config::page_size;
      const long long at = page(tile_row, key / Config::page_size);
      if (at < 0)
        continue;
      const unsigned char *payload = (const unsigned char *)keys +
                                     Config::key_base + at * key_page +
                                     entry * key_entry;
      const unsigned char *scales = nullptr;
      if constexpr (Config::key != IndexFormat::bf16)
        scales = (const unsigned char *)key_scales + Config::scale_base +
                 at * key_scale_page + entry * key_scale_entry;
      const float score = scores.score(tile_row, payload, scales);
      values[tile_row] = score;
      // A word of pairs, because a float would have to be aligned.
      if constexpr (Config::key == IndexFormat::e4m3)
        values[tile_row] = mul_f32(
            as_float(load<Vec<bf16, 2>, Config::scale_align>(scales).words[0]),
            score);
    }
    consume(values, [&](int tile_row) {
      return TilePosition{tile_row, column,
                          column < end &&
                              column < ::max(columns, count[tile_row])};
    });
  }
}

} // namespace dsv4
