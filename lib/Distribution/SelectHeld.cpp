//===- SelectHeld.cpp - Selection from rows that warps get ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All blocks compute all rows together, and hand each of them to a warp, whose
// lanes select from it as from a row that they have loaded.
//
//===----------------------------------------------------------------------===//

#include "SelectModels.h"

#include "dsv4/Dialect/CUDA/TileOps.h"

using namespace mlir;
using namespace dsv4;
using row::Footprint;

/// Refuses a program that reads the row of `source` otherwise.
static LogicalResult verifyUsers(row::TileSourceOpInterface source) {
  for (Operation *user : source->getUsers())
    if (!user->hasTrait<OpTrait::Elementwise>() &&
        !isa<row::SelectOp, row::GatherElementsOp>(user))
      return user->emitOpError()
             << "reads a row that '" << source->getName()
             << "' hands to the lanes of a warp, for a selection alone: put "
                "what computes it into a kernel of its own";
  return success();
}

/// Emits what a warp does with a row.
static LogicalResult emitRow(row::SelectOp select,
                             row::TileSourceOpInterface source, Distribution &d,
                             int64_t vector, Region &region) {
  OpBuilder &outer = d.getBuilder();
  Location loc = d.getLoc();
  Value result = source->getResult(0);
  View lanes;
  lanes.map = ElementMap::ofThreads(limits::kWarp, vector);
  Block *body = &region.emplaceBlock();
  Value number = body->addArgument(outer.getIndexType(), d.getLoc("row"));
  Distribution warp = d.enter(body, lanes);
  Value values = body->addArgument(
      warp.getFragmentType(outer.getF32Type(), {getExtent(result), 1}),
      result.getLoc());
  OpBuilder &b = warp.getBuilder();
  Value thread = gpu::ThreadIdOp::create(
      b, loc, gpu::Dimension::x, b.getIndexAttr(d.getSchedule().getThreads()));
  lanes.lane = arith::RemUIOp::create(b, d.getLoc("lane"), thread,
                                      warp.constant(limits::kWarp));
  Distribution row = warp.withView(lanes);
  row.mapRowOfTile(number);
  row.map(result, values);
  if (failed(selectFromHeldRow(select, row)))
    return failure();
  OpBuilder end = OpBuilder::atBlockEnd(body);
  cuda::TileYieldOp::create(end, loc, ValueRange());
  return success();
}

/// The op that hands rows to warps, or null. The selection need not be from
/// these rows.
static row::TileSourceOpInterface findHandingOver(Distribution &d) {
  for (auto source : d.getProgram()->getOps<row::TileSourceOpInterface>())
    if (source.handsOverRows())
      return source;
  return {};
}

LogicalResult dsv4::distributeSelectHeld(row::SelectOp select,
                                         Distribution &d) {
  row::TileSourceOpInterface source = findHandingOver(d);
  if (!source)
    return select.emitOpError()
           << "schedule_select_c9: expected an op of the kernel that hands "
              "whole rows to warps, with 'algorithm = held'";
  if (select.getStart())
    return select.emitOpError()
           << "begins within a row of which lanes have the first columns: "
              "expected no 'from' with 'algorithm = held'";
  if (failed(verifySelection(select, d)) || failed(verifyUsers(source)) ||
      failed(verifyTileSource(source, d)))
    return failure();
  int64_t vector = d.getSchedule().getPart<SelectAttr>().getVector();
  waitForRows(source, d);
  d.mapRowsToGrid();
  Value memory = allocateTiles(d, source.getTileResources(d).sharedBytes);
  auto call =
      cuda::HoldRowsOp::create(d.getBuilder(), select.getLoc(), d.getMaxRows());
  auto emitRows = [&](Distribution &block, Value consume) {
    return source.emitRows(block, consume, memory, vector);
  };
  if (failed(emitSource(d, call.getSource(), emitRows)) ||
      failed(emitRow(select, source, d, vector, call.getEmit())))
    return failure();
  d.eraseProgram();
  return success();
}
