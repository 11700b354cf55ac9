//===- ScaleLayout.cpp - Scales in other orders than that of rows ---------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In every layout the scales of a row are runs of neighbours at one distance,
// from an element on that depends on the row.
//
//===----------------------------------------------------------------------===//

#include "ScaleLayout.h"

#include "dsv4/Dialect/DSV4/QuantizeOps.h"
#include "dsv4/Dialect/Row.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

/// Groups that follow each other in a word or in a row of a block.
static constexpr int64_t kRun = 4;

namespace {
/// The scales of a row in memory.
struct Runs {
  Value offset, stride; ///< Counted in scales.
  int64_t run = 1;
  Value isStored; ///< Whether the tensor has the row.
};
} // namespace

/// Of the layouts whose tensors have a row of all rows for each group, or for
/// each `run` of groups.
static Runs locateColumns(RowContext &row, Value tensor, int64_t run) {
  return {row.mul(row.getRow(), row.constant(run), "scale"),
          row.mul(row.getStride(tensor, 0), row.constant(run)), run,
          row.isBelow(row.getRow(), row.getExtent(tensor, 1))};
}

/// Of a block of `rows` rows of one run each: rows that are `apart` from each
/// other follow each other.
static Runs locateInBlocks(RowContext &row, Value tensor, int64_t rows,
                           int64_t apart, int64_t blocksPerRow) {
  int64_t blockSize = rows * kRun;
  Value number = row.getRow();
  Value block = row.div(number, row.constant(rows), "block_of_rows");
  Value inBlock = row.rem(number, row.constant(rows), "row_in_block");
  // Row r of a block is the (r / apart)-th of those of r mod apart.
  Value inner = inBlock;
  if (apart < rows)
    inner = row.add(row.mul(row.rem(inBlock, row.constant(apart)),
                            row.constant(rows / apart)),
                    row.div(inBlock, row.constant(apart)));
  inner = row.mul(inner, row.constant(kRun));
  Value offset = row.add(row.mul(block, row.constant(blocksPerRow * blockSize)),
                         inner, "scale");
  Value whole =
      row.div(row.getExtent(tensor, 0), row.constant(rows), "blocks_of_rows");
  return {offset, row.constant(blockSize), kRun, row.isBelow(block, whole)};
}

static Runs locate(RowContext &row, Value tensor, ScaleLayout layout,
                   int64_t groups) {
  int64_t blocks = llvm::divideCeil(groups, kRun);
  switch (layout) {
  case ScaleLayout::RowMajor:
    break;
  case ScaleLayout::ColumnMajor:
    return locateColumns(row, tensor, 1);
  case ScaleLayout::Packed:
    return locateColumns(row, tensor, kRun);
  case ScaleLayout::Swizzle128x4:
    return locateInBlocks(row, tensor, 128, /*apart=*/32, blocks);
  case ScaleLayout::Swizzle8x4:
    return locateInBlocks(row, tensor, 8, /*apart=*/8, blocks);
  }
  llvm_unreachable("row-major scales are a row");
}

static LogicalResult verifyStrides(RowContext &row, Value tensor,
                                   ScaleLayout layout) {
  if (row.getStrides(tensor) && QuantizeOp::getRowBlock(layout) > 1)
    return emitError(row.getLoc())
           << "'scales " << stringifyScaleLayout(layout)
           << "' are blocks that follow each other: expected '"
           << row.getName(tensor) << "' without strides";
  return success();
}

FailureOr<StoredVector> dsv4::locateScales(RowContext &row, Value tensor,
                                           Type element, int64_t groups,
                                           ScaleLayout layout) {
  if (failed(verifyStrides(row, tensor, layout)))
    return failure();
  Runs runs = locate(row, tensor, layout, groups);
  StoredVector stored;
  stored.buffer = row.getBuffer(tensor);
  stored.element = element;
  stored.extent = stored.readable = groups;
  stored.offset = runs.offset;
  stored.stride = runs.stride;
  stored.run = runs.run;
  stored.predicate = runs.isStored;
  return stored;
}

LogicalResult dsv4::storeScales(RowContext &row, Value destination,
                                Value scales, int64_t group,
                                ScaleLayout layout) {
  OpBuilder &b = row.getBuilder();
  if (failed(verifyStrides(row, destination, layout)))
    return failure();
  int64_t groups = cast<VectorType>(scales.getType()).getNumElements();
  Runs runs = locate(row, destination, layout, groups);
  Value buffer = row.getBuffer(destination);
  auto guard = scf::IfOp::create(b, row.getLoc(), runs.isStored);
  OpBuilder::InsertionGuard saved(b);
  b.setInsertionPointToStart(guard.thenBlock());
  auto write =
      row::WriteOp::create(b, row.getLoc(), scales, buffer, runs.offset, group);
  write.getStrideMutable().assign(runs.stride);
  write.setRun(runs.run);
  write.setPad(llvm::alignTo(groups, runs.run) - groups);
  return success();
}
