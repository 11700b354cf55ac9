//===- DistributeSelection.cpp - Rows that are selected from to threads ---===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block, or of a cluster, select from one row. A thread
// computes a chunk of its columns by itself, so a chunk is a row of one lane,
// and what becomes of a place is scalar arithmetic.
//
//===----------------------------------------------------------------------===//

#include "RowDistributor.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

void RowDistributor::mapSelectedRow() {
  Location loc = forall.getLoc();
  b.setInsertionPoint(forall);
  if (schedule.getPdl())
    cuda::WaitForPredecessorsOp::create(b, loc);
  int64_t cluster = schedule.getCluster();
  Value row = gpu::BlockIdOp::create(
      b, loc, gpu::Dimension::x,
      b.getIndexAttr(std::min<int64_t>(getMaxRows() * cluster, INT32_MAX)));
  if (cluster > 1)
    row = arith::DivUIOp::create(b, name("row"), row, indexConstant(cluster));
  lane = indexConstant(0);
  laneCount = 1;
  mapping.map(forall.getInductionVar(0), row);
}

LogicalResult RowDistributor::emitChunk(Region &from, Region &to) {
  Block *source = &from.front(), *body = &to.emplaceBlock();
  RowDistributor thread(*this);
  thread.b.setInsertionPointToStart(body);
  thread.shares.clear();
  BlockArgument column = source->getArgument(0);
  thread.mapping.map(column,
                     body->addArgument(column.getType(), column.getLoc()));
  thread.cloneScalars(source);
  Value chunk = source->getTerminator()->getOperand(0);
  Footprint whole{chunkSize};
  if (failed(thread.placeLoads(chunk, whole)))
    return failure();
  auto share = thread.share(chunk, whole);
  if (failed(share))
    return failure();
  cuda::SelectYieldOp::create(thread.b, forall.getLoc(), *share);
  return success();
}

LogicalResult RowDistributor::emitPlace(Region &from, Region &to) {
  Block *source = &from.front(), *body = &to.emplaceBlock();
  RowDistributor thread(*this);
  thread.b.setInsertionPointToStart(body);
  thread.shares.clear();
  thread.chunkSize = 1;
  for (BlockArgument argument : source->getArguments())
    thread.mapping.map(
        argument, body->addArgument(argument.getType(), argument.getLoc()));
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  Footprint one{1};
  for (Operation &op : source->without_terminator()) {
    if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
      if (failed(thread.placeLoads(extract.getSource(), one)))
        return failure();
      auto share = thread.share(extract.getSource(), one);
      if (failed(share))
        return failure();
      thread.mapping.map(extract.getResult(), vector::ExtractOp::create(
                                                  thread.b, op.getLoc(), *share,
                                                  ArrayRef<int64_t>{0, 0}));
    } else if (llvm::none_of(op.getResultTypes(), isVector)) {
      thread.b.clone(op, thread.mapping);
    }
  }
  cuda::SelectYieldOp::create(thread.b, forall.getLoc(), ValueRange());
  return success();
}

LogicalResult RowDistributor::runSelection(cuda::SelectOp select) {
  bool streams = schedule.getSelect() == SelectAlgorithm::Stream;
  int64_t chunks = schedule.getChunks();
  if (!streams)
    chunks = llvm::divideCeil(static_cast<int64_t>(select.getMost()),
                              schedule.getThreads() * chunkSize);
  mapSelectedRow();
  cloneScalars(forall.getBody());
  auto mapped = cuda::SelectOp::create(
      b, select.getLoc(), mapping.lookupOrDefault(select.getLength()),
      select.getPlaces(), select.getMost(), select.getOrder(),
      select.getSmallest(),
      streams ? cuda::SelectKind::Stream : cuda::SelectKind::Block,
      schedule.getThreads(), chunks, schedule.getCluster());
  if (failed(emitChunk(select.getLoad(), mapped.getLoad())) ||
      failed(emitPlace(select.getEmit(), mapped.getEmit())))
    return failure();
  forall.erase();
  return success();
}
