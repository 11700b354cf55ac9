//===- DistributeSelection.cpp - Rows that are selected from to threads ---===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block, of several blocks or of a warp select from one row. A
// thread computes a chunk of its columns by itself, so a chunk is a row of one
// lane, and a place is a row of one element.
//
//===----------------------------------------------------------------------===//

#include "RowDistributor.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

void RowDistributor::mapSelectedRow() {
  Location loc = forall.getLoc();
  b.setInsertionPoint(forall);
  if (schedule.getPdl()) {
    cuda::WaitForPredecessorsOp::create(b, loc);
    // Few blocks, busy for long with what is in shared memory: successors have
    // room beside them.
    cuda::LaunchSuccessorsOp::create(b, loc);
  }
  int64_t blocks = schedule.getBlocksPerRow();
  Value row = gpu::BlockIdOp::create(
      b, loc, gpu::Dimension::x,
      b.getIndexAttr(std::min<int64_t>(getMaxRows() * blocks, INT32_MAX)));
  if (blocks > 1)
    row = arith::DivUIOp::create(b, name("row"), row, indexConstant(blocks));
  lane = indexConstant(0);
  laneCount = 1;
  mapping.map(forall.getInductionVar(0), row);
}

void RowDistributor::mapSelectedRowToWarp() {
  laneCount = kWarp;
  mapRows();
}

LogicalResult RowDistributor::emitRowNumbers(cuda::SelectOp select) {
  SetVector<Value> numbers;
  auto collect = [&](auto self, Operation *op) -> LogicalResult {
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<VectorType>(operand.getType());
      if (!type || operand.getParentBlock() != forall.getBody())
        continue;
      if (type.getNumElements() == 1 || isa<cuda::ColumnsOp>(op)) {
        numbers.insert(operand);
        continue;
      }
      // What is the same for a row and for columns stands in front of both.
      Operation *maker = operand.getDefiningOp();
      if (!isa<vector::ShapeCastOp, vector::BroadcastOp, arith::ConstantOp>(
              maker))
        return select.emitOpError() << "takes more than numbers of a whole row";
      if (failed(self(self, maker)))
        return failure();
    }
    return success();
  };
  WalkResult walked = select.walk([&](Operation *op) {
    return failed(collect(collect, op)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  for (Value number : numbers) {
    // One for all steps of the row, or all elements.
    int64_t count = cast<VectorType>(number.getType()).getNumElements();
    Footprint whole =
        count == 1 ? Footprint{stepSize(), stepSize()} : Footprint{count};
    if (failed(placeLoads(number, whole)))
      return failure();
    auto found = share(number, whole);
    if (failed(found))
      return failure();
    rowNumbers[number] = *found;
  }
  return success();
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

LogicalResult RowDistributor::emitPlace(Region &from, cuda::SelectOp to) {
  Block *source = &from.front(), *body = &to.getEmit().emplaceBlock();
  Location loc = forall.getLoc();
  RowDistributor thread(*this);
  thread.b.setInsertionPointToStart(body);
  thread.shares.clear();
  thread.chunkSize = 1;
  for (BlockArgument arg : source->getArguments())
    thread.mapping.map(arg, body->addArgument(arg.getType(), arg.getLoc()));
  bool isWarp = to.getKind() == cuda::SelectKind::Warp;
  // The row has been read, the rest is short.
  if (isWarp && schedule.getPdl())
    cuda::LaunchSuccessorsOp::create(thread.b, loc);
  thread.cloneScalars(source);
  SmallVector<Operation *> stores;
  for (auto store : source->getOps<vector::StoreOp>())
    stores.push_back(store);
  if (failed(thread.placeLoads(stores, /*early=*/false)))
    return failure();
  // All lanes of a warp make it together, before some of them store it.
  for (Operation *store : stores)
    if (failed(thread.shareOfStore(store)))
      return failure();
  int64_t places = to.getPlaces();
  OpBuilder::InsertionGuard saved(thread.b);
  if (isWarp && places < 32) {
    Value isPlace = arith::CmpIOp::create(
        thread.b, loc, arith::CmpIPredicate::slt, body->getArgument(0),
        thread.indexConstant(places));
    auto guard = scf::IfOp::create(thread.b, loc, isPlace);
    thread.b.setInsertionPointToStart(guard.thenBlock());
  }
  for (Operation *store : stores)
    if (failed(thread.emitStore(store)))
      return failure();
  thread.emitScalarStores(source);
  thread.b.setInsertionPointToEnd(body);
  cuda::SelectYieldOp::create(thread.b, loc, ValueRange());
  return success();
}

/// Rounds of a block whose first one bounds the others better than a sample.
static constexpr int64_t kFewRounds = 4;

/// Of a row of at most `most` elements.
static cuda::SelectKind getKind(RowScheduleAttr schedule, int64_t most) {
  switch (schedule.getSelect()) {
  case SelectAlgorithm::Warp:
    return cuda::SelectKind::Warp;
  case SelectAlgorithm::Stream: {
    int64_t round =
        schedule.getThreads() * schedule.getVector() * schedule.getChunks();
    return schedule.getCluster() == 1 && most <= kFewRounds * round
               ? cuda::SelectKind::Rounds
               : cuda::SelectKind::Stream;
  }
  case SelectAlgorithm::Grid:
    return cuda::SelectKind::Stream;
  case SelectAlgorithm::Block:
  case SelectAlgorithm::None:
    return cuda::SelectKind::Block;
  }
  llvm_unreachable("all algorithms are above");
}

/// Whether every NaN of the elements is as arithmetic makes it.
static bool isComputed(cuda::SelectOp select) {
  Value chunk = select.getLoad().front().getTerminator()->getOperand(0);
  if (auto columns = chunk.getDefiningOp<cuda::ColumnsOp>())
    chunk = columns.getRow();
  return isa_and_present<arith::AddFOp, arith::DivFOp, cuda::ActivationOp>(
      chunk.getDefiningOp());
}

LogicalResult RowDistributor::runSelection(cuda::SelectOp select) {
  cuda::SelectKind kind =
      getKind(schedule, static_cast<int64_t>(select.getMost()));
  bool isWarp = kind == cuda::SelectKind::Warp;
  int64_t threads = isWarp ? 32 : schedule.getThreads();
  int64_t chunks = schedule.getChunks();
  if (kind == cuda::SelectKind::Block || isWarp)
    chunks = llvm::divideCeil(static_cast<int64_t>(select.getMost()),
                              threads * schedule.getCluster() * chunkSize);
  if (isWarp)
    mapSelectedRowToWarp();
  else
    mapSelectedRow();
  cloneScalars(forall.getBody());
  if (failed(emitRowNumbers(select)))
    return failure();
  if (isWarp)
    lane = indexConstant(0);
  laneCount = 1;
  Value workspace;
  int64_t parts = schedule.getParts();
  if (parts > 1)
    workspace = WorkspaceOp::create(
        b, name("workspace"),
        MemRefType::get({ShapedType::kDynamic}, b.getI8Type()),
        cuda::SelectOp::getWorkspaceBytes(select.getPlaces(), parts));
  auto mapped = cuda::SelectOp::create(
      b, select.getLoc(), mapping.lookupOrDefault(select.getLength()),
      select.getPlaces(), select.getMost(), select.getOrder(),
      select.getSmallest(), kind, threads, chunks, schedule.getCluster(), parts,
      workspace, /*computed=*/false, select.getGroups(), select.getKeep(),
      select.getBy());
  if (failed(emitChunk(select.getLoad(), mapped.getLoad())) ||
      failed(emitPlace(select.getEmit(), mapped)))
    return failure();
  mapped.setComputed(isComputed(mapped));
  forall.erase();
  return success();
}
