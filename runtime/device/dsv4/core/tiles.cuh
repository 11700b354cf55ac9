//===- tiles.cuh - Rows that come as tiles ----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tile sources and those that consume tiles share (select/topk_tiles.cuh
// has the protocol), and the simplest consumer: it stores rows.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"

namespace dsv4 {

// Where an item of a fragment is: the row of the block, the column, and whether
// this thread owns it.
struct TilePosition {
  int row, column;
  bool owned;
};

// The columns of all rows that a source brings in this block. Parts begin at
// multiples of `unit`.
struct TilePart {
  enum : int { unit = 128 };
  int begin, end;

  __device__ __forceinline__ static TilePart whole() { return {0, 0x7FFFFFFF}; }
};

template <typename Emit>
struct TileStore {
  Emit emit;

  template <int Items, typename Map>
  __device__ __forceinline__ void operator()(const float (&values)[Items],
                                             Map map) const {
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const TilePosition at = map(i);
      if (at.owned)
        emit(at.row, at.column, values[i]);
    }
  }
  __device__ __forceinline__ static int columns() { return 0x7FFFFFFF; }
  __device__ __forceinline__ static TilePart part() {
    return TilePart::whole();
  }
};

// Calls emit(row, column, value) for every element of the source, on the thread
// that owns it.
template <typename Source, typename Emit>
__device__ __forceinline__ void store_tiles(Source source, Emit emit) {
  source(TileStore<Emit>{emit});
}

// Calls emit(row, values) for every row of a source that passes whole rows, by
// all lanes of a warp: `values` is a lane's part, as rows.cuh describes it.
template <typename Source, typename Emit>
__device__ __forceinline__ void hold_rows(Source source, Emit emit) {
  source(emit);
}

} // namespace dsv4
