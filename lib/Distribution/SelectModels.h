//===- SelectModels.h - What selections share -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_DISTRIBUTION_SELECTMODELS_H
#define DSV4_LIB_DISTRIBUTION_SELECTMODELS_H

#include "Models.h"

#include "dsv4/Dialect/CUDA/SelectOps.h"
#include "dsv4/Dialect/Row/SelectOps.h"

namespace dsv4 {

cuda::SelectOrder convert(row::SelectOrder order);

/// Refuses what writes memory other than by a row.write of the program itself:
/// a thread that selects has ranks of a row.
llvm::LogicalResult verifyEffects(Distribution &d);

/// The writes of whole rows, of which `select` has only parts.
llvm::SmallVector<row::WriteOp> findRowWrites(row::SelectOp select,
                                              Distribution &d);
/// Refuses them.
llvm::LogicalResult verifyWritesOf(row::SelectOp select, Distribution &d);

/// Emits the results of the rank of `select` that `thread` sees, and of its
/// value. `ranks` threads have one each; those after the last rank of the
/// selection take part, and store nothing.
llvm::LogicalResult emitRank(row::SelectOp select, Distribution &thread,
                             mlir::Value value, int64_t ranks);

/// The op that computes `scores` tile by tile, except for later ops that are
/// elementwise; null if they can be computed otherwise.
row::TileSourceOpInterface findTileSource(mlir::Value scores);

/// Refuses a source that the schedule is not for, and one that takes values of
/// one row.
llvm::LogicalResult verifyTileSource(row::TileSourceOpInterface source,
                                     Distribution &d);
/// A part of the block's shared memory; null of no bytes.
mlir::Value allocateTiles(Distribution &d, int64_t bytes);
/// Waits for the previous kernel, unless the source does, and lets dependent
/// kernels start where blocks have ended.
void waitForRows(row::TileSourceOpInterface source, Distribution &d);
/// Emits a source into the region of a call that consumes what it passes:
/// `emit` does so with the distribution of the region, and what is called.
llvm::LogicalResult emitSource(
    Distribution &d, mlir::Region &region,
    llvm::function_ref<llvm::LogicalResult(Distribution &, mlir::Value)> emit);
/// The same of tiles, with `memory` for the source.
llvm::LogicalResult emitTileSource(row::TileSourceOpInterface source,
                                   Distribution &d, mlir::Value memory,
                                   mlir::Region &region);

/// What a warp is given of a selection: refuses what it cannot do, and emits
/// the selection from a row that its lanes hold.
llvm::LogicalResult verifySelection(row::SelectOp select, Distribution &d);
llvm::LogicalResult selectFromHeldRow(row::SelectOp select, Distribution &row);

/// Selects where an op hands rows to warps.
llvm::LogicalResult distributeSelectHeld(row::SelectOp select, Distribution &d);

/// Selects from such scores.
llvm::LogicalResult distributeSelectTiles(row::SelectOp select,
                                          row::TileSourceOpInterface source,
                                          Distribution &d);

} // namespace dsv4

#endif // DSV4_LIB_DISTRIBUTION_SELECTMODELS_H
