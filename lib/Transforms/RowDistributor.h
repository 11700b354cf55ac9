//===- RowDistributor.h - Rows to threads, vectors to lanes -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TRANSFORMS_ROWDISTRIBUTOR_H
#define DSV4_LIB_TRANSFORMS_ROWDISTRIBUTOR_H

#include "dsv4/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace dsv4 {

using namespace mlir;

/// How the elements of a value relate to the N elements of the stored row: one
/// for `group` of them, in memory permuted by `interleave`.
struct Footprint {
  int64_t row = 0; ///< N.
  int64_t group = 1;
  int64_t interleave = 1;
};

/// Whether `value`, a scalar of a row program, is made of what was read.
bool dependsOnMemory(Value value);

/// Distributes one row program over the threads of its kernel: mapping and
/// order in DistributeRows.cpp, what a lane holds in RowShares.cpp, what it
/// writes in RowStores.cpp, selections in DistributeSelection.cpp.
class RowDistributor {
public:
  RowDistributor(KernelOp kernel, scf::ForallOp forall)
      : schedule(kernel.getScheduleAttr()), forall(forall), b(kernel),
        laneCount(schedule.getLanes()), chunkSize(schedule.getVector()) {}

  LogicalResult run();

private:
  /// From so many windows a block on they are a grid apart: dsv4::pool, the
  /// pool_many_rows of which this is, goes through them so.
  static constexpr int64_t kManyRows = 4;
  /// Lanes of a warp, which has a row where one selects from it.
  static constexpr int64_t kWarp = 32;

  /// Replaces the loop by thread arithmetic; leaves the builder in the body.
  void mapRows();
  /// Has the threads that hold `row` bring near what says where its window is:
  /// when a block comes to its later rows, it should not wait for that. What a
  /// launch before may still write is brought to the L2 cache alone.
  void prefetchPlans(Value row, bool l2);
  /// The same of the scalars of the row, to the L2 cache.
  void prefetchScalars();
  /// What follows is for rows that there are, and for threads that hold one.
  void enterGuard();
  /// Emits the loads behind `value` that are not there yet: all, or those whose
  /// address depends on no other load.
  LogicalResult placeLoads(Value value, Footprint at);
  /// The same, but for values that were seen with the same group: what a value
  /// is made of may be shared, so a walk without this set is exponential.
  using Placed = llvm::DenseSet<std::pair<Value, int64_t>>;
  LogicalResult placeLoads(Value value, Footprint at, Placed &placed);
  LogicalResult placeLoads(ArrayRef<Operation *> stores, bool earlyOnly);
  /// Scalar arithmetic that `value` is made of.
  void cloneSlice(Value value);
  /// The same for what `op` and its regions use of the row program.
  void cloneOperands(Operation &op);
  LogicalResult placeLoad(Value value, Operation *load, Type element,
                          Footprint at);
  /// The share of `value`; its loads have been placed.
  FailureOr<Value> share(Value value, Footprint at);
  FailureOr<Value> shareLoad(Operation *load, Type element, Footprint at);
  FailureOr<Value> shareSlice(vector::ExtractStridedSliceOp slice,
                              Footprint at);

  /// Scalar arithmetic of a row program.
  void cloneScalars(Block *block);
  /// The same of a pool, where a block has one row: all of its threads need the
  /// plan, and those that wait for scalars of the row have it by then, too.
  void cloneWindow(Region &window);
  LogicalResult placeLoadsOfStore(Operation *store);
  LogicalResult emitStore(Operation *store);
  LogicalResult emitRowStore(vector::StoreOp store);
  /// Values that every lane of the row holds, or one of so many lanes.
  void storeWhole(cuda::StoreGroupsOp store, Value values, Value offset);
  LogicalResult storeDealt(cuda::StoreGroupsOp store, Value values,
                           Value offset);
  LogicalResult emitGuard(scf::IfOp guard);
  void emitScalarStores(Block *block);
  /// Pools the rows of a window with all threads of the block.
  LogicalResult emitPool(cuda::PoolOp pool);
  /// Pools a piece of a window with some of them.
  LogicalResult emitPoolOnline(cuda::PoolOnlineOp pool);
  /// What a lane of a team does: its share of vectors that the region is given,
  /// reads, stores and ends in, which are rows of so many channels.
  LogicalResult emitTeamRegion(Region &from, Region &to, int64_t channels);
  /// A kernel that selects from its rows, in DistributeSelection.cpp.
  LogicalResult runSelection(cuda::SelectOp select);
  void mapSelectedRow();
  void mapSelectedRowToWarp();
  /// What regions of a selection by a warp take of the whole row.
  LogicalResult emitRowNumbers(cuda::SelectOp select);
  LogicalResult emitChunk(Region &from, Region &to);
  LogicalResult emitPlace(Region &from, cuda::SelectOp to);
  /// The stores of the row, of its guards, and of its scalars.
  LogicalResult emitStores();
  /// Emits on the first of every so many lanes.
  void onFirstOf(int64_t lanes, function_ref<void()> emit);
  /// The share of what a store writes.
  FailureOr<Value> shareOfStore(Operation *store);

  /// Type of a share: of elements (group 1) or of factors.
  VectorType getShareType(Type element, Footprint at) const;
  /// Of a row of which lanes have unequal numbers of chunks the largest one.
  int64_t steps(int64_t row) const { return llvm::divideCeil(row, stepSize()); }
  bool isUneven(int64_t row) const { return row % stepSize() != 0; }
  /// How many chunks of an uneven row the lane has.
  Value getChunks(int64_t row);
  /// Whether lanes can have unequal shares of what is reduced, if they have.
  bool canBeShared(cuda::ReduceOp reduce) const;
  /// A share of what is reduced, with what changes nothing where a lane has no
  /// chunk; and of how many elements that makes the row.
  Value padForReduce(cuda::ReduceOp reduce, Value source);
  int64_t getPaddedGroup(cuda::ReduceOp reduce) const;
  /// Whether one factor is for the row, or for whole steps of it.
  bool isOfSteps(Footprint at) const {
    return at.group == at.row || at.group >= stepSize();
  }
  int64_t stepSize() const { return laneCount * chunkSize; }
  /// The most rows there can be. The last block may count past them, but not
  /// past 2^31 - 1: the runtime sees to that.
  int64_t getMaxRows() {
    OpFoldResult bound = forall.getMixedUpperBound()[0];
    if (auto constant = getConstantIntValue(bound))
      return std::max<int64_t>(*constant, 1);
    if (auto count = cast<Value>(bound).getDefiningOp<RowCountOp>())
      return std::max<int64_t>(count.getMax(), 1);
    return INT32_MAX;
  }
  /// lane * factor / divisor, as index.
  Value laneOffset(int64_t multiplier, int64_t divisor);
  Value indexConstant(int64_t value) {
    return arith::ConstantIndexOp::create(b, forall.getLoc(), value);
  }
  Location name(StringRef text) {
    return NameLoc::get(b.getStringAttr(text), forall.getLoc());
  }

  RowScheduleAttr schedule;
  scf::ForallOp forall;
  OpBuilder b;
  /// Lanes that hold a row, and consecutive elements of it each has in a step.
  int64_t laneCount, chunkSize;
  IRMapping mapping; ///< Scalars of the row program.
  Value lane;
  Value firstRow, rowCount; ///< Of the block, of the kernel.
  Value inside;             ///< Whether the thread holds a row that there is.
  /// Where threads work for rows of others: whether this one holds a row. The
  /// others do not wait for what only that row needs.
  Value holdsRow;
  bool earlyOnly = false;
  bool stages = false; ///< Whether loads go through shared memory.
  /// What regions of a selection have of the whole row: numbers, and rows.
  llvm::DenseMap<Value, Value> rowNumbers;
  llvm::DenseMap<int64_t, Value> chunkCounts; ///< By the row.
  /// Shares by value and group.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> shares;
};

} // namespace dsv4

#endif // DSV4_LIB_TRANSFORMS_ROWDISTRIBUTOR_H
