//===- topk_tiles.cuh - Top-k of scores that come as tiles ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile source computes scores of several rows together, once, in an order of
// its own, as tensor cores do. The selection cannot request a column. So the
// source drives: it passes fragments to the selection, which keeps the
// candidates.
//
//   limit(row)           number of columns of row `row` of the block.
//   source(consume)      called by all threads of the block. Those of the
//                        first `Config::warps` warps call
//                        consume(values, map) together, the same number of
//                        times; other warps, which may load for them, do not.
//                        consume.columns() is the largest limit: later columns
//                        need not come. Only threads that consume may call it.
//   map(item)            position of item `item` of this thread's `values`:
//                        row, column, and whether this thread owns it. An
//                        element comes once, and has at most one owner.
//   score(row, column, value)
//                        the score of a value of the source, a Vec<float, 1>;
//                        called for owned elements below the limit only.
//   emit(row, rank, index, value)
//                        called once for each rank below Config::k of each row.
//
// Only the warps that consume wait, at barrier `Config::barrier`; the source
// may use the others. The caller provides shared memory for
// `TopkTilesShared<Config>`.
//
// A config is a struct with the members of TopkTilesDefaults, and
//
//   k             elements that are selected
//   rows          rows of the block
//   tile_columns  maximum columns of one row in one call of consume()
//   shared_bytes  sizeof(TopkTilesShared<Config>), if the compiler plans the
//                 block's shared memory
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/tiles.cuh"
#include "select/topk.cuh"

namespace dsv4 {

struct TopkTilesDefaults {
  // The number of warps that consume, from the first on.
  static constexpr int warps = 4;
  static constexpr int barrier = 1;
  static constexpr TopkOrder order = TopkOrder::unordered;
  static constexpr bool largest = true;
  // Whether the higher index wins among equal elements.
  static constexpr bool ties_high = false;
};

// The score of an element is the value of the source.
struct SourceScore {
  __device__ __forceinline__ Vec<float, 1>
  operator()(int, int, const Vec<float, 1> &value) const {
    return value;
  }
};

// Candidates per row: the best so far, and those of a tile.
template <typename Config>
__device__ constexpr int topk_tiles_capacity() {
  return 1 << ceil_log2(Config::k + Config::tile_columns);
}

// The part of a kernel's shared memory that a selection from tiles needs.
template <typename Config>
struct TopkTilesShared {
  TopkEntry list[Config::rows][topk_tiles_capacity<Config>()];
  // The rank that an element must exceed; 0 until k elements are known.
  TopkRank bound[Config::rows];
  int limit[Config::rows];
  unsigned taken[Config::rows], pending[Config::rows];
};

template <typename Config>
class TopkTiles {
public:
  enum : int {
    k = Config::k,
    rows = Config::rows,
    threads = 32 * Config::warps,
    capacity = topk_tiles_capacity<Config>()
  };
  static_assert(k >= 1 && rows >= 1 && Config::tile_columns >= 1,
                "k, rows and tile_columns are positive");
  static_assert(Config::barrier >= 1 && Config::barrier <= 15,
                "barrier 0 is that of all threads");

  __device__ __forceinline__ explicit TopkTiles(TopkTilesShared<Config> &shared)
      : shared(shared) {}

  __device__ __forceinline__ static bool participates() {
    return (int)threadIdx.x < threads;
  }

  template <typename Limit>
  __device__ __forceinline__ void begin(Limit limit) {
    for (int row = threadIdx.x; row < rows; row += threads) {
      shared.bound[row] = 0;
      shared.limit[row] = limit(row);
      shared.taken[row] = 0;
      shared.pending[row] = 0;
    }
    wait();
  }

  __device__ __forceinline__ int columns() const {
    int columns = 0;
#pragma unroll
    for (int row = 0; row < rows; ++row)
      columns = ::max(columns, shared.limit[row]);
    return columns;
  }

  template <int Items, typename Map, typename Score>
  __device__ __forceinline__ void consume(const float (&given)[Items], Map map,
                                          Score score) {
    float values[Items];
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const TilePosition at = map(i);
      values[i] = given[i];
      if (counts(at))
        values[i] = score(at.row, at.column, fill<Vec<float, 1>>(given[i]))[0];
      if (exceeds(values[i], at))
        add_shared(shared.pending, at.row, 1);
    }
    wait();
    // Every thread sees the same numbers, because no thread changes them before
    // the next wait.
#pragma unroll 1
    for (int row = 0; row < rows; ++row)
      if (shared.taken[row] + shared.pending[row] > capacity)
        reduce(row);
    wait();
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const TilePosition at = map(i);
      if (exceeds(values[i], at))
        shared.list[at.row][fetch_add_shared(shared.taken, at.row, 1)] =
            topk_entry(oriented(values[i]), at.column);
    }
    for (int row = threadIdx.x; row < rows; row += threads)
      shared.pending[row] = 0;
    wait();
  }

  template <typename Emit>
  __device__ __forceinline__ void finish(Emit emit) {
#pragma unroll 1
    for (int row = 0; row < rows; ++row) {
      const int found = (int)shared.taken[row];
      const int count = found < k ? found : k;
      if (found > k || Config::order == TopkOrder::sorted)
        sort(row, found,
             [](TopkEntry a, TopkEntry b) { return rank_of(a) > rank_of(b); });
      if (Config::order == TopkOrder::index_ascending)
        sort(row, count, [](TopkEntry a, TopkEntry b) {
          return topk_index(a) < topk_index(b);
        });
#pragma unroll 1
      for (int rank = threadIdx.x; rank < k; rank += threads) {
        TopkEntry entry = topk_entry(as_float(0xFF800000u), -1);
        if (rank < count)
          entry = shared.list[row][rank];
        emit(row, rank, topk_index(entry), oriented(topk_value(entry)));
      }
    }
  }

private:
  __device__ __forceinline__ static void wait() {
    sync_warps(Config::barrier, threads);
  }

  // From a value to its form for comparison, and back.
  __device__ __forceinline__ static float oriented(float value) {
    return Config::largest ? value : as_float(as_unsigned(value) ^ 0x80000000u);
  }

  __device__ __forceinline__ static TopkRank rank_of(TopkEntry entry) {
    return topk_rank<Config::ties_high>(entry);
  }

  __device__ __forceinline__ bool counts(TilePosition at) {
    return at.owned && at.column < shared.limit[at.row];
  }

  __device__ __forceinline__ bool exceeds(float value, TilePosition at) {
    return counts(at) && rank_of(topk_entry(oriented(value), at.column)) >
                             shared.bound[at.row];
  }

  // Reduces a row to its k best, with the last one as the bound. Then there is
  // room for a tile.
  __device__ __forceinline__ void reduce(int row) {
    const int found = (int)shared.taken[row];
    sort(row, found,
         [](TopkEntry a, TopkEntry b) { return rank_of(a) > rank_of(b); });
    if (threadIdx.x == 0) {
      shared.bound[row] = rank_of(shared.list[row][k - 1]);
      shared.taken[row] = k;
    }
  }

  // A bitonic sort in which all runs go forwards: their first exchange is
  // between mirrored slots, so missing entries need no memory.
  template <typename Precedes>
  __device__ __forceinline__ void sort(int row, int count, Precedes precedes) {
    TopkEntry *list = shared.list[row];
    int size = 1;
    while (size < count)
      size *= 2;
#pragma unroll 1
    for (int run = 2; run <= size; run *= 2) {
#pragma unroll 1
      for (int distance = run / 2; distance > 0; distance /= 2) {
        wait();
#pragma unroll 1
        for (int i = threadIdx.x; i < size / 2; i += threads) {
          const int first = 2 * i - (i & (distance - 1));
          const int second =
              2 * distance == run ? first ^ (run - 1) : first + distance;
          if (second < count) {
            const TopkEntry a = list[first], b = list[second];
            if (precedes(b, a)) {
              list[first] = b;
              list[second] = a;
            }
          }
        }
      }
    }
    wait();
  }

  TopkTilesShared<Config> &shared;
};

template <typename Config, typename Score>
struct TopkTilesConsumer {
  TopkTiles<Config> &selection;
  Score score;

  template <int Items, typename Map>
  __device__ __forceinline__ void operator()(const float (&values)[Items],
                                             Map map) const {
    selection.consume(values, map, score);
  }
  __device__ __forceinline__ int columns() const { return selection.columns(); }
};

// Selects the k best of each row of the block.
template <typename Config, typename Limit, typename Source, typename Score,
          typename Emit>
__device__ __forceinline__ void topk_tiles(TopkTilesShared<Config> &shared,
                                           Limit limit, Source source,
                                           Score score, Emit emit) {
  TopkTiles<Config> selection(shared);
  if (selection.participates())
    selection.begin(limit);
  source(TopkTilesConsumer<Config, Score>{selection, score});
  if (selection.participates())
    selection.finish(emit);
}

// The same with Config::shared_bytes bytes of shared memory from `memory` on,
// aligned to 16 bytes.
template <typename Config, typename Limit, typename Source, typename Score,
          typename Emit>
__device__ __forceinline__ void
topk_tiles(char *memory, Limit limit, Source source, Score score, Emit emit) {
  static_assert(sizeof(TopkTilesShared<Config>) == Config::shared_bytes,
                "shared_bytes is what the selection needs");
  topk_tiles(*(TopkTilesShared<Config> *)memory, limit, source, score, emit);
}

} // namespace dsv4
