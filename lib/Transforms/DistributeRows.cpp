//===- DistributeRows.cpp - Map rows to threads, row vectors to lanes -*- C++
//-*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Works backwards from the stores of a row program. The share of a value is
// what one lane holds of it: `vector<S x V>` of the row's N elements. A factor
// that covers g elements of the row is held once per chunk or per step, not
// once per element. All loads of a row are placed before its arithmetic and its
// stores: they do not depend on each other, and stores must not come between
// them.
//
// Contiguous chunks are dealt to lanes in turn. Upstream's warp distribution
// gives a lane one contiguous block instead, which leaves the accesses of a
// warp strided; docs/Performance.md has the measurement.
//
//===----------------------------------------------------------------------===//

#include "RowDistributor.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_DISTRIBUTEROWS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

void RowDistributor::mapRows() {
  Location loc = forall.getLoc();
  int64_t threads = schedule.getThreads(), lanes = laneCount;
  int64_t rowsPerBlock = schedule.getRowsPerBlock();
  b.setInsertionPoint(forall);
  auto bound = [&](int64_t value) { return b.getIndexAttr(value); };
  auto waitForPredecessors = [&] {
    if (schedule.getPdl())
      cuda::WaitForPredecessorsOp::create(b, loc);
  };
  if (!schedule.getTeam())
    waitForPredecessors();
  Value thread =
      gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x, bound(threads));
  int64_t cluster = schedule.getCluster();
  IntegerAttr mostBlocks = bound(std::min<int64_t>(
      llvm::divideCeil(getMaxRows(), rowsPerBlock) * cluster, INT32_MAX));
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x, mostBlocks);
  Value isFirstOfCluster;
  if (cluster > 1) {
    Value rank = arith::RemUIOp::create(b, loc, block, indexConstant(cluster));
    isFirstOfCluster = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             rank, indexConstant(0));
    block = arith::DivUIOp::create(b, name("first_row"), block,
                                   indexConstant(cluster));
  }
  Value rowInBlock = thread;
  lane = indexConstant(0);
  if (lanes > 1)
    lane =
        arith::RemUIOp::create(b, name("lane"), thread, indexConstant(lanes));
  rowCount =
      getValueOrCreateConstantIndexOp(b, loc, forall.getMixedUpperBound()[0]);
  if (lanes > 1)
    rowInBlock = arith::DivUIOp::create(b, loc, thread, indexConstant(lanes));
  firstRow = block;
  Value row = firstRow;
  // Blocks go through their rows at one pace. A grid apart, rows that share
  // memory are then read together.
  const bool apart = rowsPerBlock >= kManyRows &&
                     !forall.getBody()->getOps<cuda::PoolOp>().empty();
  if (apart) {
    Value blocks =
        gpu::GridDimOp::create(b, loc, gpu::Dimension::x, mostBlocks);
    if (cluster > 1)
      blocks = arith::DivUIOp::create(b, loc, blocks, indexConstant(cluster));
    row = arith::AddIOp::create(
        b, name("row"), firstRow,
        arith::MulIOp::create(b, loc, rowInBlock, blocks));
  } else if (rowsPerBlock > 1) {
    firstRow =
        arith::MulIOp::create(b, schedule.getTeam() ? name("first_row") : loc,
                              block, indexConstant(rowsPerBlock));
    row = arith::AddIOp::create(b, name("row"), firstRow, rowInBlock);
  }
  if (!schedule.getTeam() || rowsPerBlock > 1)
    inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, rowCount);
  if (schedule.getTeam()) {
    // All threads work for every row; what a row beyond needs is read of the
    // last one.
    if (rowsPerBlock > 1) {
      Value last = arith::SubIOp::create(b, loc, rowCount, indexConstant(1));
      row = arith::MinSIOp::create(b, name("read_row"), row, last);
    }
    Value holds = arith::CmpIOp::create(
        b, isFirstOfCluster ? loc : name("holds_row"),
        arith::CmpIPredicate::slt, thread, indexConstant(rowsPerBlock * lanes));
    if (isFirstOfCluster)
      holds =
          arith::AndIOp::create(b, name("holds_row"), isFirstOfCluster, holds);
    if (isFirstOfCluster || rowsPerBlock * lanes < threads)
      holdsRow = holds;
    inside = inside ? arith::AndIOp::create(b, loc, holds, inside) : holds;
    mapping.map(forall.getInductionVar(0), row);
    // Most plans are older than the launch that ends now: what they say should
    // not begin with their way from memory.
    if (schedule.getPdl()) {
      prefetchPlans(row, /*l2=*/true);
      prefetchScalars();
    }
    waitForPredecessors();
    if (apart)
      prefetchPlans(row, /*l2=*/false);
  } else {
    mapping.map(forall.getInductionVar(0), row);
    enterGuard();
  }
}

void RowDistributor::cloneOperands(Operation &op) {
  op.walk([&](Operation *user) {
    for (Value operand : user->getOperands())
      cloneSlice(operand);
  });
}

void RowDistributor::prefetchPlans(Value row, bool l2) {
  for (Operation &op : *forall.getBody()) {
    auto pool = dyn_cast<cuda::PoolOp>(op);
    auto online = dyn_cast<cuda::PoolOnlineOp>(op);
    if (!pool && !online)
      continue;
    Block &body = (pool ? pool.getBody() : online.getBody()).front();
    auto first = llvm::find_if(body, llvm::IsaPred<memref::LoadOp>);
    if (first == body.end())
      continue;
    // Nothing is read ahead of the wait, not even for an address.
    auto address = llvm::make_range(body.begin(), first);
    auto reads = [](Operation &op) {
      return llvm::any_of(op.getOperands(), dependsOnMemory);
    };
    if (reads(*first) || llvm::any_of(address, reads))
      continue;
    for (Operation &op : address)
      cloneOperands(op);
    cloneOperands(*first);
    IRMapping ofRow = mapping;
    ofRow.map(body.getArgument(0), row);
    for (Operation &op : address)
      b.clone(op, ofRow);
    auto load = cast<memref::LoadOp>(*first);
    cuda::PrefetchOp::create(b, load.getLoc(), load.getMemref(),
                             ofRow.lookupOrDefault(load.getIndices()[0]),
                             holdsRow, l2);
  }
}

void RowDistributor::prefetchScalars() {
  for (auto load : forall.getBody()->getOps<memref::LoadOp>()) {
    Value index = load.getIndices()[0];
    if (dependsOnMemory(index))
      continue;
    cloneSlice(index);
    cuda::PrefetchOp::create(b, load.getLoc(), load.getMemref(),
                             mapping.lookupOrDefault(index), holdsRow,
                             /*l2=*/true);
  }
}

void RowDistributor::enterGuard() {
  auto guard = scf::IfOp::create(b, forall.getLoc(), inside);
  b.setInsertionPointToStart(guard.thenBlock());
}

/// Stores of vectors in `block`, in order.
static SmallVector<Operation *> getStores(Block *block) {
  SmallVector<Operation *> stores;
  for (Operation &op : *block)
    if (isa<vector::StoreOp, cuda::StoreGroupsOp>(op))
      stores.push_back(&op);
  return stores;
}

/// The conditions under which a row is stored.
static SmallVector<scf::IfOp> getGuards(Block *block) {
  SmallVector<scf::IfOp> guards;
  for (auto guard : block->getOps<scf::IfOp>())
    if (guard.getNumResults() == 0)
      guards.push_back(guard);
  return guards;
}

void RowDistributor::cloneScalars(Block *block) {
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  for (Operation &op : block->without_terminator()) {
    auto guard = dyn_cast<scf::IfOp>(op);
    if (llvm::any_of(op.getOperandTypes(), isVector) ||
        llvm::any_of(op.getResultTypes(), isVector) ||
        isa<memref::StoreOp, cuda::SelectOp>(op) ||
        (guard && guard.getNumResults() == 0))
      continue;
    if (llvm::any_of(op.getResults(),
                     [&](Value value) { return mapping.contains(value); }))
      continue;
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && holdsRow) {
      auto own = cuda::LoadOp::create(
          b, load.getLoc(), load.getType(),
          mapping.lookupOrDefault(load.getMemref()),
          mapping.lookupOrDefault(load.getIndices()[0]), holdsRow,
          /*chunks=*/Value());
      mapping.map(load.getResult(), own.getValue());
      continue;
    }
    Operation *clone = b.clone(op, mapping);
    if (auto last = dyn_cast<cuda::IsLastOp>(clone))
      last.setLanes(laneCount);
  }
}

void RowDistributor::cloneWindow(Region &window) {
  if (schedule.getRowsPerBlock() > 1)
    return;
  mapping.map(window.getArgument(0), firstRow);
  for (Operation &op : window.front().without_terminator())
    cloneOperands(op);
  Value holds = std::exchange(holdsRow, Value());
  cloneScalars(&window.front());
  holdsRow = holds;
}

LogicalResult RowDistributor::emitGuard(scf::IfOp guard) {
  // What needs other lanes comes before the condition.
  cloneScalars(guard.thenBlock());
  SmallVector<Operation *> stores = getStores(guard.thenBlock());
  for (Operation *store : stores)
    if (failed(shareOfStore(store)))
      return failure();
  auto mapped = scf::IfOp::create(
      b, guard.getLoc(), mapping.lookupOrDefault(guard.getCondition()));
  OpBuilder::InsertionGuard saved(b);
  b.setInsertionPointToStart(mapped.thenBlock());
  for (Operation *store : stores)
    if (failed(emitStore(store)))
      return failure();
  emitScalarStores(guard.thenBlock());
  return success();
}

/// A block with the arguments of that of `from`.
static Block *addBlock(Region &from, Region &to) {
  Block *block = &to.emplaceBlock();
  for (BlockArgument arg : from.getArguments())
    block->addArgument(arg.getType(), arg.getLoc());
  return block;
}

LogicalResult RowDistributor::emitTeamRegion(Region &from, Region &to,
                                             int64_t channels) {
  Block *source = &from.front(), *body = &to.emplaceBlock();
  RowDistributor team(*this);
  team.b.setInsertionPointToStart(body);
  team.shares.clear();
  team.chunkSize = schedule.getTeam();
  TeamWork work{1, channels};
  team.laneCount = channels / team.chunkSize /
                   work.getSteps(schedule.getThreads() * schedule.getCluster(),
                                 team.chunkSize);
  for (BlockArgument argument : source->getArguments()) {
    Type type = argument.getType();
    if (auto row = dyn_cast<VectorType>(type))
      type = team.getShareType(row.getElementType(), {channels});
    BlockArgument own = body->addArgument(type, argument.getLoc());
    if (isa<VectorType>(type)) {
      team.shares[{argument, 1}] = own;
      continue;
    }
    team.mapping.map(argument, own);
    team.lane = own; // The last index.
  }
  team.cloneScalars(source);
  Operation *end = source->getTerminator();
  SmallVector<Value> shared;
  for (Value value : end->getOperands())
    if (isa<VectorType>(value.getType()) &&
        failed(team.placeLoads(value, {channels})))
      return failure();
  for (Value value : end->getOperands()) {
    if (!isa<VectorType>(value.getType())) {
      shared.push_back(team.mapping.lookupOrDefault(value));
      continue;
    }
    auto share = team.share(value, {channels});
    if (failed(share))
      return failure();
    shared.push_back(*share);
  }
  for (auto store : source->getOps<vector::StoreOp>())
    if (failed(team.emitStore(store)))
      return failure();
  team.b.create(forall.getLoc(), end->getName().getIdentifier(), shared);
  return success();
}

LogicalResult RowDistributor::emitPool(cuda::PoolOp pool) {
  auto type = cast<VectorType>(pool.getPooled().getType());
  Type share = getShareType(type.getElementType(), {type.getNumElements()});
  auto mapped = cuda::PoolOp::create(
      b, pool.getLoc(), share, firstRow, rowCount, pool.getMembers(),
      schedule.getRowsPerBlock(), schedule.getThreads(), laneCount,
      schedule.getCluster());
  RowDistributor row(*this);
  row.holdsRow = {};
  Block *body = addBlock(pool.getBody(), mapped.getBody());
  row.b.setInsertionPointToStart(body);
  row.mapping.map(pool.getBody().getArgument(0), body->getArgument(0));
  row.cloneScalars(&pool.getBody().front());
  cuda::PoolWindowOp window = pool.getWindow();
  auto own = cuda::PoolWindowOp::create(
      row.b, window.getLoc(), row.mapping.lookupOrDefault(window.getAll()));
  int64_t channels = type.getNumElements();
  if (failed(
          row.emitTeamRegion(window.getScores(), own.getScores(), channels)) ||
      failed(
          row.emitTeamRegion(window.getValues(), own.getValues(), channels)) ||
      failed(row.emitTeamRegion(window.getAny(), own.getAny(), channels)) ||
      (!pool.getOffsets().empty() &&
       failed(row.emitTeamRegion(pool.getOffsets(), mapped.getOffsets(),
                                 channels))))
    return failure();
  shares[{pool.getPooled(), 1}] = mapped.getPooled();
  return success();
}

LogicalResult RowDistributor::emitStores() {
  Block *body = forall.getBody();
  for (Operation *store : getStores(body))
    if (failed(emitStore(store)))
      return failure();
  for (scf::IfOp guard : getGuards(body))
    if (failed(emitGuard(guard)))
      return failure();
  // A scalar result of the row is written by its first lane.
  emitScalarStores(body);
  return success();
}

LogicalResult RowDistributor::run() {
  Block *body = forall.getBody();
  if (auto selections = body->getOps<cuda::SelectOp>(); !selections.empty())
    return runSelection(*selections.begin());
  mapRows();
  SmallVector<Operation *> all = getStores(body);
  for (scf::IfOp guard : getGuards(body))
    llvm::append_range(all, getStores(guard.thenBlock()));
  // Loads that wait for no other come first, then scalars of the row, which
  // each of its lanes computes alike, then the loads that need those.
  if (failed(placeLoads(all, /*early=*/true)))
    return failure();
  for (Operation &op : *body) {
    if (auto pool = dyn_cast<cuda::PoolOp>(op))
      cloneWindow(pool.getBody());
    else if (auto pool = dyn_cast<cuda::PoolOnlineOp>(op))
      cloneWindow(pool.getBody());
  }
  cloneScalars(body);
  if (failed(placeLoads(all, /*early=*/false)))
    return failure();
  // Once loads are on their way: earlier, the next kernel would take places
  // that they need. Clusters of which a multiprocessor need not have two blocks
  // are for so few rows that all of them start at once, and need no places.
  bool startsAtOnce = schedule.getTeam() && schedule.getCluster() > 1 &&
                      schedule.getBlocks() <= 1;
  if (schedule.getPdl() && startsAtOnce)
    cuda::LaunchSuccessorsOp::create(b, forall.getLoc());
  for (auto pool : body->getOps<cuda::PoolOp>())
    if (failed(emitPool(pool)))
      return failure();
  for (auto pool : body->getOps<cuda::PoolOnlineOp>())
    if (failed(emitPoolOnline(pool)))
      return failure();
  if (schedule.getPdl() && !startsAtOnce)
    cuda::LaunchSuccessorsOp::create(b, forall.getLoc());
  if (schedule.getTeam())
    enterGuard();
  if (failed(emitStores()))
    return failure();
  forall.erase();
  return success();
}

namespace {
struct DistributeRows : dsv4::impl::DistributeRowsBase<DistributeRows> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel.getScheduleAttr()) {
        kernel.emitOpError() << "has no schedule; run dsv4-select-schedule";
        return signalPassFailure();
      }
      SmallVector<scf::ForallOp> loops(
          kernel.getBody().front().getOps<scf::ForallOp>());
      for (scf::ForallOp forall : loops)
        if (failed(RowDistributor(kernel, forall).run()))
          return signalPassFailure();
    }
  }
};
} // namespace
