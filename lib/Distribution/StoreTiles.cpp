//===- StoreTiles.cpp - Rows that come as tiles, to memory ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block has as many rows as a tile, or all blocks share all rows. The threads
// of a block run the source once, and each stores the elements that it owns.
//
//===----------------------------------------------------------------------===//

#include "SelectModels.h"

#include "dsv4/Dialect/CUDA/TileOps.h"
#include "dsv4/Dialect/Row/ScoreOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;
using row::Footprint;
using row::Scope;

/// The source of the rows that `write` stores, if they are of one.
static FailureOr<row::TileSourceOpInterface> findSource(row::WriteTilesOp write,
                                                        Distribution &d) {
  auto source = write.getValue().getDefiningOp<row::TileSourceOpInterface>();
  if (!source)
    return write.emitOpError() << "writes a row that no tile source computes: "
                                  "expected 'row.write'";
  if (failed(verifyTileSource(source, d)))
    return failure();
  for (Operation &op : *d.getProgram())
    if (&op != write && hasEffect<MemoryEffects::Write>(&op))
      return op.emitOpError() << "writes beside what '" << source->getName()
                              << "' computes tile by tile: put it into a "
                                 "kernel of its own";
  return source;
}

/// Stores one element, if it is there.
static void emitElement(row::WriteTilesOp write, Distribution &d,
                        Region &region) {
  OpBuilder &outer = d.getBuilder();
  Location loc = d.getLoc();
  Type index = outer.getIndexType();
  Block *body = &region.emplaceBlock();
  Value tileRow = body->addArgument(index, d.getLoc("tile_row"));
  Value column = body->addArgument(index, d.getLoc("column"));
  Value value = body->addArgument(outer.getF32Type(), d.getLoc("value"));
  Distribution row = d.enter(body, View());
  row.mapRowOfTile(tileRow);
  OpBuilder &b = row.getBuilder();
  Value isColumn =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, column,
                            row.getScalar(write.getColumns()));
  Value exists = arith::AndIOp::create(b, loc, row.getInside(), isColumn);
  auto guard = scf::IfOp::create(b, loc, exists);
  b.setInsertionPointToStart(guard.thenBlock());
  Type element = getElementTypeOrSelf(write.getBase().getType());
  if (!element.isF32())
    value = arith::TruncFOp::create(b, loc, element, value);
  Value at =
      arith::AddIOp::create(b, loc, row.getScalar(write.getOffset()), column);
  memref::StoreOp::create(b, write.getLoc(), value,
                          row.getScalar(write.getBase()), ValueRange{at});
  b.setInsertionPointToEnd(body);
  cuda::TileYieldOp::create(b, loc, ValueRange());
}

namespace {
struct WriteTilesDistribution
    : DistributionModel<WriteTilesDistribution, row::WriteTilesOp> {
  Scope getScope(Operation *, ScheduleAttr) const { return Scope::Block; }
  FailureOr<Value> materialize(Operation *, Distribution &, OpResult,
                               Footprint) const {
    return failure();
  }
  LogicalResult distribute(Operation *op, Distribution &d) const {
    auto write = cast<row::WriteTilesOp>(op);
    auto source = findSource(write, d);
    if (failed(source))
      return failure();
    row::TileShape tile = source->getTileShape(d);
    waitForRows(*source, d);
    int64_t rows = tile.rows;
    if (d.getSchedule().isPersistent() || tile.countsAllRows) {
      d.mapRowsToGrid();
      rows = d.getMaxRows();
    } else {
      d.mapRowsToTiles(rows);
    }
    Value memory = allocateTiles(d, source->getTileResources(d).sharedBytes);
    auto call = cuda::StoreTilesOp::create(d.getBuilder(), op->getLoc(), rows,
                                           getExtent(write.getValue()));
    if (failed(emitTileSource(*source, d, memory, call.getSource())))
      return failure();
    emitElement(write, d, call.getEmit());
    d.eraseProgram();
    return success();
  }
};
} // namespace

void dsv4::attachTileDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::WriteTilesOp::attachInterface<WriteTilesDistribution>(*context);
  });
}
