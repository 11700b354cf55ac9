//===- Rows.cpp - Which rows a thread has ---------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Transforms/Distribution.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace dsv4;

int64_t Distribution::getMaxRows() {
  OpFoldResult bound = forall.getMixedUpperBound()[0];
  if (auto constant = getConstantIntValue(bound))
    return std::max<int64_t>(*constant, 1);
  if (auto count = cast<Value>(bound).getDefiningOp<RowCountOp>())
    return std::max<int64_t>(count.getMax(), 1);
  if (auto extent = cast<Value>(bound).getDefiningOp<ExtentOp>();
      extent && extent.getMax() >= 0)
    return std::max<int64_t>(extent.getMax(), 1);
  return INT32_MAX;
}

void Distribution::waitForPreviousKernel() {
  if (schedule.getPdl())
    cuda::WaitForPreviousKernelOp::create(b, forall.getLoc());
}

SmallVector<memref::LoadOp> Distribution::getFirstScalars() {
  return llvm::filter_to_vector(forall.getBody()->getOps<memref::LoadOp>(),
                                [](memref::LoadOp load) {
                                  return !dependsOnMemory(load.getIndices()[0]);
                                });
}

void Distribution::prefetchFirstScalars(Value condition) {
  for (memref::LoadOp load : getFirstScalars())
    cuda::PrefetchOp::create(b, load.getLoc(), load.getMemref(),
                             getScalar(load.getIndices()[0]), condition,
                             /*l2=*/true);
}

void Distribution::launchDependents() {
  if (schedule.getPdl())
    cuda::LaunchDependentsOp::create(b, forall.getLoc());
}

void Distribution::setInside(Value row) {
  inside = arith::CmpIOp::create(b, forall.getLoc(), arith::CmpIPredicate::slt,
                                 row, rowCount);
}

void Distribution::enterGuard() {
  auto guard = scf::IfOp::create(b, forall.getLoc(), inside);
  b.setInsertionPointToStart(guard.thenBlock());
}

//===----------------------------------------------------------------------===//
// To lanes
//===----------------------------------------------------------------------===//

Distribution::ThreadIds Distribution::emitThreadIds() {
  Location loc = forall.getLoc();
  int64_t threads = schedule.getThreads(), lanes = view.map.getThreads();
  int64_t cluster = schedule.getCluster();
  ThreadIds ids;
  ids.thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x,
                                       b.getIndexAttr(threads));
  ids.maxBlocks = b.getIndexAttr(std::min<int64_t>(
      llvm::divideCeil(getMaxRows(), schedule.getRowsPerBlock()) * cluster,
      INT32_MAX));
  ids.block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x, ids.maxBlocks);
  if (cluster > 1) {
    Value rank = arith::RemUIOp::create(b, loc, ids.block, constant(cluster));
    ids.isFirstOfCluster = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq, rank, constant(0));
    ids.block = arith::DivUIOp::create(b, getLoc("first_row"), ids.block,
                                       constant(cluster));
  }
  ids.rowInBlock = ids.thread;
  view.lane = constant(0);
  if (lanes > 1)
    view.lane =
        arith::RemUIOp::create(b, getLoc("lane"), ids.thread, constant(lanes));
  rowCount =
      getValueOrCreateConstantIndexOp(b, loc, forall.getMixedUpperBound()[0]);
  if (lanes > 1)
    ids.rowInBlock =
        arith::DivUIOp::create(b, loc, ids.thread, constant(lanes));
  firstRow = ids.block;
  return ids;
}

/// The row of a thread of a block whose rows are neighbours.
Value Distribution::getNeighbour(const ThreadIds &ids, Location firstRowLoc) {
  int64_t rowsPerBlock = schedule.getRowsPerBlock();
  if (rowsPerBlock <= 1)
    return firstRow;
  firstRow =
      arith::MulIOp::create(b, firstRowLoc, ids.block, constant(rowsPerBlock));
  return arith::AddIOp::create(b, getLoc("row"), firstRow, ids.rowInBlock);
}

/// The same of RowOrder::GridApart.
Value Distribution::getRowGridsApart(const ThreadIds &ids) {
  Location loc = forall.getLoc();
  Value blocks =
      gpu::GridDimOp::create(b, loc, gpu::Dimension::x, ids.maxBlocks);
  if (schedule.getCluster() > 1)
    blocks =
        arith::DivUIOp::create(b, loc, blocks, constant(schedule.getCluster()));
  return arith::AddIOp::create(
      b, getLoc("row"), firstRow,
      arith::MulIOp::create(b, loc, ids.rowInBlock, blocks));
}

/// What a row beyond the last one needs is read of the last one. Returns the
/// row that is read.
Value Distribution::mapHolders(const ThreadIds &ids, Value row) {
  Location loc = forall.getLoc();
  int64_t holders = schedule.getRowsPerBlock() * view.map.getThreads();
  if (schedule.getRowsPerBlock() > 1) {
    Value last = arith::SubIOp::create(b, loc, rowCount, constant(1));
    row = arith::MinSIOp::create(b, getLoc("read_row"), row, last);
  }
  Value holds = arith::CmpIOp::create(
      b, ids.isFirstOfCluster ? loc : getLoc("holds_row"),
      arith::CmpIPredicate::slt, ids.thread, constant(holders));
  if (ids.isFirstOfCluster)
    holds = arith::AndIOp::create(b, getLoc("holds_row"), ids.isFirstOfCluster,
                                  holds);
  if (ids.isFirstOfCluster || holders < schedule.getThreads())
    holdsRow = holds;
  inside = inside ? arith::AndIOp::create(b, loc, holds, inside) : holds;
  return row;
}

void Distribution::mapRowsToLanes(int64_t lanes) {
  view.map = ElementMap::ofThreads(lanes, view.map.vector);
  ThreadIds ids = emitThreadIds();
  Value row = getNeighbour(ids, forall.getLoc());
  setInside(row);
  mapping.map(forall.getInductionVar(0), row);
  allThreadsHaveRows = true;
  enterGuard();
}

void Distribution::mapRowsToHolders(RowOrder order) {
  ThreadIds ids = emitThreadIds();
  Value row = order == RowOrder::GridApart
                  ? getRowGridsApart(ids)
                  : getNeighbour(ids, getLoc("first_row"));
  if (schedule.getRowsPerBlock() > 1)
    setInside(row);
  mapping.map(forall.getInductionVar(0), mapHolders(ids, row));
}

//===----------------------------------------------------------------------===//
// To blocks
//===----------------------------------------------------------------------===//

void Distribution::mapRowsToBlocks(int64_t blocksPerRow) {
  Location loc = forall.getLoc();
  Value row =
      gpu::BlockIdOp::create(b, loc, gpu::Dimension::x,
                             b.getIndexAttr(std::min<int64_t>(
                                 getMaxRows() * blocksPerRow, INT32_MAX)));
  if (blocksPerRow > 1)
    row = arith::DivUIOp::create(b, getLoc("row"), row, constant(blocksPerRow));
  view.lane = constant(0);
  view.map = ElementMap::ofThreads(1, view.map.vector);
  mapping.map(forall.getInductionVar(0), row);
}

void Distribution::mapRowsToTiles(int64_t rows) {
  Location loc = forall.getLoc();
  // The last block counts rows past the last one, but not past 2^31 - 1.
  int64_t cluster = schedule.getCluster();
  int64_t maxBlocks =
      std::min<int64_t>(llvm::divideCeil(getMaxRows(), rows), INT32_MAX / rows);
  maxBlocks = std::min<int64_t>(maxBlocks * cluster, INT32_MAX);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x,
                                       b.getIndexAttr(maxBlocks));
  if (cluster > 1)
    block = arith::DivUIOp::create(
        b, getLoc(rows == 1 ? "first_row" : "cluster_id"), block,
        constant(cluster));
  firstRow =
      arith::MulIOp::create(b, getLoc("first_row"), block, constant(rows));
  rowCount =
      getValueOrCreateConstantIndexOp(b, loc, forall.getMixedUpperBound()[0]);
}

void Distribution::mapRowsToGrid() {
  firstRow = {};
  rowCount = getValueOrCreateConstantIndexOp(b, forall.getLoc(),
                                             forall.getMixedUpperBound()[0]);
}

void Distribution::mapRowOfTile(Value tileRow) {
  Value row = tileRow;
  if (firstRow)
    row = arith::AddIOp::create(b, getLoc("row"), firstRow, tileRow);
  setInside(row);
  mapping.map(forall.getInductionVar(0), row);
}
