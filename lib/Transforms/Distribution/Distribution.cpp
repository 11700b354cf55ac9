//===- Distribution.cpp - The pass, and rows to threads -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works backwards from the stores of a row program. All loads of a row come
// before its arithmetic and its stores: they do not depend on each other, and
// stores must not come between them.
//
// Contiguous vectors go to lanes in turn. Upstream's warp distribution gives a
// lane one contiguous block instead, which leaves the accesses of a warp
// strided; docs/Performance.md has the measurement.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Transforms/Distribution.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_DISTRIBUTEROWS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

Distribution::Distribution(KernelOp kernel, scf::ForallOp forall)
    : schedule(kernel.getScheduleAttr()), forall(forall), b(kernel) {
  RowMapping mapping = schedule.getRowMapping();
  view.lanes = mapping.lanes;
  view.vector = mapping.vector;
}

Location Distribution::getLoc(StringRef name) {
  return NameLoc::get(b.getStringAttr(name), forall.getLoc());
}

Value Distribution::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, forall.getLoc(), value);
}

int64_t Distribution::getMaxRows() {
  OpFoldResult bound = forall.getMixedUpperBound()[0];
  if (auto constant = getConstantIntValue(bound))
    return std::max<int64_t>(*constant, 1);
  if (auto count = cast<Value>(bound).getDefiningOp<RowCountOp>())
    return std::max<int64_t>(count.getMax(), 1);
  return INT32_MAX;
}

//===----------------------------------------------------------------------===//
// Rows to threads
//===----------------------------------------------------------------------===//

void Distribution::waitForPreviousKernel() {
  if (schedule.getPdl())
    cuda::WaitForPreviousKernelOp::create(b, forall.getLoc());
}

void Distribution::launchDependents() {
  if (schedule.getPdl())
    cuda::LaunchDependentsOp::create(b, forall.getLoc());
}

void Distribution::enterGuard() {
  auto guard = scf::IfOp::create(b, forall.getLoc(), inside);
  b.setInsertionPointToStart(guard.thenBlock());
}

void Distribution::mapRowsToLanes(int64_t lanes) {
  view.lanes = lanes;
  mapRows(nullptr);
}

void Distribution::mapRowsToBlocks(int64_t blocksPerRow) {
  Location loc = forall.getLoc();
  b.setInsertionPoint(forall);
  waitForPreviousKernel();
  // Few blocks, busy for long with what is in shared memory: dependent kernels
  // have room beside them.
  launchDependents();
  Value row =
      gpu::BlockIdOp::create(b, loc, gpu::Dimension::x,
                             b.getIndexAttr(std::min<int64_t>(
                                 getMaxRows() * blocksPerRow, INT32_MAX)));
  if (blocksPerRow > 1)
    row = arith::DivUIOp::create(b, getLoc("row"), row, constant(blocksPerRow));
  view.lane = constant(0);
  view.lanes = 1;
  mapping.map(forall.getInductionVar(0), row);
}

void Distribution::mapRowsToTiles(int64_t rows) {
  Location loc = forall.getLoc();
  b.setInsertionPoint(forall);
  waitForPreviousKernel();
  launchDependents();
  // The last block counts rows past the last one, but not past 2^31 - 1.
  int64_t maxBlocks =
      std::min<int64_t>(llvm::divideCeil(getMaxRows(), rows), INT32_MAX / rows);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x,
                                       b.getIndexAttr(maxBlocks));
  firstRow =
      arith::MulIOp::create(b, getLoc("first_row"), block, constant(rows));
  rowCount =
      getValueOrCreateConstantIndexOp(b, loc, forall.getMixedUpperBound()[0]);
}

void Distribution::mapRowOfTile(Value tileRow) {
  Value row = arith::AddIOp::create(b, getLoc("row"), firstRow, tileRow);
  inside = arith::CmpIOp::create(b, forall.getLoc(), arith::CmpIPredicate::slt,
                                 row, rowCount);
  mapping.map(forall.getInductionVar(0), row);
}

bool Distribution::dependsOnRow(Value value) {
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (next == getRowIndex())
      return true;
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != forall.getBody() || !seen.insert(op).second)
      continue;
    op->walk([&](Operation *inner) {
      llvm::append_range(left, inner->getOperands());
    });
  }
  return false;
}

int64_t Distribution::allocateShared(int64_t bytes) {
  constexpr int64_t kAlignment = 16;
  int64_t begin = sharedBytes;
  sharedBytes = llvm::alignTo(begin + bytes, kAlignment);
  return begin;
}

/// Sets `row` for a thread of a block-cooperative kernel, and whether it holds
/// one. All threads work for every row; what a row beyond the last one needs is
/// read of the last one.
void Distribution::mapHolders(Value thread, Value isFirstOfCluster,
                              Value &row) {
  Location loc = forall.getLoc();
  int64_t holders = schedule.getRowsPerBlock() * view.lanes;
  if (schedule.getRowsPerBlock() > 1) {
    Value last = arith::SubIOp::create(b, loc, rowCount, constant(1));
    row = arith::MinSIOp::create(b, getLoc("read_row"), row, last);
  }
  Value holds = arith::CmpIOp::create(
      b, isFirstOfCluster ? loc : getLoc("holds_row"),
      arith::CmpIPredicate::slt, thread, constant(holders));
  if (isFirstOfCluster)
    holds =
        arith::AndIOp::create(b, getLoc("holds_row"), isFirstOfCluster, holds);
  if (isFirstOfCluster || holders < schedule.getThreads())
    holdsRow = holds;
  inside = inside ? arith::AndIOp::create(b, loc, holds, inside) : holds;
}

/// The row of a thread, given its block (or cluster) and row in that. Sets the
/// first row of the block.
Value Distribution::mapRowsOfBlock(Value block, Value rowInBlock,
                                   const Cooperation *with,
                                   IntegerAttr maxBlocks) {
  Location loc = forall.getLoc();
  int64_t rowsPerBlock = schedule.getRowsPerBlock();
  firstRow = block;
  // Blocks go through their rows at one pace. A grid apart, rows that share
  // memory are then read together.
  if (with && with->rowsApart) {
    Value blocks = gpu::GridDimOp::create(b, loc, gpu::Dimension::x, maxBlocks);
    if (schedule.getCluster() > 1)
      blocks = arith::DivUIOp::create(b, loc, blocks,
                                      constant(schedule.getCluster()));
    return arith::AddIOp::create(
        b, getLoc("row"), firstRow,
        arith::MulIOp::create(b, loc, rowInBlock, blocks));
  }
  if (rowsPerBlock <= 1)
    return firstRow;
  firstRow = arith::MulIOp::create(b, with ? getLoc("first_row") : loc, block,
                                   constant(rowsPerBlock));
  return arith::AddIOp::create(b, getLoc("row"), firstRow, rowInBlock);
}

void Distribution::mapRows(const Cooperation *with) {
  Location loc = forall.getLoc();
  int64_t threads = schedule.getThreads(), lanes = view.lanes;
  int64_t rowsPerBlock = schedule.getRowsPerBlock();
  b.setInsertionPoint(forall);
  auto bound = [&](int64_t value) { return b.getIndexAttr(value); };
  if (!with)
    waitForPreviousKernel();
  Value thread =
      gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x, bound(threads));
  int64_t cluster = schedule.getCluster();
  IntegerAttr maxBlocks = bound(std::min<int64_t>(
      llvm::divideCeil(getMaxRows(), rowsPerBlock) * cluster, INT32_MAX));
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x, maxBlocks);
  Value isFirstOfCluster;
  if (cluster > 1) {
    Value rank = arith::RemUIOp::create(b, loc, block, constant(cluster));
    isFirstOfCluster = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             rank, constant(0));
    block = arith::DivUIOp::create(b, getLoc("first_row"), block,
                                   constant(cluster));
  }
  Value rowInBlock = thread;
  view.lane = constant(0);
  if (lanes > 1)
    view.lane =
        arith::RemUIOp::create(b, getLoc("lane"), thread, constant(lanes));
  rowCount =
      getValueOrCreateConstantIndexOp(b, loc, forall.getMixedUpperBound()[0]);
  if (lanes > 1)
    rowInBlock = arith::DivUIOp::create(b, loc, thread, constant(lanes));
  Value row = mapRowsOfBlock(block, rowInBlock, with, maxBlocks);
  if (!with || rowsPerBlock > 1)
    inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, rowCount);
  if (!with) {
    mapping.map(forall.getInductionVar(0), row);
    enterGuard();
    return;
  }
  mapHolders(thread, isFirstOfCluster, row);
  mapping.map(forall.getInductionVar(0), row);
  // Most plans are older than the launch that ends now: what they say should
  // not begin with their way from memory.
  if (schedule.getPdl()) {
    prefetchPlan(with->plan, row, /*l2=*/true);
    prefetchScalars();
  }
  waitForPreviousKernel();
  if (with->rowsApart)
    prefetchPlan(with->plan, row, /*l2=*/false);
}

//===----------------------------------------------------------------------===//
// Prefetching
//===----------------------------------------------------------------------===//

void Distribution::prefetchPlan(Block *plan, Value row, bool l2) {
  auto first = llvm::find_if(*plan, llvm::IsaPred<memref::LoadOp>);
  if (first == plan->end())
    return;
  // Nothing is read ahead of the wait, not even for an address.
  auto address = llvm::make_range(plan->begin(), first);
  auto reads = [](Operation &op) {
    return llvm::any_of(op.getOperands(), dependsOnMemory);
  };
  if (reads(*first) || llvm::any_of(address, reads))
    return;
  for (Operation &op : address)
    cloneOperands(op);
  cloneOperands(*first);
  IRMapping ofRow = mapping;
  ofRow.map(forall.getInductionVar(0), row);
  for (Operation &op : address)
    b.clone(op, ofRow);
  auto load = cast<memref::LoadOp>(*first);
  cuda::PrefetchOp::create(b, load.getLoc(), load.getMemref(),
                           ofRow.lookupOrDefault(load.getIndices()[0]),
                           holdsRow, l2);
}

void Distribution::prefetchScalars() {
  for (auto load : forall.getBody()->getOps<memref::LoadOp>()) {
    Value index = load.getIndices()[0];
    if (dependsOnMemory(index))
      continue;
    cloneSlice(index);
    cuda::PrefetchOp::create(b, load.getLoc(), load.getMemref(), lookup(index),
                             holdsRow, /*l2=*/true);
  }
}

//===----------------------------------------------------------------------===//
// The row program
//===----------------------------------------------------------------------===//

/// The conditions under which a row is stored.
static SmallVector<scf::IfOp> getGuards(Block *block) {
  SmallVector<scf::IfOp> guards;
  for (auto guard : block->getOps<scf::IfOp>())
    if (guard.getNumResults() == 0)
      guards.push_back(guard);
  return guards;
}

/// Writes of rows in `block`, in order.
static SmallVector<row::WriteOp> getWrites(Block *block) {
  return llvm::to_vector(block->getOps<row::WriteOp>());
}

LogicalResult Distribution::emitGuard(scf::IfOp guard) {
  // What needs other lanes comes before the condition.
  if (failed(cloneScalars(guard.thenBlock())))
    return failure();
  SmallVector<row::WriteOp> writes = getWrites(guard.thenBlock());
  for (row::WriteOp write : writes)
    if (failed(prepareStore(write)))
      return failure();
  auto mapped =
      scf::IfOp::create(b, guard.getLoc(), lookup(guard.getCondition()));
  OpBuilder::InsertionGuard saved(b);
  b.setInsertionPointToStart(mapped.thenBlock());
  for (row::WriteOp write : writes)
    if (failed(cast<row::DistributableOpInterface>(*write).distribute(*this)))
      return failure();
  emitScalarStores(guard.thenBlock());
  return success();
}

void Distribution::emitScalarStores(Block *block) {
  auto scalars = block->getOps<memref::StoreOp>();
  onFirstOf(scalars.empty() ? 0 : view.lanes, [&] {
    for (memref::StoreOp store : scalars)
      b.clone(*store, mapping);
  });
}

LogicalResult Distribution::emitStores(Block *block) {
  for (row::WriteOp write : getWrites(block))
    if (failed(cast<row::DistributableOpInterface>(*write).distribute(*this)))
      return failure();
  for (scf::IfOp guard : getGuards(block))
    if (failed(emitGuard(guard)))
      return failure();
  // A scalar result of the row is written by its first lane.
  emitScalarStores(block);
  return success();
}

/// Computes what all elements of the row share, once for all sections.
LogicalResult Distribution::computeNumbers(Distribution &section) {
  for (Operation &op : *forall.getBody())
    for (Value operand : op.getOperands()) {
      auto type = dyn_cast<VectorType>(operand.getType());
      auto made = op.getNumResults() == 1
                      ? dyn_cast<VectorType>(op.getResult(0).getType())
                      : VectorType();
      if (!type || !made || type.getNumElements() != 1 ||
          made.getNumElements() == 1)
        continue;
      Footprint number = getNumberFootprint();
      if (failed(placeLoads(operand, number)))
        return failure();
      auto value = get(operand, number);
      if (failed(value))
        return failure();
      section.set(operand, {1, made.getNumElements()}, *value);
    }
  return success();
}

/// Finds the statistics of the whole row, and then reads it again to compute
/// and store it section by section.
LogicalResult Distribution::distributeSections() {
  Block *body = forall.getBody();
  mapRows(nullptr);
  SmallVector<row::WriteOp> writes = getWrites(body);
  if (!getGuards(body).empty() || writes.empty())
    return forall.emitOpError()
           << "schedule_rows_c4: expected rows that are stored without a "
              "condition, as they are computed section by section";
  for (row::WriteOp write : writes)
    if (failed(prepareStatistics(write.getValue())))
      return failure();
  if (failed(cloneScalars(body)))
    return failure();
  launchDependents();
  View section = view;
  section.access = Access::section();
  section.extent = schedule.getRowMapping().section * getStep();
  int64_t row = writes.front().getValue().getType().getNumElements();
  Distribution part = withView(section);
  if (failed(computeNumbers(part)))
    return failure();
  auto loop = scf::ForOp::create(b, forall.getLoc(), constant(0), constant(row),
                                 constant(section.extent));
  loop.getInductionVar().setLoc(getLoc("section"));
  part.view.first = loop.getInductionVar();
  part.b.setInsertionPointToStart(loop.getBody());
  for (row::WriteOp write : writes) {
    if (write.getValue().getType().getNumElements() != row)
      return write.emitOpError() << "schedule_rows_c4: expected " << row
                                 << " elements, as in the other rows";
    if (failed(part.placeLoads(write.getValue(), {section.extent, 1})))
      return failure();
  }
  for (row::WriteOp write : writes)
    if (failed(cast<row::DistributableOpInterface>(*write).distribute(part)))
      return failure();
  emitScalarStores(body);
  forall.erase();
  return success();
}

LogicalResult Distribution::distributeRows(const Cooperation *with) {
  if (!with && schedule.getRowMapping().section)
    return distributeSections();
  Block *body = forall.getBody();
  mapRows(with);
  SmallVector<row::WriteOp> all = getWrites(body);
  for (scf::IfOp guard : getGuards(body))
    llvm::append_range(all, getWrites(guard.thenBlock()));
  // Loads that wait for no other come first, then scalars of the row, which
  // each of its lanes computes alike, then the loads that need those.
  if (failed(placeLoads(all, /*early=*/true)))
    return failure();
  if (with && schedule.getRowsPerBlock() == 1) {
    // All threads need the plan of the one row, and those that wait for scalars
    // of the row have it by then, too.
    for (Operation &op : with->plan->without_terminator())
      cloneOperands(op);
    Value holds = std::exchange(holdsRow, Value());
    if (failed(cloneScalars(with->plan)))
      return failure();
    holdsRow = holds;
  }
  if (failed(cloneScalars(body)) || failed(placeLoads(all, /*early=*/false)))
    return failure();
  // Once loads are in flight: earlier, the dependent kernel would take the SM
  // slots that they need.
  bool startsAtOnce = with && schedule.startsAtOnce();
  if (startsAtOnce)
    launchDependents();
  if (with && failed(with->emit()))
    return failure();
  if (!startsAtOnce)
    launchDependents();
  if (with)
    enterGuard();
  if (failed(emitStores(body)))
    return failure();
  forall.erase();
  return success();
}

/// Refuses ops that would be dropped: those that take rows and have no result,
/// unless they write, and conditions within conditions.
static LogicalResult verifyRoots(Block *block, bool isGuard) {
  for (Operation &op : *block) {
    bool takesRow = llvm::any_of(
        op.getOperandTypes(), [](Type type) { return isa<VectorType>(type); });
    if (op.getNumResults() == 0 && takesRow && !isa<row::WriteOp>(op))
      return op.emitOpError() << "cannot be distributed over lanes";
    auto guard = dyn_cast<scf::IfOp>(op);
    if (!guard || guard.getNumResults() != 0)
      continue;
    if (isGuard || !guard.getElseRegion().empty())
      return guard.emitOpError()
             << "is nested in another condition or has an else: expected one "
                "condition around the stores";
    if (failed(verifyRoots(guard.thenBlock(), /*isGuard=*/true)))
      return failure();
  }
  return success();
}

LogicalResult Distribution::run() {
  if (failed(verifyRoots(forall.getBody(), /*isGuard=*/false)))
    return failure();
  for (Operation &op : *forall.getBody()) {
    auto distributable = dyn_cast<row::DistributableOpInterface>(op);
    if (distributable && distributable.getScope(schedule) != row::Scope::Lanes)
      return distributable.distribute(*this);
  }
  return distributeRows(nullptr);
}

Distribution Distribution::enter(Block *body, const View &inner) const {
  Distribution part = withView(inner);
  part.b.setInsertionPointToStart(body);
  return part;
}

Distribution Distribution::withView(const View &inner) const {
  Distribution part = *this;
  part.view = inner;
  part.fragments.clear();
  part.vectorCounts.clear();
  if (view.access.isRow())
    part.rows = const_cast<Distribution *>(this);
  return part;
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
      for (scf::ForallOp forall : loops) {
        if (forall.getRank() != 1 || !forall.isNormalized()) {
          forall.emitOpError()
              << "is not a loop over rows: expected one index from 0 in steps "
                 "of 1";
          return signalPassFailure();
        }
        if (failed(Distribution(kernel, forall).run()))
          return signalPassFailure();
      }
    }
  }
};
} // namespace
