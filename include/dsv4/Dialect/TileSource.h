//===- TileSource.h - Rows that come as tiles -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of row::TileSourceOpInterface (docs/TileSources.md).
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_TILESOURCE_H
#define DSV4_DIALECT_TILESOURCE_H

#include <cstdint>

namespace dsv4::row {

/// The part of tiled rows that the threads of a block have at a time.
struct TileShape {
  int64_t rows = 0;    ///< All rows of a block.
  int64_t columns = 0; ///< Maximum of one row per call of the consumer.
  int64_t warps = 0;   ///< The first ones of the block, which consume.
  /// Whether the rows of tiles are numbered among all rows of the kernel, and
  /// not among those of a block.
  bool countsAllRows = false;
};

/// The resources of a tile source in a block.
struct TileResources {
  int64_t threads = 0; ///< All of them, those that consume included.
  /// Of the block's shared memory, aligned to 16 bytes; 0: none.
  int64_t sharedBytes = 0;
};

} // namespace dsv4::row

#endif // DSV4_DIALECT_TILESOURCE_H
