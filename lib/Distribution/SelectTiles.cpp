//===- SelectTiles.cpp - Selection from rows that come as tiles -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block, or a cluster, has as many rows as a tile. Its threads run the source
// once, and some of them consume its fragments. Other ops compute functions of
// one score before the selection, and of one rank after it.
//
//===----------------------------------------------------------------------===//

#include "SelectModels.h"

#include "dsv4/Dialect/CUDA/TileOps.h"
#include "dsv4/Schedule/Select.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dsv4;
using row::Footprint;

namespace {

/// Emits the device call of a row.select whose scores come as tiles.
class TileSelector {
public:
  TileSelector(row::SelectOp select, row::TileSourceOpInterface source,
               Distribution &d)
      : select(select), source(source), d(d), b(d.getBuilder()),
        tile(source.getTileShape(d)), needs(source.getTileResources(d)) {}

  LogicalResult build();

private:
  LogicalResult verify();
  /// The call and its empty regions.
  struct Call {
    Region &limit, &source, &score, &emit;
  };
  Call createCall();
  template <typename SelectOp>
  static Call getRegions(SelectOp op) {
    return {op.getLimit(), op.getSource(), op.getScore(), op.getEmit()};
  }
  /// The distribution of a region for one of the block's rows, which is its
  /// first argument.
  Distribution enterRow(Region &region, const View &view);
  LogicalResult emitLimit(Region &region);
  LogicalResult emitScore(Region &region);
  LogicalResult emitRanks(Region &region);

  row::SelectOp select;
  row::TileSourceOpInterface source;
  Distribution &d;
  OpBuilder &b;
  row::TileShape tile;
  row::TileResources needs;
  Value sourceMemory; ///< The source's part of the shared memory, or null.
};

} // namespace

row::TileSourceOpInterface dsv4::findTileSource(Value scores) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> left = {scores};
  while (!left.empty()) {
    Operation *op = left.pop_back_val().getDefiningOp();
    if (auto source = dyn_cast_if_present<row::TileSourceOpInterface>(op))
      return source;
    if (op && op->hasTrait<OpTrait::Elementwise>() && seen.insert(op).second)
      llvm::append_range(left, op->getOperands());
  }
  return {};
}

LogicalResult dsv4::verifyTileSource(row::TileSourceOpInterface source,
                                     Distribution &d) {
  row::TileShape tile = source.getTileShape(d);
  if (tile.rows < 1)
    return source->emitOpError() << "has no tile shape: the schedule lacks the "
                                    "part of this tile source";
  int64_t threads = d.getSchedule().getThreads();
  int64_t rows = d.getSchedule().getRowsPerBlock();
  int64_t needed = source.getTileResources(d).threads;
  if (threads != needed || rows != tile.rows || tile.warps * 32 > threads)
    return source->emitOpError()
           << "has tiles of " << tile.rows << " rows by " << needed
           << " threads, of which " << tile.warps
           << " warps consume, and the schedule has " << rows << " rows by "
           << threads
           << " threads per block: expected a schedule for this tile source";
  // At the source there is no current row of the block.
  for (Value operand : source->getOperands())
    if (operand != d.getRowIndex() && d.dependsOnRow(operand))
      return source->emitOpError()
             << "takes a value of one row, of which a tile has " << tile.rows
             << ": expected the index of the row, or values that all rows "
                "share";
  return success();
}

void dsv4::waitForRows(row::TileSourceOpInterface source, Distribution &d) {
  if (source.waitsForPreviousKernel(d))
    return;
  d.waitForPreviousKernel();
  d.launchDependents();
}

LogicalResult
dsv4::emitSource(Distribution &d, Region &region,
                 function_ref<LogicalResult(Distribution &, Value)> emit) {
  Block *body = &region.emplaceBlock();
  Value consume =
      body->addArgument(cuda::CallableType::get(d.getBuilder().getContext()),
                        d.getLoc("consume"));
  Distribution block = d.enter(body, View());
  if (failed(emit(block, consume)))
    return failure();
  cuda::TileYieldOp::create(block.getBuilder(), d.getLoc(), ValueRange());
  return success();
}

LogicalResult dsv4::emitTileSource(row::TileSourceOpInterface source,
                                   Distribution &d, Value memory,
                                   Region &region) {
  return emitSource(d, region, [&](Distribution &block, Value consume) {
    return source.emitSource(block, consume, memory);
  });
}

Value dsv4::allocateTiles(Distribution &d, int64_t bytes) {
  if (bytes == 0)
    return {};
  OpBuilder &b = d.getBuilder();
  return cuda::SharedOp::create(
      b, d.getLoc(), MemRefType::get({ShapedType::kDynamic}, b.getI8Type()),
      bytes, d.allocateShared(bytes));
}

LogicalResult TileSelector::verify() {
  if (failed(verifyTileSource(source, d)) || failed(verifyEffects(d)) ||
      failed(verifyWritesOf(select, d)))
    return failure();
  if (tile.countsAllRows)
    return select.emitOpError()
           << "selects from '" << source->getName()
           << "', whose tiles have rows of the whole launch: expected "
              "'algorithm = held'";
  if (d.getSchedule().isPersistent())
    return select.emitOpError()
           << "needs all columns of a row in one block or cluster, and the "
              "schedule lets all blocks share all rows: expected a schedule "
              "that is not persistent";
  if (select.getGroups() > 1)
    return select.emitOpError()
           << "chooses groups of a row that '" << source->getName()
           << "' computes tile by tile: expected one group, or scores in "
              "memory";
  if (select.getStart())
    return select.emitOpError()
           << "begins within a row that '" << source->getName()
           << "' computes tile by tile: expected no 'start', or scores in "
              "memory";
  if (select.getPadding())
    return select.emitOpError()
           << "has ranks after those of elements, which only the lanes of a "
              "warp compute: expected no 'padding' of what '"
           << source->getName() << "' computes tile by tile";
  // Nothing has compared a kernel that was written as a row program with its
  // schedule before.
  if (std::string why = explainSelection(
          d.getSchedule().getPart<SelectAttr>(), d.getSchedule().getLaunch(),
          select.getK(), select.getScores().getType().getNumElements(),
          /*groups=*/0, /*others=*/0);
      !why.empty())
    return select.emitOpError() << why;
  for (Operation *user : source->getUsers())
    if (user != select && !user->hasTrait<OpTrait::Elementwise>())
      return user->emitOpError()
             << "reads a row that '" << source->getName()
             << "' computes tile by tile, for 'row.select' alone: put what "
                "computes it into a kernel of its own";
  if (d.needsWholeRow(select.getScores()))
    return select.emitOpError()
           << "selects from scores that need statistics of a row that '"
           << source->getName() << "' computes tile by tile";
  return success();
}

TileSelector::Call TileSelector::createCall() {
  int64_t k = select.getK(),
          max = select.getScores().getType().getNumElements();
  LaunchPart launch = d.getSchedule().getLaunch();
  auto part = d.getSchedule().getPart<SelectAttr>();
  if (part.isResident()) {
    int64_t threads = part.getThreadsPerRow(launch);
    int64_t vectors = part.getVectorsPerThread(max, launch);
    Value memory = allocateTiles(
        d, cuda::SelectResidentOp::getSharedBytes(tile.rows, threads, vectors));
    sourceMemory = allocateTiles(d, needs.sharedBytes);
    return getRegions(cuda::SelectResidentOp::create(
        b, select.getLoc(), k, max, tile.rows, threads, vectors, launch.cluster,
        memory, convert(select.getOrder()), select.getSmallest(),
        select.getTiesHigh(), select.getNanFirst()));
  }
  int64_t calls = part.getVectors();
  Value memory = allocateTiles(d, cuda::SelectTilesOp::getSharedBytes(
                                      k, tile.rows, tile.columns, calls));
  sourceMemory = allocateTiles(d, needs.sharedBytes);
  return getRegions(cuda::SelectTilesOp::create(
      b, select.getLoc(), k, max, tile.rows, tile.columns, calls, tile.warps,
      memory, convert(select.getOrder()), select.getSmallest(),
      select.getTiesHigh(), select.getNanFirst()));
}

Distribution TileSelector::enterRow(Region &region, const View &view) {
  Block *body = &region.front();
  Distribution inner = d.enter(body, view);
  inner.mapRowOfTile(body->getArgument(0));
  return inner;
}

/// No element of a row that is not there counts.
LogicalResult TileSelector::emitLimit(Region &region) {
  region.emplaceBlock().addArgument(b.getIndexType(), d.getLoc("tile_row"));
  Distribution row = enterRow(region, View());
  row.readOnlyInside();
  OpBuilder &inner = row.getBuilder();
  Value length = row.getScalar(select.getLength());
  Value limit = arith::SelectOp::create(inner, d.getLoc(), row.getInside(),
                                        length, row.constant(0));
  cuda::TileYieldOp::create(inner, d.getLoc(), limit);
  return success();
}

/// One element, of a row of one column.
LogicalResult TileSelector::emitScore(Region &region) {
  if (select.getScores() == source->getResult(0))
    return success();
  Block *body = &region.emplaceBlock();
  Footprint one{1, 1};
  View element;
  element.access = Access::columns(1);
  body->addArgument(b.getIndexType(), d.getLoc("tile_row"));
  element.column = body->addArgument(b.getIndexType(), d.getLoc("column"));
  Value value = body->addArgument(VectorType::get({1, 1}, b.getF32Type()),
                                  d.getLoc("value"));
  Distribution row = enterRow(region, element);
  row.set(source->getResult(0), one, value);
  if (failed(row.placeLoads(select.getScores(), one)))
    return failure();
  auto score = row.get(select.getScores(), one);
  if (failed(score))
    return failure();
  cuda::TileYieldOp::create(row.getBuilder(), d.getLoc(), *score);
  return success();
}

LogicalResult TileSelector::emitRanks(Region &region) {
  Block *body = &region.emplaceBlock();
  View ranks;
  ranks.access = Access::ranks();
  body->addArgument(b.getIndexType(), d.getLoc("tile_row"));
  ranks.lane = body->addArgument(b.getIndexType(), d.getLoc("rank"));
  ranks.index = body->addArgument(b.getIndexType(), d.getLoc("index"));
  Value value = body->addArgument(b.getF32Type(), d.getLoc("value"));
  Distribution row = enterRow(region, ranks);
  OpBuilder &inner = row.getBuilder();
  auto guard = scf::IfOp::create(inner, d.getLoc(), row.getInside());
  inner.setInsertionPointToStart(guard.thenBlock());
  if (failed(emitRank(select, row, value, select.getK())))
    return failure();
  inner.setInsertionPointToEnd(body);
  cuda::TileYieldOp::create(inner, d.getLoc(), ValueRange());
  return success();
}

LogicalResult TileSelector::build() {
  if (failed(verify()))
    return failure();
  // As in other selections by blocks, these have room for dependent kernels.
  waitForRows(source, d);
  d.mapRowsToTiles(tile.rows);
  Call call = createCall();
  int64_t bytes = d.getSharedBytes() +
                  getSelectBytes(d.getSchedule().getPart<SelectAttr>(),
                                 d.getSchedule().getLaunch(), select.getK());
  if (bytes > limits::kMaxSharedBytes)
    return select.emitOpError()
           << "needs " << bytes << " bytes of shared memory with its source '"
           << source->getName() << "', and a block has at most "
           << limits::kMaxSharedBytes
           << ": expected fewer rows per block, or fewer columns per tile";
  if (failed(emitLimit(call.limit)) ||
      failed(emitTileSource(source, d, sourceMemory, call.source)) ||
      failed(emitScore(call.score)) || failed(emitRanks(call.emit)))
    return failure();
  d.eraseProgram();
  return success();
}

LogicalResult dsv4::distributeSelectTiles(row::SelectOp select,
                                          row::TileSourceOpInterface source,
                                          Distribution &d) {
  return TileSelector(select, source, d).build();
}
