//===- Distribution.h - Rows to threads, vectors to fragments ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The context of an op of a row program while it is mapped to threads. A thread
// holds a fragment of every row: a vector of consecutive elements per step, by
// an ElementMap. A scale that covers g elements is held once per vector or per
// step, never once per element.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TRANSFORMS_DISTRIBUTION_H
#define DSV4_TRANSFORMS_DISTRIBUTION_H

#include "dsv4/Dialect/Row/ElementOps.h"
#include "dsv4/Passes.h"
#include "dsv4/Transforms/ElementMap.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace dsv4 {

/// The elements that the threads of a distribution have.
struct View {
  /// How they access rows; by default lanes hold whole rows.
  Access access = Access::row();
  /// The threads that hold a row, and this one's number among them.
  ElementMap map;
  mlir::Value lane;
  /// Of columns: the first column of the vector that a thread computes.
  mlir::Value column;
  /// Of a section: its first element, and its length.
  mlir::Value first;
  int64_t extent = 0;
  /// Of the last section, which may be longer than what is left: the end of
  /// the elements. Null if sections divide them.
  mlir::Value end;
  /// Of a section that begins where no vector does: a divisor of its first
  /// element. Else 0.
  int64_t multiple = 0;
  /// Of elements by index: the fragment of their indices.
  mlir::Value indices;
  /// Of ranks, where `lane` is the current one: the selected index.
  mlir::Value index;
  /// Whether rows are read through shared memory.
  bool staged = false;
};

/// The rows of a block, if it has several.
enum class RowOrder {
  Neighbours,
  /// Row i of a block is i grids from its first one. Blocks go through their
  /// rows at one pace, so rows that share memory are read together.
  GridApart
};

/// Distributes one row program over the threads of its kernel.
class Distribution {
public:
  using Footprint = row::Footprint;

  Distribution(KernelOp kernel, mlir::scf::ForallOp forall);

  llvm::LogicalResult run();

  //===--------------------------------------------------------------------===//
  // What is distributed, and how
  //===--------------------------------------------------------------------===//

  mlir::OpBuilder &getBuilder() { return b; }
  mlir::Location getLoc() { return forall.getLoc(); }
  mlir::Location getLoc(llvm::StringRef name);
  ScheduleAttr getSchedule() const { return schedule; }
  const View &getView() const { return view; }
  mlir::Block *getProgram() { return forall.getBody(); }
  mlir::Value getRowIndex() { return forall.getInductionVar(0); }
  /// Of the block, of the kernel.
  mlir::Value getFirstRow() const { return firstRow; }
  mlir::Value getRowCount() const { return rowCount; }
  /// Whether all threads of a block hold rows, which are neighbours. Only
  /// threads of rows that exist run what is emitted.
  bool haveAllThreadsRows() const { return allThreadsHaveRows; }
  /// Whether neighbouring lanes of one warp hold all of a row of `elements`
  /// elements, each as many as the others, and run what is emitted together.
  bool haveNeighboursRow(int64_t elements) const;
  /// The maximum number of rows. The last block may count past them, but not
  /// past 2^31 - 1, which the runtime ensures.
  int64_t getMaxRows();

  /// The map from elements to the threads of a row.
  const ElementMap &getMap() const { return view.map; }
  /// Whether one scale covers the row, or whole steps of it.
  bool isOfSteps(Footprint at) const {
    return view.map.isHeldByAll(at.row, at.group);
  }
  /// The footprint of one number that every lane of a row has. It covers more
  /// than one element, even if a lane has one.
  Footprint getNumberFootprint() const {
    int64_t step = std::max<int64_t>(view.map.getStep(), 2);
    return {step, step};
  }
  /// `at` for values that cover `times` as many elements.
  Footprint coarsen(Footprint at, int64_t times) const;
  /// The footprint of the `times` values that become one of `at`. Its group is
  /// 0 if there is none, which verifyGroup refuses.
  Footprint refine(Footprint at, int64_t times) const;
  /// Whether threads can hold values of `row`, which `user` takes, for the
  /// group of `at`: parts of a vector, whole vectors, or whole steps.
  llvm::LogicalResult verifyGroup(mlir::Operation *user, mlir::Value row,
                                  Footprint at) const;

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  mlir::Value constant(int64_t value);
  /// The scalar for one of the row program; emits its arithmetic, if it does
  /// not exist yet.
  mlir::Value getScalar(mlir::Value value);
  mlir::Value lookup(mlir::Value value) const {
    return mapping.lookupOrDefault(value);
  }
  void map(mlir::Value value, mlir::Value here) { mapping.map(value, here); }
  /// Scalars of the row program that are here.
  const mlir::IRMapping &getScalars() const { return mapping; }
  /// Makes the scalars that `op` and ops in it take.
  void placeOperands(mlir::Operation &op);

  /// Of elements (group 1), or of scales.
  mlir::VectorType getFragmentType(mlir::Type element, Footprint at) const;
  /// The fragment of a row. Its loads exist.
  mlir::FailureOr<mlir::Value> get(mlir::Value value, Footprint at);
  void set(mlir::Value value, Footprint at, mlir::Value fragment) {
    fragments[{value, at.group}] = fragment;
  }
  /// Emits the loads that `value` depends on and that do not exist yet.
  llvm::LogicalResult placeLoads(mlir::Value value, Footprint at);
  /// A statistic of a whole row, for ops that compute parts of it.
  mlir::FailureOr<mlir::Value> getStatistic(mlir::Value value);
  /// Emits the loads of all statistics that elements of `value` are computed
  /// from.
  llvm::LogicalResult prepareStatistics(mlir::Value value);
  /// Computes them.
  llvm::LogicalResult computeStatistics(mlir::Value value);
  /// Whether some element of `value` depends on the whole row.
  bool needsWholeRow(mlir::Value value) const;
  /// Reads columns of `value`, whose whole row lanes hold, from `fragment`.
  void setWholeRow(mlir::Value value, mlir::Value fragment) {
    wholeRows[value] = fragment;
  }
  void forgetWholeRows() { wholeRows.clear(); }

  /// The thread's number * multiplier / divisor.
  mlir::Value laneOffset(int64_t multiplier, int64_t divisor);
  /// Whether some lanes have a vector of the row less than others.
  bool isUneven(int64_t row) const {
    return view.end || view.map.isUneven(row);
  }
  /// Whether lanes do not hold a whole row of `elements` elements, not even to
  /// find its statistics: it is too long, or they do not divide it.
  bool foldsRow(int64_t elements) const {
    return sectionSteps &&
           (isUneven(elements) ||
            elements > view.map.getThreads() * limits::kMaxHeldElements);
  }
  /// The number of vectors of an uneven row that the lane has; null if all
  /// lanes have the same.
  mlir::Value getVectorCount(int64_t row);
  /// Refuses `op`, which exchanges values between the threads that hold `group`
  /// neighbouring elements, if these are not lanes of one warp.
  llvm::LogicalResult verifyExchange(mlir::Operation *op, int64_t group) const;
  //===--------------------------------------------------------------------===//
  // Sections
  //===--------------------------------------------------------------------===//

  bool isBySections() const { return sectionSteps != 0; }
  /// The view of the sections of `elements` elements from `first` on, or of the
  /// row.
  View getSections(mlir::Value first, int64_t elements) const;
  /// The reduction of all elements of a row or, of a long group, of the current
  /// group, section by section.
  mlir::FailureOr<mlir::Value> foldSections(row::ReduceOp reduce,
                                            cuda::ReduceKind kind);
  /// The current section of the transform of a row.
  mlir::FailureOr<mlir::Value> transformSection(row::HadamardOp op,
                                                Footprint at);
  /// The fragment of `count` elements of `value` from element `begin` on, where
  /// the current section is one of those.
  mlir::FailureOr<mlir::Value> getShifted(mlir::Value value, int64_t begin,
                                          Footprint at);
  /// The elements of the fragment of a reduction for lanes that have a vector
  /// less.
  mlir::Value padVectors(mlir::Value fragment, cuda::ReduceKind kind,
                         int64_t elements);

  /// Emits on the first of every `threads` threads of a row.
  void onFirstOf(int64_t threads, llvm::function_ref<void()> emit);
  /// The condition for loads that only this thread's row needs; null if all
  /// threads load.
  mlir::Value getReadCondition() const {
    return earlyOnly ? mlir::Value() : holdsRow;
  }

  //===--------------------------------------------------------------------===//
  // Rows to threads
  //
  // The steps of a kernel. The driver combines them for rows that lanes hold
  // alone. An op of more threads combines them itself with its own steps, and
  // decides when the kernel waits and when dependent kernels may start.
  //===--------------------------------------------------------------------===//

  /// No memory that the previous kernel may write is read before.
  void waitForPreviousKernel();
  /// The scalars of a row that are found without others in memory.
  llvm::SmallVector<mlir::memref::LoadOp> getFirstScalars();
  /// Brings their lines into the L2 cache, if the condition holds or is null.
  /// May come before the wait: the L2 cache has what other kernels write.
  void prefetchFirstScalars(mlir::Value condition);
  /// The same of what rows search. The threads of the first block alone do it:
  /// those of all blocks would ask one part of the cache for the same lines.
  void prefetchSearched();
  /// From here on dependent kernels take the SM slots that are free.
  void launchDependents();
  /// `op` makes a fragment of what is loaded, and may come after other loads.
  void deferAfterLoads(mlir::Operation *op) { afterLoads.push_back(op); }
  /// All loads are in flight: what may come after them comes here.
  void finishLoads();

  /// Maps rows to neighbouring threads, `lanes` per row. The builder is then
  /// inside the row.
  void mapRowsToLanes(int64_t lanes);
  /// Makes all threads of a block, or of a cluster, work for each of its rows,
  /// which lanes of the first threads hold.
  void mapRowsToHolders(RowOrder order);
  /// Maps each row to `blocksPerRow` blocks.
  void mapRowsToBlocks(int64_t blocksPerRow);
  /// Maps `rows` rows to a block, or to a cluster, whose threads share them.
  void mapRowsToTiles(int64_t rows);
  /// Lets all blocks share all rows: the row of a tile is one of these.
  void mapRowsToGrid();
  /// Makes row `tileRow` of those the current one.
  void mapRowOfTile(mlir::Value tileRow);
  /// The code that follows is for threads that hold a row.
  void enterGuard();

  /// Emits the loads of stored values that depend on no other load.
  llvm::LogicalResult placeFirstLoads();
  /// Emits scalars of the row, which each of its lanes computes alike, and then
  /// the loads that need those.
  llvm::LogicalResult placeOtherLoads();
  /// Emits the stores of the program, which ends there.
  llvm::LogicalResult storeRows();
  void eraseProgram() { forall.erase(); }

  //===--------------------------------------------------------------------===//
  // For cooperative ops
  //===--------------------------------------------------------------------===//

  /// Whether the current row exists.
  mlir::Value getInside() const { return inside; }
  /// Loads that only the current row needs are read if the row exists.
  void readOnlyInside() { holdsRow = inside; }
  /// Whether `value`, of the row program, may differ from row to row.
  bool dependsOnRow(mlir::Value value);
  /// Plans `bytes` bytes of the block's shared memory for one op of the kernel.
  /// Returns their begin, a multiple of 16.
  int64_t allocateShared(int64_t bytes);
  int64_t getSharedBytes() const { return sharedBytes; }

  /// The same row program in the block `body`, seen by `view`.
  Distribution enter(mlir::Block *body, const View &view) const;
  /// The same here, with elements by index.
  Distribution withView(const View &view) const;
  /// From here on all threads compute, whether they hold a row or not.
  void forAllThreads() { holdsRow = {}; }

  /// Scalar arithmetic of a row program.
  llvm::LogicalResult cloneScalars(mlir::Block *block);
  /// The same, read by all threads, whether they hold a row or not.
  llvm::LogicalResult cloneScalarsForAll(mlir::Block *block);
  /// Stores of `block`, and of the conditions in it.
  llvm::LogicalResult emitStores(mlir::Block *block);
  /// The fragment that a store writes, computed by all threads.
  mlir::FailureOr<mlir::Value> prepareStore(row::WriteOp write);

private:
  using Placed = llvm::DenseSet<std::pair<mlir::Value, int64_t>>;

  /// Where a thread is, and `rowInBlock`: which of the rows of its block, or
  /// of its cluster, it would hold.
  struct ThreadIds {
    mlir::Value thread, block, isFirstOfCluster, rowInBlock;
    mlir::IntegerAttr maxBlocks;
  };
  ThreadIds emitThreadIds();
  mlir::Value getNeighbour(const ThreadIds &ids, mlir::Location firstRowLoc);
  mlir::Value getRowGridsApart(const ThreadIds &ids);
  void setInside(mlir::Value row);
  mlir::Value mapHolders(const ThreadIds &ids, mlir::Value row);
  llvm::LogicalResult distributeRows();
  llvm::LogicalResult distributeSections();
  llvm::LogicalResult computeNumbers(Distribution &section);
  llvm::LogicalResult computeStatisticsOf(mlir::Value value);
  mlir::FailureOr<int64_t> getLongGroup(int64_t row);
  llvm::LogicalResult computeGroup(Distribution &section, int64_t group);
  llvm::LogicalResult emitNumbers();
  llvm::LogicalResult emitLoop(llvm::ArrayRef<row::WriteOp> writes,
                               int64_t row);
  llvm::LogicalResult emitSections(llvm::ArrayRef<row::WriteOp> writes,
                                   mlir::Value first, int64_t elements,
                                   Distribution *group);
  llvm::LogicalResult emitSection(llvm::ArrayRef<row::WriteOp> writes);
  mlir::Value countVectorsLeft();
  void cloneSlice(mlir::Value value);
  llvm::LogicalResult cloneScalar(mlir::Operation &op);
  llvm::LogicalResult placeLoads(mlir::Value value, Footprint at,
                                 Placed &placed);
  llvm::LogicalResult placeRead(row::ReadOp read, Footprint at);
  /// Of all rows that are stored.
  llvm::LogicalResult placeStoredLoads(bool early);
  mlir::FailureOr<mlir::Value> getElementwise(mlir::Operation *op,
                                              Footprint at);
  llvm::LogicalResult emitGuard(mlir::scf::IfOp guard);
  void emitScalarStores(mlir::Block *block);

  ScheduleAttr schedule;
  mlir::scf::ForallOp forall;
  mlir::OpBuilder b;
  View view;
  /// The distribution of whole rows that this one sees parts of.
  Distribution *rows = nullptr;
  mlir::IRMapping mapping; ///< Scalars of the row program.
  mlir::Value firstRow, rowCount;
  mlir::Value inside; ///< Whether the thread holds an existing row.
  /// If threads work for rows of others: whether this one holds a row. The
  /// others skip loads that only that row needs.
  mlir::Value holdsRow;
  bool earlyOnly = false;
  bool allThreadsHaveRows = false;
  /// Steps of a section, if rows are computed by sections.
  int64_t sectionSteps = 0;
  /// Bytes of shared memory that are planned.
  int64_t sharedBytes = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> statistics, wholeRows;
  llvm::DenseMap<int64_t, mlir::Value> vectorCounts; ///< By the row.
  llvm::SmallVector<mlir::Operation *> afterLoads;
  /// By value and group.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> fragments;
};

/// Whether `value`, a scalar of a row program, depends on loads.
bool dependsOnMemory(mlir::Value value);

/// Elements of a row of the row program.
inline int64_t getExtent(mlir::Value row) {
  return mlir::cast<mlir::VectorType>(row.getType()).getNumElements();
}

} // namespace dsv4

#endif // DSV4_TRANSFORMS_DISTRIBUTION_H
