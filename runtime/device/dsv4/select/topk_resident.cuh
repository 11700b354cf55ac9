//===- topk_resident.cuh - Top-k of tiles in shared memory ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Top-k of scores that come as tiles, as topk_tiles.cuh describes, and stay in
// shared memory until all are there. Then all threads of the block, or of a
// cluster, select from them as from rows in memory. Each block of a cluster has
// an equal part of the columns, which it passes to the source, so that as many
// multiprocessors as blocks compute the scores of one row.
//
//   limit(row), source(consume), map(item), score(row, column, value),
//   emit(row, rank, index, value)
//                        as in topk_tiles.cuh, but for what is said here.
//                        limit(row) is the same whenever it is called.
//                        consume() waits for nothing, so that threads may call
//                        it any number of times. consume.columns() is the end
//                        of the block's part.
//
// A config is that of a selection by blocks (topk.cuh) with a row in registers
// and vectors of 4, the members of TopkResidentDefaults, and
//
//   shared_bytes  topk_resident_shared<Config>()
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/tiles.cuh"
#include "select/topk_spread.cuh"
#include "select/topk_tiles.cuh"

namespace dsv4 {

struct TopkResidentDefaults : TopkDefaults {
  static constexpr int rows = 1; // of a block or cluster
};

template <typename Config>
__device__ constexpr int topk_resident_shared() {
  return Config::rows * TopkShape<Config>::round * (int)sizeof(float);
}

// Stores what the source passes.
template <typename Config>
struct TopkResidentConsumer {
  float *scores;
  TilePart columns_here;

  template <int Items, typename Map>
  __device__ __forceinline__ void operator()(const float (&values)[Items],
                                             Map map) const {
    constexpr int round = TopkShape<Config>::round;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const TilePosition at = map(i);
      const int column = at.column - columns_here.begin;
      if (at.owned && (unsigned)column < (unsigned)round)
        scores[at.row * round + column] = values[i];
    }
  }
  __device__ __forceinline__ int columns() const { return columns_here.end; }
  __device__ __forceinline__ TilePart part() const { return columns_here; }
};

// Four scores.
struct __align__(16) TopkResidentVector {
  float values[4];

  __device__ __forceinline__ float operator[](int i) const { return values[i]; }
};

// The score of the element of a source, if there is one.
template <typename Score>
__device__ __forceinline__ float
topk_resident_score(Score score, bool there, int row, int column, float value) {
  return there ? score(row, column, fill<Vec<float, 1>>(value))[0] : value;
}
__device__ __forceinline__ float topk_resident_score(SourceScore, bool, int,
                                                     int, float value) {
  return value;
}

// Selects the k best of each row of the block or cluster, with shared memory
// from `memory` on, aligned to 16 bytes. All threads of the block call it.
template <typename Config, typename Limit, typename Source, typename Score,
          typename Emit>
__device__ __forceinline__ void topk_resident(char *memory, Limit limit,
                                              Source source, Score score,
                                              Emit emit) {
  static_assert(topk_resident_shared<Config>() == Config::shared_bytes,
                "shared_bytes is what the selection needs");
  static_assert(Config::vector == 4, "vectors of 4");
  using Shape = TopkShape<Config>;
  constexpr int size = Config::cluster;
  int columns = 0;
#pragma unroll
  for (int row = 0; row < Config::rows; ++row)
    columns = ::max(columns, (int)limit(row));
  const TopkRange range =
      topk_range<Shape>(cluster_rank<size>(), size, columns);
  float *const scores = (float *)memory;
  const TilePart part{range.begin < range.end ? range.begin : 0,
                      range.begin < range.end ? range.end : 0};
  source(TopkResidentConsumer<Config>{scores, part});
  __syncthreads();
#pragma unroll 1
  for (int row = 0; row < Config::rows; ++row) {
    // One row's is still known.
    const int length = Config::rows == 1 ? columns : (int)limit(row);
    const float *own = scores + row * Shape::round;
    // Of columns in other blocks it loads any, which do not count.
    const auto load_own = [&](int column) {
      auto vector =
          *(const TopkResidentVector *)(own + ::max(column - range.begin, 0));
#pragma unroll
      for (int i = 0; i < 4; ++i)
        vector.values[i] = topk_resident_score(score, column + i < length, row,
                                               column + i, vector.values[i]);
      return vector;
    };
    const auto emit_own = [&](int rank, int index, float value) {
      emit(row, rank, index, value);
    };
    if constexpr (size > 1)
      topk_spread<Config>(
          length, 0, load_own, emit_own,
          TopkGivenPart{{range.begin, ::min(range.end, length)}});
    else
      topk_block<Config>(length, load_own, emit_own);
    if (row + 1 < Config::rows)
      __syncthreads();
  }
}

} // namespace dsv4
