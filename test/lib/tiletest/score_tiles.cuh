//===- score_tiles.cuh - Scores of rows, tile by tile -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile source that uses all that the protocol allows (docs/TileSources.md),
// not a fast one. Tiles come from the last to the first. A warp of its own
// loads the keys of one tile while the others compute the scores of another.
// Threads hold more elements than a tile has: nobody owns the rest.
//
// A config is a struct with the members of ScoreTilesDefaults, and rows,
// tile_columns, depth (elements of a query and of a key), columns (keys) and
// source_bytes (of shared memory).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_tiles.cuh"

namespace tiletest {

struct ScoreTilesDefaults {
  static constexpr int warps = 1;
};

// The source's part of the block's shared memory.
template <typename Config>
struct ScoreTilesShared {
  signed char query[Config::rows][Config::depth];
  signed char keys[2][Config::tile_columns][Config::depth];
};

// A barrier that the selection does not use.
enum : int { tile_barrier = 2 };

template <typename Config>
class ScoreTiles {
public:
  enum : int {
    rows = Config::rows,
    depth = Config::depth,
    elements = Config::rows * Config::tile_columns,
    consumers = 32 * Config::warps,
    threads = consumers + 32,
    // Of a tile, per thread: at least two.
    items = elements / consumers + 2,
    tiles = (Config::columns + Config::tile_columns - 1) / Config::tile_columns
  };

  __device__
      __forceinline__ explicit ScoreTiles(ScoreTilesShared<Config> &shared)
      : shared(shared) {}

  __device__ __forceinline__ static bool isProducer() {
    return (int)threadIdx.x >= consumers;
  }
  __device__ __forceinline__ static void wait() {
    dsv4::sync_warps(tile_barrier, threads);
  }

  // Of a row beyond the last one: zeros.
  __device__ __forceinline__ void loadQueries(const unsigned char *queries,
                                              int first_row, int row_count) {
    for (int i = threadIdx.x; i < rows * depth; i += threads) {
      const int row = first_row + i / depth;
      shared.query[i / depth][i % depth] =
          row < row_count ? (signed char)dsv4::load<unsigned char>(
                                &queries[(long long)row * depth + i % depth])
                          : (signed char)0;
    }
  }

  __device__ __forceinline__ void loadKeys(const unsigned char *keys,
                                           int tile) {
    for (int i = threadIdx.x - consumers; i < Config::tile_columns * depth;
         i += 32) {
      const int column = tile * Config::tile_columns + i / depth;
      shared.keys[tile % 2][i / depth][i % depth] =
          column < Config::columns
              ? (signed char)dsv4::load<unsigned char>(
                    &keys[(long long)column * depth + i % depth])
              : (signed char)0;
    }
  }

  template <typename Consume>
  __device__ __forceinline__ void compute(Consume consume, int tile) {
    float scores[items];
#pragma unroll
    for (int i = 0; i < items; ++i) {
      const int element = elementOf(i) % elements;
      const signed char *query = shared.query[element % rows];
      const signed char *key = shared.keys[tile % 2][element / rows];
      int sum = 0;
      for (int at = 0; at < depth; ++at)
        sum += query[at] * key[at];
      scores[i] = (float)sum;
    }
    consume(scores, [&](int item) {
      const int element = elementOf(item) % elements;
      const int column = tile * Config::tile_columns + element / rows;
      return dsv4::TilePosition{element % rows, column,
                                elementOf(item) < elements &&
                                    column < Config::columns};
    });
  }

private:
  // Some threads have none that others have not.
  __device__ __forceinline__ static int elementOf(int item) {
    return threadIdx.x * items + item;
  }

  ScoreTilesShared<Config> &shared;
};

// The dot products of `row_count` queries, of which the block has those from
// `first_row` on, and all keys.
template <typename Config, typename Consume>
__device__ __forceinline__ void
score_tiles(Consume consume, char *memory, const unsigned char *queries,
            const unsigned char *keys, int first_row, int row_count) {
  using Tiles = ScoreTiles<Config>;
  static_assert(sizeof(ScoreTilesShared<Config>) <= Config::source_bytes,
                "source_bytes is what the source needs");
  Tiles tiles(*(ScoreTilesShared<Config> *)memory);
  tiles.loadQueries(queries, first_row, row_count);
  // Of other blocks' columns, those that share a tile with this block's.
  const dsv4::TilePart part = consume.part();
  const int first = part.begin / Config::tile_columns;
  const int end = ::min(part.end, (int)Config::columns);
  const int last = (end + Config::tile_columns - 1) / Config::tile_columns - 1;
  if (Tiles::isProducer() && first <= last)
    tiles.loadKeys(keys, last);
  Tiles::wait();
#pragma unroll 1
  for (int tile = last; tile >= first; --tile) {
    if (!Tiles::isProducer())
      tiles.compute(consume, tile);
    else if (tile > first)
      tiles.loadKeys(keys, tile - 1);
    Tiles::wait();
  }
}

} // namespace tiletest
