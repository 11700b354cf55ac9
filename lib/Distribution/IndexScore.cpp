//===- IndexScore.cpp - Scores of keys to the threads of a block ----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a block are scored together. What row.index_score says of one row
// is a function of the row of the block.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include "dsv4/Dialect/CUDA/ScoreOps.h"
#include "dsv4/Dialect/CUDA/TileOps.h"
#include "dsv4/Dialect/Row/ScoreOps.h"

using namespace mlir;
using namespace dsv4;

static ScoreAttr getScorePart(const Distribution &d) {
  return d.getSchedule().getPart<ScoreAttr>();
}

/// Emits what `from` says of a row, for a row of the block. Of one that may not
/// exist the last value is a number of elements, 0 if it does not.
static LogicalResult emitRegion(Region &from, Region &to, Distribution &d,
                                bool mayBeBeyond) {
  Block *source = &from.front(), *body = &to.emplaceBlock();
  Type index = d.getBuilder().getIndexType();
  Value tileRow = body->addArgument(index, d.getLoc("tile_row"));
  Distribution row = d.enter(body, View());
  row.mapRowOfTile(tileRow);
  if (mayBeBeyond)
    row.readOnlyInside();
  for (BlockArgument argument : source->getArguments())
    row.map(argument, body->addArgument(index, argument.getLoc()));
  for (Operation &op : *source)
    row.placeOperands(op);
  if (failed(row.cloneScalars(source)))
    return failure();
  SmallVector<Value> values;
  for (Value value : source->getTerminator()->getOperands())
    values.push_back(row.getScalar(value));
  OpBuilder &b = row.getBuilder();
  if (mayBeBeyond)
    values.back() = arith::SelectOp::create(b, d.getLoc(), row.getInside(),
                                            values.back(), row.constant(0));
  cuda::TileYieldOp::create(b, d.getLoc(), values);
  return success();
}

namespace {
struct IndexScoreSource
    : row::TileSourceOpInterface::ExternalModel<IndexScoreSource,
                                                row::IndexScoreOp> {
  row::TileShape getTileShape(Operation *, const Distribution &d) const {
    ScoreAttr part = getScorePart(d);
    if (!part)
      return {};
    int64_t threads = d.getSchedule().getThreads();
    return {part.getRows(), part.getColumns(threads), part.getWarps(threads)};
  }

  row::TileResources getTileResources(Operation *op,
                                      const Distribution &d) const {
    ScoreAttr part = getScorePart(d);
    if (!part)
      return {};
    auto scores = cast<row::IndexScoreOp>(op);
    auto heads = static_cast<int64_t>(scores.getHeads());
    return {d.getSchedule().getThreads(),
            part.isMma()
                ? cuda::IndexScoreOp::getMmaSharedBytes(
                      part.getRows(), heads, scores.getKeyFormat(),
                      part.getTiles(), part.getStages(), part.getSlots())
                : cuda::IndexScoreOp::getSharedBytes(
                      part.getRows(), heads,
                      static_cast<int64_t>(scores.getDim()))};
  }

  LogicalResult emitSource(Operation *op, Distribution &d, Value consume,
                           Value memory) const {
    auto scores = cast<row::IndexScoreOp>(op);
    ScoreAttr part = getScorePart(d);
    auto here = [&](Value value) {
      return value ? d.getScalar(value) : Value();
    };
    auto entry = [&](Value stride, uint64_t bytes) {
      return part.isMma() ? d.constant(static_cast<int64_t>(bytes))
                          : here(stride);
    };
    if (part.isMma() &&
        (!scores.getEntryBytes() || !scores.getScaleEntryBytes()))
      return scores.emitOpError()
             << "has no constant 'entry_bytes' and 'scale_entry_bytes', which "
                "'algorithm = mma' needs: expected 'algorithm = plain'";
    auto readers = static_cast<int64_t>(scores.getReaders());
    auto call = cuda::IndexScoreOp::create(
        d.getBuilder(), op->getLoc(), consume, memory,
        here(scores.getQueries()), here(scores.getQueryHead()),
        here(scores.getScales()), here(scores.getScaleHead()),
        here(scores.getWeights()), here(scores.getKeys()),
        here(scores.getKeyPage()),
        entry(scores.getKeyEntry(), scores.getEntryBytes()),
        here(scores.getKeyScales()), here(scores.getKeyScalePage()),
        entry(scores.getKeyScaleEntry(), scores.getScaleEntryBytes()),
        here(scores.getColumns()),
        part.getPersistent() ? d.getRowCount() : Value(), part.getRows(),
        part.getColumns(d.getSchedule().getThreads()), scores.getHeads(),
        scores.getDim(), scores.getPageSize(), scores.getKeyBase(),
        scores.getScaleBase(), scores.getQueryAlign(), scores.getKeyAlign(),
        scores.getScaleAlign(), scores.getQueryFormat(), scores.getKeyFormat(),
        part.getAlgorithm(), part.getTiles(), part.getStages(), part.getSlots(),
        part.isMma() ? scores.getEntryBytes() : 0,
        part.isMma() ? scores.getScaleEntryBytes() : 0, scores.getPageAlign(),
        part.isMma() && readers > 0 && part.getRows() % readers == 0);
    return failure(failed(emitRegion(scores.getRow(), call.getRow(), d,
                                     /*mayBeBeyond=*/true)) ||
                   failed(emitRegion(scores.getPage(), call.getPage(), d,
                                     /*mayBeBeyond=*/false)));
  }
};
} // namespace

void dsv4::attachScoreDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::IndexScoreOp::attachInterface<IndexScoreSource>(*context);
  });
}
