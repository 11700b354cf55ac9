//===- Sections.cpp - Rows that lanes do not hold whole -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes of a row read it once for its statistics, and again to compute and
// store it, section by section. A row of moderate length is held to find the
// statistics. A longer one is folded section by section there, too, so what a
// kernel holds and unrolls does not grow with its rows.
//
// Rows of different lengths, such as the segments of a row, have loops of their
// own. A group of scales that is longer than a section is a loop of sections
// within the loop over groups.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA/SectionOps.h"
#include "dsv4/Transforms/Distribution.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

/// Elements of the row that a write is of.
static int64_t getRow(row::WriteOp write) {
  return write.getValue().getType().getNumElements() *
         static_cast<int64_t>(write.getGroup());
}

/// Whether every lane of the row has all that is written.
static bool isNumber(row::WriteOp write) {
  return write.getValue().getType().getNumElements() == 1 &&
         write.getGroup() > 1;
}

/// Rows of `block` that are written, and the condition of each or null.
static SmallVector<std::pair<row::WriteOp, scf::IfOp>>
getGuardedStores(Block *block) {
  SmallVector<std::pair<row::WriteOp, scf::IfOp>> stored;
  for (Operation &op : *block) {
    if (auto write = dyn_cast<row::WriteOp>(op))
      stored.push_back({write, scf::IfOp()});
    auto guard = dyn_cast<scf::IfOp>(op);
    if (guard && guard.getNumResults() == 0)
      for (auto write : guard.thenBlock()->getOps<row::WriteOp>())
        stored.push_back({write, guard});
  }
  return stored;
}

View Distribution::getSections(Value first, int64_t elements) const {
  View section = view;
  section.access = Access::section();
  // Vectors divide the elements: where those are odd, more of fewer elements.
  section.extent = sectionSteps * view.map.getStep();
  section.map.vector = std::gcd(view.map.vector, elements);
  section.first = first;
  section.end = {};
  section.multiple = 0;
  return section;
}

//===----------------------------------------------------------------------===//
// What elements share
//===----------------------------------------------------------------------===//

/// The operand of `op` that has `count` values where the result has more, or
/// null.
static Value getShared(Operation &op, function_ref<bool(int64_t, int64_t)> is) {
  auto made = op.getNumResults() == 1
                  ? dyn_cast<VectorType>(op.getResult(0).getType())
                  : VectorType();
  for (Value operand : op.getOperands()) {
    auto type = dyn_cast<VectorType>(operand.getType());
    if (type && made && is(type.getNumElements(), made.getNumElements()))
      return operand;
  }
  return {};
}

/// Computes what all elements of the row share, once for all sections.
LogicalResult Distribution::computeNumbers(Distribution &section) {
  for (Operation &op : *forall.getBody()) {
    Value shared = getShared(
        op, [](int64_t count, int64_t made) { return count == 1 && made > 1; });
    if (!shared)
      continue;
    Footprint number = getNumberFootprint();
    if (failed(placeLoads(shared, number)))
      return failure();
    auto value = get(shared, number);
    if (failed(value))
      return failure();
    section.set(shared, section.getNumberFootprint(), *value);
  }
  return success();
}

/// Computes what the elements of the current group of `group` share.
LogicalResult Distribution::computeGroup(Distribution &section, int64_t group) {
  for (Operation &op : *forall.getBody()) {
    Value shared = getShared(op, [&](int64_t count, int64_t made) {
      return count > 1 && made == count * group;
    });
    if (!shared || isa<row::ReduceOp>(op))
      continue;
    Footprint at{group, group};
    if (failed(placeLoads(shared, at)))
      return failure();
    finishLoads();
    auto value = get(shared, at);
    if (failed(value))
      return failure();
    section.set(shared, at, *value);
  }
  return success();
}

/// The group of scales that is longer than a section, or 0.
FailureOr<int64_t> Distribution::getLongGroup(int64_t row) {
  int64_t extent = getSections(Value(), row).extent, found = 0;
  for (Operation &op : *forall.getBody()) {
    int64_t group = 0;
    if (auto expand = dyn_cast<row::ExpandOp>(op);
        expand && getExtent(expand.getScales()) > 1)
      group = getExtent(expand.getRow()) / getExtent(expand.getScales());
    if (auto reduce = dyn_cast<row::ReduceOp>(op);
        reduce && !reduce.isStatistic())
      group = reduce.getGroup();
    if (group <= extent || row % group != 0)
      continue;
    if (found && found != group)
      return op.emitOpError()
             << "schedule_rows_c4: has scales of groups of " << found << " and "
             << group << " elements, both longer than a section of " << extent
             << " elements; expected one such group";
    found = group;
  }
  return found;
}

/// Computes the statistics of whole rows that `value` depends on: they are
/// needed within a loop, and found before it.
LogicalResult Distribution::computeStatisticsOf(Value value) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> left = {value};
  while (!left.empty()) {
    Value next = left.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !isa<VectorType>(next.getType()) || !seen.insert(next).second)
      continue;
    if (auto reduce = dyn_cast<row::ReduceOp>(op);
        reduce && reduce.isStatistic()) {
      if (failed(getStatistic(next)))
        return failure();
      continue;
    }
    llvm::append_range(left, op->getOperands());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Section by section
//===----------------------------------------------------------------------===//

/// A sum or a maximum of f32 has an element that changes nothing. What is added
/// to -0 is what it was; to 0, -0 is not.
static float getNeutral(cuda::ReduceKind kind) {
  switch (kind) {
  case cuda::ReduceKind::Sum:
    return -0.0f;
  case cuda::ReduceKind::MaxNaN:
    return -std::numeric_limits<float>::infinity();
  case cuda::ReduceKind::MaxAbs:
  case cuda::ReduceKind::MaxAbsNaN:
    return 0.0f;
  }
  llvm_unreachable("all kinds are above");
}

Value Distribution::padVectors(Value fragment, cuda::ReduceKind kind,
                               int64_t elements) {
  return cuda::KeepVectorsOp::create(b, getLoc(), fragment.getType(), fragment,
                                     getVectorCount(elements),
                                     APFloat(getNeutral(kind)));
}

FailureOr<Value> Distribution::foldSections(row::ReduceOp reduce,
                                            cuda::ReduceKind kind) {
  Value source = reduce.getSource();
  Distribution &whole = view.access.isRow() ? *this : *rows;
  if (failed(whole.computeStatisticsOf(source)))
    return failure();
  int64_t elements = reduce.getGroup();
  View inner =
      getSections(view.access.isRow() ? Value() : view.first, elements);
  // The tree of a sum pairs elements by the bits of their index.
  if (kind == cuda::ReduceKind::Sum) {
    inner.map.vector &= -inner.map.vector;
    inner.extent =
        inner.map.getStep() * llvm::bit_floor(static_cast<uint64_t>(
                                  inner.extent / inner.map.getStep()));
  }
  Location loc = reduce.getLoc();
  Value first = inner.first ? inner.first : constant(0);
  Value end = inner.first ? arith::AddIOp::create(b, getLoc(), first,
                                                  constant(elements))
                          : constant(elements);
  auto number = VectorType::get({1}, b.getF32Type());
  auto fold = cuda::FoldSectionsOp::create(
      b, loc, number, kind, first, end, inner.extent,
      llvm::divideCeil(elements, inner.extent));
  Block *body =
      b.createBlock(&fold.getBody(), {}, {b.getIndexType()}, {getLoc("begin")});
  b.setInsertionPointAfter(fold);
  inner.first = body->getArgument(0);
  if (elements % inner.extent != 0)
    inner.end = end;
  Distribution part = enter(body, inner);
  Footprint at{inner.extent, 1};
  if (failed(part.placeLoads(source, at)))
    return failure();
  part.finishLoads();
  auto value = part.get(source, at);
  if (failed(value))
    return failure();
  if (inner.end)
    *value = part.padVectors(*value, kind, inner.extent);
  Value result = cuda::ReduceOp::create(part.b, loc, number, kind, *value,
                                        inner.extent, inner.map.lanes);
  cuda::SectionYieldOp::create(part.b, loc, result);
  return fold.getFolded();
}

FailureOr<Value> Distribution::transformSection(row::HadamardOp op,
                                                Footprint at) {
  int64_t elements = getExtent(op.getTransformed());
  if (elements % view.extent != 0 || view.end)
    return op.emitOpError() << "schedule_rows_c4: sections of " << view.extent
                            << " elements do not divide the " << elements
                            << " elements of a row that is transformed";
  if (failed(rows->computeStatisticsOf(op.getSource())))
    return failure();
  VectorType type = getFragmentType(b.getF32Type(), at);
  auto transform = cuda::HadamardSectionsOp::create(
      b, op.getLoc(), type, view.first, view.extent, elements);
  View inner = view;
  Block *body = b.createBlock(&transform.getBody(), {}, {b.getIndexType()},
                              {getLoc("other")});
  b.setInsertionPointAfter(transform);
  inner.first = body->getArgument(0);
  Distribution part = enter(body, inner);
  if (failed(part.placeLoads(op.getSource(), at)))
    return failure();
  part.finishLoads();
  auto source = part.get(op.getSource(), at);
  if (failed(source))
    return failure();
  Value own = cuda::HadamardOp::create(part.b, op.getLoc(), type, *source,
                                       view.map.lanes);
  cuda::SectionYieldOp::create(part.b, op.getLoc(), own);
  return transform.getTransformed();
}

FailureOr<Value> Distribution::getShifted(Value value, int64_t begin,
                                          Footprint at) {
  View shifted = view;
  if (begin != 0) {
    shifted.first =
        arith::AddIOp::create(b, getLoc(), view.first, constant(begin));
    if (view.end)
      shifted.end =
          arith::AddIOp::create(b, getLoc(), view.end, constant(begin));
    shifted.multiple =
        std::gcd(view.multiple ? view.multiple : view.extent, begin);
  }
  Distribution part = withView(shifted);
  if (failed(part.placeLoads(value, at)))
    return failure();
  part.finishLoads();
  auto fragment = part.get(value, at);
  b = part.b;
  return fragment;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Stores `writes` under their conditions.
LogicalResult Distribution::emitSection(ArrayRef<row::WriteOp> writes) {
  llvm::MapVector<Operation *, SmallVector<row::WriteOp>> byGuard;
  for (row::WriteOp write : writes) {
    Operation *parent = write->getParentOp();
    byGuard[parent == forall ? nullptr : parent].push_back(write);
  }
  for (auto &[parent, guarded] : byGuard) {
    OpBuilder::InsertionGuard saved(b);
    if (auto guard = cast_if_present<scf::IfOp>(parent)) {
      // What needs other lanes comes before the condition.
      for (row::WriteOp write : guarded)
        if (failed(prepareStore(write)))
          return failure();
      auto mapped =
          scf::IfOp::create(b, guard.getLoc(), lookup(guard.getCondition()));
      b.setInsertionPointToStart(mapped.thenBlock());
    }
    for (row::WriteOp write : guarded)
      if (failed(cast<row::DistributableOpInterface>(*write).distribute(*this)))
        return failure();
  }
  return success();
}

/// The sections of `elements` elements from `first` on. What they share is
/// known of the row, and of `group`, or `group` is null.
LogicalResult Distribution::emitSections(ArrayRef<row::WriteOp> writes,
                                         Value first, int64_t elements,
                                         Distribution *group) {
  Distribution &whole = view.access.isRow() ? *this : *rows;
  Distribution part = withView(getSections(first, elements));
  if (failed(whole.computeNumbers(part)))
    return failure();
  if (group && failed(group->computeGroup(part, elements)))
    return failure();
  OpBuilder &at = group ? group->b : b;
  Location loc = forall.getLoc();
  Value begin = first ? first : constant(0);
  Value end = first ? arith::AddIOp::create(
                          at, loc, first,
                          arith::ConstantIndexOp::create(at, loc, elements))
                          .getResult()
                    : constant(elements);
  auto loop = scf::ForOp::create(
      at, loc, begin, end,
      arith::ConstantIndexOp::create(at, loc, part.view.extent));
  loop.getInductionVar().setLoc(getLoc("section"));
  part.view.first = loop.getInductionVar();
  if (first)
    part.view.multiple = std::gcd(elements, part.view.extent);
  if (elements % part.view.extent != 0)
    part.view.end = end;
  part.b.setInsertionPointToStart(loop.getBody());
  for (row::WriteOp write : writes)
    if (failed(part.placeLoads(
            write.getValue(),
            {part.view.extent, static_cast<int64_t>(write.getGroup())})))
      return failure();
  part.finishLoads();
  return part.emitSection(writes);
}

/// The loop for rows of `row` elements.
LogicalResult Distribution::emitLoop(ArrayRef<row::WriteOp> writes,
                                     int64_t row) {
  auto longGroup = getLongGroup(row);
  if (failed(longGroup))
    return failure();
  if (*longGroup == 0)
    return emitSections(writes, Value(), row, /*group=*/nullptr);
  int64_t elements = *longGroup;
  View groups = getSections(Value(), row);
  groups.extent = elements;
  Distribution group = withView(groups);
  if (failed(computeNumbers(group)))
    return failure();
  auto loop = scf::ForOp::create(b, forall.getLoc(), constant(0), constant(row),
                                 constant(elements));
  loop.getInductionVar().setLoc(getLoc("group"));
  group.view.first = loop.getInductionVar();
  group.b.setInsertionPointToStart(loop.getBody());
  auto isOfGroup = [&](row::WriteOp write) {
    return static_cast<int64_t>(write.getGroup()) == elements;
  };
  SmallVector<row::WriteOp> ofGroups =
      llvm::filter_to_vector(writes, isOfGroup);
  SmallVector<row::WriteOp> others = llvm::filter_to_vector(
      writes, [&](row::WriteOp write) { return !isOfGroup(write); });
  if (failed(group.emitSections(others, group.view.first, elements, &group)))
    return failure();
  for (row::WriteOp write : ofGroups)
    if (failed(group.placeLoads(write.getValue(), {elements, elements})))
      return failure();
  return group.emitSection(ofGroups);
}

/// What every lane of a row has is stored once.
LogicalResult Distribution::emitNumbers() {
  Block *body = forall.getBody();
  SmallVector<row::WriteOp> numbers;
  for (auto [write, guard] : getGuardedStores(body))
    if (isNumber(write)) {
      int64_t row = getRow(write);
      if (failed(placeLoads(write.getValue(), {row, row})))
        return failure();
      numbers.push_back(write);
    }
  finishLoads();
  if (failed(emitSection(numbers)))
    return failure();
  emitScalarStores(body);
  for (auto guard : body->getOps<scf::IfOp>()) {
    if (guard.getNumResults() != 0 ||
        guard.thenBlock()->getOps<memref::StoreOp>().empty())
      continue;
    auto mapped =
        scf::IfOp::create(b, guard.getLoc(), lookup(guard.getCondition()));
    OpBuilder::InsertionGuard saved(b);
    b.setInsertionPointToStart(mapped.thenBlock());
    emitScalarStores(guard.thenBlock());
  }
  return success();
}

LogicalResult Distribution::distributeSections() {
  Block *body = forall.getBody();
  waitForPreviousKernel();
  mapRowsToLanes(view.map.getThreads());
  auto stored = getGuardedStores(body);
  for (auto [write, guard] : stored)
    if (failed(prepareStatistics(write.getValue())))
      return failure();
  if (failed(cloneScalars(body)))
    return failure();
  for (auto guard : body->getOps<scf::IfOp>())
    if (guard.getNumResults() == 0 && failed(cloneScalars(guard.thenBlock())))
      return failure();
  launchDependents();
  afterLoads.clear();
  // Rows of one length are computed together.
  llvm::MapVector<int64_t, SmallVector<row::WriteOp>> loops;
  for (auto [write, guard] : stored)
    if (!isNumber(write))
      loops[getRow(write)].push_back(write);
  for (auto &[row, writes] : loops)
    if (failed(emitLoop(writes, row)))
      return failure();
  if (failed(emitNumbers()))
    return failure();
  eraseProgram();
  return success();
}
