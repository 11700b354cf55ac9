//===- Distribution.cpp - The pass, and the order of a row program --------===//
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

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_DISTRIBUTEROWS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

Distribution::Distribution(KernelOp kernel, scf::ForallOp forall)
    : schedule(kernel.getScheduleAttr()), forall(forall), b(forall) {
  RowMapping mapping = schedule.getRowMapping();
  view.map = ElementMap::ofThreads(mapping.lanes, mapping.vector);
  sectionSteps = mapping.section;
}

Location Distribution::getLoc(StringRef name) {
  return NameLoc::get(b.getStringAttr(name), forall.getLoc());
}

Value Distribution::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, forall.getLoc(), value);
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

/// Whether an op of `block` computes with a stride that is known at run time,
/// and none needs other lanes but for what it stores.
static bool findsAddressesLate(Block *block) {
  bool usesStrides = llvm::any_of(*block, [](Operation &op) {
    return llvm::any_of(op.getOperands(), [](Value operand) {
      return operand.getDefiningOp<StrideOp>();
    });
  });
  return usesStrides && llvm::none_of(*block, [](Operation &op) {
           return isa<row::DistributableOpInterface>(op) &&
                  !isa<row::WriteOp>(op);
         });
}

LogicalResult Distribution::emitGuard(scf::IfOp guard) {
  // What needs other lanes comes before the condition, and so do addresses. But
  // those with run-time strides are products, which are not known long before:
  // found here, they take no registers of what the row is computed in.
  const bool late = findsAddressesLate(guard.thenBlock());
  if (!late && failed(cloneScalars(guard.thenBlock())))
    return failure();
  SmallVector<row::WriteOp> writes = getWrites(guard.thenBlock());
  for (row::WriteOp write : writes)
    if (failed(prepareStore(write)))
      return failure();
  auto mapped =
      scf::IfOp::create(b, guard.getLoc(), lookup(guard.getCondition()));
  OpBuilder::InsertionGuard saved(b);
  b.setInsertionPointToStart(mapped.thenBlock());
  if (late && failed(cloneScalars(guard.thenBlock())))
    return failure();
  for (row::WriteOp write : writes)
    if (failed(cast<row::DistributableOpInterface>(*write).distribute(*this)))
      return failure();
  emitScalarStores(guard.thenBlock());
  return success();
}

void Distribution::emitScalarStores(Block *block) {
  auto scalars = block->getOps<memref::StoreOp>();
  onFirstOf(scalars.empty() ? 0 : view.map.getThreads(), [&] {
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

/// Rows that are stored, with a condition or without one.
static SmallVector<row::WriteOp> getStored(Block *body) {
  SmallVector<row::WriteOp> stored = getWrites(body);
  for (scf::IfOp guard : getGuards(body))
    llvm::append_range(stored, getWrites(guard.thenBlock()));
  return stored;
}

LogicalResult Distribution::placeStoredLoads(bool early) {
  earlyOnly = early;
  for (row::WriteOp write : getStored(forall.getBody())) {
    int64_t group = write.getGroup();
    int64_t row = write.getValue().getType().getNumElements() * group;
    if (failed(placeLoads(write.getValue(), {row, group})))
      return failure();
  }
  earlyOnly = false;
  return success();
}

LogicalResult Distribution::placeFirstLoads() {
  return placeStoredLoads(/*early=*/true);
}

LogicalResult Distribution::placeOtherLoads() {
  if (failed(cloneScalars(forall.getBody())))
    return failure();
  return placeStoredLoads(/*early=*/false);
}

LogicalResult Distribution::storeRows() {
  if (failed(emitStores(forall.getBody())))
    return failure();
  eraseProgram();
  return success();
}

LogicalResult Distribution::distributeRows() {
  if (sectionSteps)
    return distributeSections();
  prefetchSearched();
  waitForPreviousKernel();
  mapRowsToLanes(view.map.getThreads());
  if (failed(placeFirstLoads()) || failed(placeOtherLoads()))
    return failure();
  // Once loads are in flight: earlier, the dependent kernel would take the SM
  // slots that they need.
  launchDependents();
  finishLoads();
  return storeRows();
}

/// Whether `op` is done by more threads than the lanes of a row, and
/// distributes the program itself.
static bool isCooperative(Operation &op, ScheduleAttr schedule) {
  auto distributable = dyn_cast<row::DistributableOpInterface>(op);
  return distributable && distributable.getScope(schedule) != row::Scope::Lanes;
}

/// Refuses ops that would be dropped: those that take rows and have no result,
/// unless they write, and conditions within conditions.
static LogicalResult verifyRoots(Block *block, ScheduleAttr schedule,
                                 bool isGuard) {
  for (Operation &op : *block) {
    bool takesRow = llvm::any_of(
        op.getOperandTypes(), [](Type type) { return isa<VectorType>(type); });
    if (op.getNumResults() == 0 && takesRow && !isa<row::WriteOp>(op) &&
        (isGuard || !isCooperative(op, schedule)))
      return op.emitOpError() << "cannot be distributed over lanes";
    auto guard = dyn_cast<scf::IfOp>(op);
    if (!guard || guard.getNumResults() != 0)
      continue;
    if (isGuard || !guard.getElseRegion().empty())
      return guard.emitOpError()
             << "is nested in another condition or has an else: expected one "
                "condition around the stores";
    if (failed(verifyRoots(guard.thenBlock(), schedule, /*isGuard=*/true)))
      return failure();
  }
  return success();
}

LogicalResult Distribution::run() {
  if (failed(verifyRoots(forall.getBody(), schedule, /*isGuard=*/false)))
    return failure();
  for (Operation &op : *forall.getBody())
    if (isCooperative(op, schedule))
      return cast<row::DistributableOpInterface>(op).distribute(*this);
  return distributeRows();
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
  part.afterLoads.clear();
  if (view.access.isRow())
    part.rows = const_cast<Distribution *>(this);
  return part;
}

/// A row program has the blocks that its schedule says.
static LogicalResult verifyNoGrid(KernelOp kernel, scf::ForallOp forall) {
  auto grids = kernel.getBody().front().getOps<GridOp>();
  if (grids.empty())
    return success();
  InFlightDiagnostic error = (*grids.begin()).emitOpError();
  error << "is in a kernel with the row program of an 'scf.forall', whose "
           "blocks follow from the schedule and the number of rows; expected "
           "one of the two in a kernel";
  error.attachNote(forall.getLoc()) << "the 'scf.forall' is here";
  return error;
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
        if (failed(verifyNoGrid(kernel, forall)) ||
            failed(Distribution(kernel, forall).run()))
          return signalPassFailure();
      }
    }
  }
};
} // namespace
