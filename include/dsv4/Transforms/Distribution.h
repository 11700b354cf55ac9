//===- Distribution.h - Rows to threads, row vectors to fragments -*- C++
//-*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an op of a row program sees while it is given to threads. A thread holds
// a fragment of every row: S vectors of V consecutive elements. Element e
// belongs to step s, lane l and position v with
//
//   e = (s * lanes + l) * V + v.
//
// A scale that covers g elements is held once per vector or per step, never
// once per element.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TRANSFORMS_DISTRIBUTION_H
#define DSV4_TRANSFORMS_DISTRIBUTION_H

#include "dsv4/Dialect/Row/ElementOps.h"
#include "dsv4/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

namespace dsv4 {

/// Which elements the threads of a distribution have.
struct View {
  /// How they access rows: whole rows between lanes unless it says otherwise.
  Access access = Access::row();
  /// Lanes that hold a row, and consecutive elements of it each has in a step.
  int64_t lanes = 1, vector = 1;
  mlir::Value lane;
  /// Of columns, a vector of which one thread computes: the first one.
  mlir::Value column;
  /// Of a section: its first element, and how many it has.
  mlir::Value first;
  int64_t extent = 0;
  /// Of elements by index: the fragment of their indices.
  mlir::Value indices;
  /// Of ranks, one of which is at hand and is `lane`: what was selected for it.
  mlir::Value index;
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
  /// The most rows there can be. The last block may count past them, but not
  /// past 2^31 - 1: the runtime sees to that.
  int64_t getMaxRows();
  /// Whether rows are read by way of shared memory.
  bool isStaged() const { return staged; }

  /// Elements of a row that its lanes have in one step.
  int64_t getStep() const { return view.lanes * view.vector; }
  /// Steps of a row, the last one rounded up.
  int64_t getSteps(int64_t row) const {
    return llvm::divideCeil(row, getStep());
  }
  bool isUneven(int64_t row) const { return row % getStep() != 0; }
  /// Whether one scale is for the row, or for whole steps of it.
  bool isOfSteps(Footprint at) const {
    return at.group == at.row || at.group >= getStep();
  }
  /// Of one number that every lane of a row has. It stands for more than one
  /// element, even where a lane has one.
  Footprint getNumberFootprint() const {
    int64_t step = std::max<int64_t>(getStep(), 2);
    return {step, step};
  }
  /// What `at` is for values that stand for `times` as many elements.
  Footprint coarsen(Footprint at, int64_t times) const;

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  mlir::Value constant(int64_t value);
  /// A scalar of the row program as it is here; makes its arithmetic, where it
  /// is not there yet.
  mlir::Value getScalar(mlir::Value value);
  mlir::Value lookup(mlir::Value value) const {
    return mapping.lookupOrDefault(value);
  }
  void map(mlir::Value value, mlir::Value here) { mapping.map(value, here); }

  /// Of elements (group 1), or of scales.
  mlir::VectorType getFragmentType(mlir::Type element, Footprint at) const;
  /// The fragment of a row. Its loads have been placed.
  mlir::FailureOr<mlir::Value> get(mlir::Value value, Footprint at);
  void set(mlir::Value value, Footprint at, mlir::Value fragment) {
    fragments[{value, at.group}] = fragment;
  }
  /// Emits the loads that `value` is made of and that are not there yet.
  llvm::LogicalResult placeLoads(mlir::Value value, Footprint at);
  /// A statistic of a whole row, for what is computed of parts of it.
  mlir::FailureOr<mlir::Value> getStatistic(mlir::Value value);
  /// Places the loads of all statistics that elements of `value` are computed
  /// from.
  llvm::LogicalResult prepareStatistics(mlir::Value value);
  /// Computes them.
  llvm::LogicalResult computeStatistics(mlir::Value value);
  /// Whether some element of `value` depends on the whole row.
  bool needsWholeRow(mlir::Value value) const;
  /// Has `value`, all of whose row lanes hold, read from `fragment` where
  /// columns of it are asked for.
  void setWholeRow(mlir::Value value, mlir::Value fragment) {
    wholeRows[value] = fragment;
  }
  mlir::Value lookupWholeRow(mlir::Value value) const {
    return wholeRows.lookup(value);
  }
  void forgetWholeRows() { wholeRows.clear(); }

  /// lane * multiplier / divisor.
  mlir::Value laneOffset(int64_t multiplier, int64_t divisor);
  /// How many vectors of an uneven row the lane has; null where all have one
  /// number.
  mlir::Value getVectorCount(int64_t row);
  /// Emits on the first of every so many lanes.
  void onFirstOf(int64_t lanes, llvm::function_ref<void()> emit);
  /// What must hold for this thread to read what only its own row needs; null
  /// where all do.
  mlir::Value getReadCondition() const {
    return earlyOnly ? mlir::Value() : holdsRow;
  }

  //===--------------------------------------------------------------------===//
  // For cooperative ops
  //===--------------------------------------------------------------------===//

  /// What an op that all threads of a block do together adds to a kernel whose
  /// rows lanes hold.
  struct Cooperation {
    /// The program that says where operands of a row are: its first load is
    /// brought near ahead of time.
    mlir::Block *plan = nullptr;
    /// Whether rows of one block are a grid apart rather than neighbours.
    bool rowsApart = false;
    /// Emits the op.
    llvm::function_ref<llvm::LogicalResult()> emit;
  };
  /// Maps rows to lanes and emits all of the row program.
  llvm::LogicalResult distributeRows(const Cooperation *with);
  /// Maps rows to warps, `lanes` of them a row, without a cooperative op, and
  /// leaves the builder where a row is.
  void mapRowsToLanes(int64_t lanes);
  /// Maps a row to every so many blocks.
  void mapRowsToBlocks(int64_t blocksPerRow);
  /// Maps `rows` rows to a block, whose threads have them together.
  void mapRowsToTiles(int64_t rows);
  /// Here row `tileRow` of those is at hand.
  void mapRowOfTile(mlir::Value tileRow);
  /// Whether the row at hand is one that there is.
  mlir::Value getInside() const { return inside; }
  /// What only the row at hand needs is read if there is such a row.
  void readOnlyInside() { holdsRow = inside; }
  /// Whether `value`, of the row program, may differ from row to row.
  bool dependsOnRow(mlir::Value value);
  /// Plans `bytes` bytes of the block's shared memory for one op of the kernel:
  /// where they begin, a multiple of 16.
  int64_t allocateShared(int64_t bytes);
  int64_t getSharedBytes() const { return sharedBytes; }
  void eraseProgram() { forall.erase(); }

  /// The same row program in the block `body`, seen by `view`.
  Distribution enter(mlir::Block *body, const View &view) const;
  /// The same here, with elements by index.
  Distribution withView(const View &view) const;
  /// All threads compute what follows, whether they hold a row or not.
  void forAllThreads() { holdsRow = {}; }
  void setStaged(bool value) { staged = value; }

  /// Scalar arithmetic of a row program.
  llvm::LogicalResult cloneScalars(mlir::Block *block);
  /// Stores of `block`, and of the conditions in it.
  llvm::LogicalResult emitStores(mlir::Block *block);
  /// The fragment of what a store writes, made where all threads are.
  mlir::FailureOr<mlir::Value> prepareStore(row::WriteOp write);

private:
  using Placed = llvm::DenseSet<std::pair<mlir::Value, int64_t>>;

  void mapRows(const Cooperation *with);
  llvm::LogicalResult distributeSections();
  llvm::LogicalResult computeNumbers(Distribution &section);
  mlir::Value mapRowsOfBlock(mlir::Value block, mlir::Value rowInBlock,
                             const Cooperation *with,
                             mlir::IntegerAttr maxBlocks);
  void mapHolders(mlir::Value thread, mlir::Value isFirstOfCluster,
                  mlir::Value &row);
  void enterGuard();
  void waitForPreviousKernel();
  void launchDependents();
  void prefetchPlan(mlir::Block *plan, mlir::Value row, bool l2);
  void prefetchScalars();
  void cloneSlice(mlir::Value value);
  void cloneOperands(mlir::Operation &op);
  llvm::LogicalResult cloneScalar(mlir::Operation &op);
  llvm::LogicalResult placeLoads(mlir::Value value, Footprint at,
                                 Placed &placed);
  llvm::LogicalResult placeRead(row::ReadOp read, Footprint at);
  llvm::LogicalResult placeLoads(llvm::ArrayRef<row::WriteOp> writes,
                                 bool early);
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
  mlir::Value inside; ///< Whether the thread holds a row that there is.
  /// Where threads work for rows of others: whether this one holds a row. The
  /// others do not wait for what only that row needs.
  mlir::Value holdsRow;
  bool earlyOnly = false;
  bool staged = false;
  /// Bytes of shared memory that are planned.
  int64_t sharedBytes = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> statistics, wholeRows;
  llvm::DenseMap<int64_t, mlir::Value> vectorCounts; ///< By the row.
  /// By value and group.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> fragments;
};

/// Whether `value`, a scalar of a row program, is made of what was read.
bool dependsOnMemory(mlir::Value value);

/// Elements of a row of the row program.
inline int64_t getExtent(mlir::Value row) {
  return mlir::cast<mlir::VectorType>(row.getType()).getNumElements();
}

} // namespace dsv4

#endif // DSV4_TRANSFORMS_DISTRIBUTION_H
