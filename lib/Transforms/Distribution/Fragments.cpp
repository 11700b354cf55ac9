//===- Fragments.cpp - What a thread holds of a row -----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Transforms/Distribution.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;
using row::Demand;
using row::DistributableOpInterface;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

row::Footprint Distribution::coarsen(Footprint at, int64_t times) const {
  // A rank is one element, whatever the row has; of elements by index only
  // what stands for the whole row can be shared.
  if (view.access.isElements())
    at.group = at.row;
  else if (!view.access.isRanks())
    at.group *= times;
  return at;
}

row::Footprint Distribution::refine(Footprint at, int64_t times) const {
  at.group = at.group % times == 0 ? at.group / times : 0;
  return at;
}

LogicalResult Distribution::verifyGroup(Operation *user, Value row,
                                        Footprint at) const {
  if (at.group == 0)
    return user->emitOpError()
           << "makes one value of "
           << getExtent(row) / getExtent(user->getResult(0))
           << " of a row, and its values are used as if they stood for fewer: "
              "expected a 'row.write' with their 'group', or a 'row.expand' to "
              "the whole row";
  const bool hasSteps = view.access.isRow() || view.access.isSection();
  // All of a section is of one long group.
  const bool isLong = view.access.isSection() && at.group >= view.extent;
  if (at.group == 1 || getExtent(row) == 1 || view.map.hasWholeSegments() ||
      !hasSteps || isLong)
    return success();
  auto nests = [&](int64_t outer) {
    return outer % at.group == 0 || at.group % outer == 0;
  };
  if (!nests(view.map.vector) || !nests(view.map.getStep()))
    return user->emitOpError()
           << "schedule_rows_c3: takes values that stand for " << at.group
           << " elements each, which do not nest with vectors of "
           << view.map.vector << " elements and steps of " << view.map.getStep()
           << ": expected a group that divides both or that they divide, or "
              "'vector = 0'";
  // Groups within a vector are of the lane that has the vector.
  if (isUneven(at.row) && !isOfSteps(at) && view.map.vector % at.group != 0)
    return user->emitOpError()
           << "schedule_rows_c3: takes values that stand for " << at.group
           << " elements each of a row of " << at.row
           << " elements: expected whole steps of " << view.map.getStep()
           << " elements, or 'vector = 0'";
  return success();
}

bool Distribution::haveNeighboursRow(int64_t elements) const {
  const bool hasSteps = view.access.isRow() || view.access.isSection();
  return allThreadsHaveRows && hasSteps && view.map.lanes > 1 &&
         view.map.lanes == view.map.getThreads() &&
         !view.map.hasWholeSegments() && !isUneven(elements);
}

VectorType Distribution::getFragmentType(Type element, Footprint at) const {
  if (view.access.isRanks())
    return VectorType::get({1, 1}, element);
  if (view.map.hasWholeSegments())
    return VectorType::get({std::max<int64_t>(1, at.row / at.group)}, element);
  int64_t count = view.map.getSteps(at.row);
  if (at.group == 1)
    return VectorType::get({count, view.map.vector}, element);
  if (isOfSteps(at))
    return VectorType::get({std::max<int64_t>(1, at.row / at.group)}, element);
  return VectorType::get({count, view.map.getValuesPerVector(at.group)},
                         element);
}

Value Distribution::laneOffset(int64_t multiplier, int64_t divisor) {
  int64_t common = std::gcd(multiplier, divisor);
  multiplier /= common;
  divisor /= common;
  Value value = view.lane;
  Location loc = forall.getLoc();
  if (divisor != 1)
    value = arith::DivSIOp::create(b, loc, value, constant(divisor));
  if (multiplier != 1)
    value = arith::MulIOp::create(b, loc, value, constant(multiplier));
  return value;
}

/// The vectors of a section that lie before the end of the elements: a section
/// has at least one element, so the count is not negative.
Value Distribution::countVectorsLeft() {
  Location loc = forall.getLoc();
  int64_t step = view.map.getStep();
  Value left = arith::SubIOp::create(b, loc, view.end, view.first);
  left = arith::SubIOp::create(b, loc, left, laneOffset(view.map.vector, 1));
  left = arith::AddIOp::create(b, loc, left, constant(step - 1));
  return arith::DivSIOp::create(b, getLoc("vectors"), left, constant(step));
}

Value Distribution::getVectorCount(int64_t row) {
  if (!isUneven(row))
    return {};
  Value &count = vectorCounts[row];
  if (count)
    return count;
  if (view.end)
    return count = countVectorsLeft();
  OpBuilder::InsertionGuard saved(b);
  if (Operation *op = view.lane.getDefiningOp())
    b.setInsertionPointAfter(op);
  int64_t max = view.map.getSteps(row);
  Value has =
      arith::CmpIOp::create(b, forall.getLoc(), arith::CmpIPredicate::slt,
                            view.lane, constant(view.map.getLastThreads(row)));
  return count = arith::SelectOp::create(b, getLoc("vectors"), has,
                                         constant(max), constant(max - 1));
}

void Distribution::onFirstOf(int64_t threads, function_ref<void()> emit) {
  if (threads <= 1)
    return emit();
  Location loc = forall.getLoc();
  Value number = view.lane;
  if (threads < view.map.getThreads())
    number = arith::RemUIOp::create(b, loc, view.lane, constant(threads));
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number,
                                      constant(0));
  auto guard = scf::IfOp::create(b, loc, first);
  OpBuilder::InsertionGuard saved(b);
  b.setInsertionPointToStart(guard.thenBlock());
  emit();
}

LogicalResult Distribution::verifyExchange(Operation *op, int64_t group) const {
  for (ThreadAxis axis : view.map.getSpreadAxes(group)) {
    if (axis == ThreadAxis::Lane)
      continue;
    bool isWarps = axis == ThreadAxis::Warp;
    return op->emitOpError()
           << "exchanges values between " << view.map.getExtent(axis)
           << (isWarps ? " warps" : " blocks") << " that hold " << group
           << " elements of a row, which no device call does: expected at most "
           << view.map.lanes * view.map.vector
           << " elements, which the lanes of one warp hold side by side";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool dsv4::dependsOnMemory(Value value) {
  // Each op once: operands may share ops.
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> left;
  auto visit = [&](Value operand) {
    if (Operation *op = operand.getDefiningOp(); op && seen.insert(op).second)
      left.push_back(op);
  };
  visit(value);
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
      return true;
    llvm::for_each(op->getOperands(), visit);
  }
  return false;
}

LogicalResult Distribution::cloneScalar(Operation &op) {
  if (auto load = dyn_cast<memref::LoadOp>(op); load && holdsRow) {
    auto own = cuda::LoadOp::create(b, load.getLoc(), load.getType(),
                                    lookup(load.getMemref()),
                                    lookup(load.getIndices()[0]), holdsRow,
                                    /*vectors=*/Value());
    mapping.map(load.getResult(), own.getValue());
    return success();
  }
  auto distributable = dyn_cast<DistributableOpInterface>(op);
  if (!distributable) {
    b.clone(op, mapping);
    return success();
  }
  for (OpResult result : op.getResults()) {
    auto here = distributable.materialize(*this, result, Footprint());
    if (failed(here))
      return failure();
    mapping.map(result, *here);
  }
  return success();
}

LogicalResult Distribution::cloneScalars(Block *block) {
  auto isVector = [](Type type) { return isa<VectorType>(type); };
  for (Operation &op : block->without_terminator()) {
    auto guard = dyn_cast<scf::IfOp>(op);
    if (llvm::any_of(op.getOperandTypes(), isVector) ||
        llvm::any_of(op.getResultTypes(), isVector) ||
        isa<memref::StoreOp>(op) || (guard && guard.getNumResults() == 0))
      continue;
    if (llvm::any_of(op.getResults(),
                     [&](Value value) { return mapping.contains(value); }))
      continue;
    if (failed(cloneScalar(op)))
      return failure();
  }
  return success();
}

LogicalResult Distribution::cloneScalarsForAll(Block *block) {
  Value holds = std::exchange(holdsRow, Value());
  LogicalResult result = cloneScalars(block);
  holdsRow = holds;
  return result;
}

void Distribution::cloneSlice(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || mapping.contains(value) || op->getBlock() != forall.getBody() ||
      isa<VectorType>(value.getType()))
    return;
  placeOperands(*op);
  (void)cloneScalar(*op);
}

void Distribution::placeOperands(Operation &op) {
  op.walk([&](Operation *user) {
    for (Value operand : user->getOperands())
      if (!isa<VectorType>(operand.getType()))
        cloneSlice(operand);
  });
}

Value Distribution::getScalar(Value value) {
  cloneSlice(value);
  return lookup(value);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

LogicalResult Distribution::placeRead(row::ReadOp read, Footprint at) {
  // Elements by index and what is left of a row are read where they are used.
  if (view.access.isElements() || read.getLength())
    return success();
  if (earlyOnly) {
    if (read.getValid() || dependsOnMemory(read.getOffset()))
      return success();
    cloneSlice(read.getOffset());
  }
  auto loaded = cast<DistributableOpInterface>(*read).materialize(
      *this, cast<OpResult>(Value(read.getValue())), at);
  if (failed(loaded))
    return failure();
  fragments[{read.getValue(), at.group}] = *loaded;
  return success();
}

void Distribution::finishLoads() {
  for (Operation *op : std::exchange(afterLoads, {}))
    op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
}

LogicalResult Distribution::placeLoads(Value value, Footprint at) {
  Placed placed;
  return placeLoads(value, at, placed);
}

/// Each value once per group: operands may share values, so a walk without
/// `placed` is exponential.
LogicalResult Distribution::placeLoads(Value value, Footprint at,
                                       Placed &placed) {
  if (fragments.contains({value, at.group}) || statistics.contains(value) ||
      wholeRows.contains(value) || !placed.insert({value, at.group}).second)
    return success();
  Operation *op = value.getDefiningOp();
  if (!op)
    return forall.emitOpError() << "uses a row that it does not compute";
  if (auto read = dyn_cast<row::ReadOp>(op))
    return placeRead(read, at);
  // What its source has handed over is here.
  if (isa<row::TileSourceOpInterface>(op) && mapping.contains(value))
    return success();
  if (isa<row::TileSourceOpInterface>(op))
    return op->emitOpError()
           << "computes rows tile by tile, which only a selection can consume";
  auto distributable = dyn_cast<DistributableOpInterface>(op);
  if (!distributable && !op->hasTrait<OpTrait::Elementwise>() &&
      !matchPattern(op, m_Constant()))
    return op->emitOpError() << "cannot be distributed over lanes";
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<VectorType>(operand.get().getType()))
      continue;
    Demand demand{at};
    if (distributable)
      demand = distributable.getDemand(operand, at, *this);
    if (failed(verifyGroup(op, operand.get(), demand.at)))
      return failure();
    bool isHere =
        !demand.access || (demand.access->isRow() && view.access.isRow());
    if (isHere && failed(placeLoads(operand.get(), demand.at, placed)))
      return failure();
    if (demand.access && demand.access->isElements() && view.access.isRow() &&
        failed(prepareStatistics(operand.get())))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Statistics of whole rows
//===----------------------------------------------------------------------===//

/// Whether `op` needs a whole row, whichever elements of its result are wanted.
static bool takesWholeRow(Operation *op, const Distribution &distribution) {
  auto distributable = dyn_cast<DistributableOpInterface>(op);
  return distributable &&
         llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
           if (!isa<VectorType>(operand.get().getType()))
             return false;
           Demand demand =
               distributable.getDemand(operand, {1, 1}, distribution);
           return demand.access && demand.access->isRow();
         });
}

/// Calls `visit` with every op that takes a whole row of what `value` is
/// computed from element by element; stops where it returns false.
static bool walkStatistics(Value value, const Distribution &distribution,
                           function_ref<bool(Value)> visit) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (takesWholeRow(op, distribution)) {
      if (!visit(next))
        return false;
      continue;
    }
    for (Value operand : llvm::reverse(op->getOperands()))
      if (isa<VectorType>(operand.getType()))
        left.push_back(operand);
  }
  return true;
}

bool Distribution::needsWholeRow(Value value) const {
  return !walkStatistics(value, *this, [](Value) { return false; });
}

LogicalResult Distribution::prepareStatistics(Value value) {
  SmallVector<Value> found;
  walkStatistics(value, *this, [&](Value statistic) {
    found.push_back(statistic);
    return true;
  });
  for (Value statistic : found)
    if (failed(placeLoads(statistic, getNumberFootprint())))
      return failure();
  return success();
}

LogicalResult Distribution::computeStatistics(Value value) {
  bool good = true;
  walkStatistics(value, *this, [&](Value statistic) {
    return good = succeeded(getStatistic(statistic));
  });
  return success(good);
}

FailureOr<Value> Distribution::getStatistic(Value value) {
  if (Value found = statistics.lookup(value))
    return found;
  if (!view.access.isRow()) {
    if (!rows)
      return emitError(value.getLoc())
             << "a statistic of a whole row is needed where the kernel "
                "computes only a part of it";
    return rows->getStatistic(value);
  }
  Footprint whole = getNumberFootprint();
  if (failed(placeLoads(value, whole)))
    return failure();
  auto number = get(value, whole);
  if (succeeded(number))
    statistics[value] = *number;
  return number;
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

FailureOr<Value> Distribution::getElementwise(Operation *op, Footprint at) {
  Type element = cast<VectorType>(op->getResult(0).getType()).getElementType();
  if (matchPattern(op, m_Constant())) {
    auto splat =
        dyn_cast<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    if (!splat)
      return op->emitOpError() << "cannot be distributed over lanes";
    // What is selected for a rank is a scalar, and so are integers beside it.
    if (view.access.isRanks() && element.isInteger())
      return arith::ConstantOp::create(
                 b, forall.getLoc(),
                 b.getIntegerAttr(element, splat.getSplatValue<APInt>()))
          .getResult();
    return arith::ConstantOp::create(
               b, forall.getLoc(),
               splat.resizeSplat(getFragmentType(element, at)))
        .getResult();
  }
  if (!op->hasTrait<OpTrait::Elementwise>())
    return op->emitOpError() << "cannot be distributed over lanes";
  SmallVector<Value> operands;
  bool hasVector = false;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> here = isa<VectorType>(operand.getType())
                                ? get(operand, at)
                                : FailureOr<Value>(getScalar(operand));
    if (failed(here))
      return failure();
    hasVector |= isa<VectorType>(here->getType());
    operands.push_back(*here);
  }
  // One rank of a selection is a scalar.
  Type type = hasVector ? Type(getFragmentType(element, at)) : element;
  return b
      .create(op->getLoc(), op->getName().getIdentifier(), operands, type,
              op->getAttrs())
      ->getResult(0);
}

FailureOr<Value> Distribution::get(Value value, Footprint at) {
  if (Value found = fragments.lookup({value, at.group}))
    return found;
  Operation *op = value.getDefiningOp();
  if (!op)
    return forall.emitOpError() << "uses a row that it does not compute";
  FailureOr<Value> result = failure();
  if (Value whole = wholeRows.lookup(value)) {
    Type element = cast<VectorType>(value.getType()).getElementType();
    result =
        cuda::ColumnsOp::create(b, op->getLoc(), getFragmentType(element, at),
                                whole, view.column, rows->getMap().lanes)
            .getVector();
  } else if (auto distributable = dyn_cast<DistributableOpInterface>(op)) {
    result = distributable.materialize(*this, cast<OpResult>(value), at);
  } else {
    result = getElementwise(op, at);
  }
  if (succeeded(result))
    fragments[{value, at.group}] = *result;
  return result;
}

FailureOr<Value> Distribution::prepareStore(row::WriteOp write) {
  (void)getScalar(write.getOffset());
  int64_t group = write.getGroup();
  int64_t row = write.getValue().getType().getNumElements() * group;
  if (view.access.isSection())
    row = view.extent;
  return get(write.getValue(), {row, group});
}
