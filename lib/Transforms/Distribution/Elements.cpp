//===- Elements.cpp - What is computed of rows ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Transforms/DistributionModel.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dsv4;
using row::Demand;
using row::Footprint;

namespace {

Type getElement(Value row) {
  return cast<VectorType>(row.getType()).getElementType();
}

/// The operand of an op that makes one value of several.
FailureOr<Value> getParts(Operation *op, Distribution &d, Footprint at) {
  Value parts = op->getOperand(0);
  if (failed(d.verifyGroup(op, parts, at)))
    return failure();
  return d.get(parts, at);
}

/// Refuses `op`, which exchanges values of `at` between lanes, if several lanes
/// hold the same one.
LogicalResult verifyOwned(Operation *op, const Distribution &d, Footprint at) {
  const ElementMap &map = d.getMap();
  const Access &access = d.getView().access;
  if (at.group <= std::max<int64_t>(map.vector, 1) || map.hasWholeSegments() ||
      !(access.isRow() || access.isSection()))
    return success();
  return op->emitOpError()
         << "schedule_rows_c3: exchanges values that stand for " << at.group
         << " elements each between lanes with vectors of " << map.vector
         << " elements, so several lanes hold the same value: expected a "
            "vector of at least "
         << at.group << " elements, or 'vector = 0'";
}

/// Values that stand for several elements of the result.
struct ExpandDistribution
    : DistributionModel<ExpandDistribution, row::ExpandOp> {
  Demand getDemand(Operation *op, OpOperand &, Footprint at,
                   const Distribution &d) const {
    auto expand = cast<row::ExpandOp>(op);
    // Of a section that is longer than the row every lane has the number, too.
    if (d.getView().access.isSection() && getExtent(expand.getScales()) == 1)
      return {d.getNumberFootprint()};
    int64_t times = getExtent(expand.getRow()) / getExtent(expand.getScales());
    return {d.coarsen(at, times)};
  }
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult result,
                               Footprint at) const {
    OpOperand &scales = op->getOpOperand(0);
    auto values = d.get(scales.get(), getDemand(op, scales, at, d).at);
    if (failed(values))
      return failure();
    VectorType type = d.getFragmentType(getElement(result), at);
    if (values->getType() == type)
      return values;
    return cuda::ExpandOp::create(d.getBuilder(), op->getLoc(), type, *values)
        .getTile();
  }
};

cuda::ReduceKind convert(row::ReduceKind kind) {
  switch (kind) {
  case row::ReduceKind::Sum:
    return cuda::ReduceKind::Sum;
  case row::ReduceKind::MaxAbs:
    return cuda::ReduceKind::MaxAbs;
  case row::ReduceKind::MaxAbsNaN:
    return cuda::ReduceKind::MaxAbsNaN;
  case row::ReduceKind::MaxNaN:
    return cuda::ReduceKind::MaxNaN;
  }
  llvm_unreachable("all kinds are above");
}

struct ReduceDistribution
    : DistributionModel<ReduceDistribution, row::ReduceOp> {
  Demand getDemand(Operation *op, OpOperand &operand, Footprint at,
                   const Distribution &d) const {
    auto reduce = cast<row::ReduceOp>(op);
    if (d.getView().access.isRanks())
      return {at};
    if (isFolded(reduce, d))
      return {{getExtent(operand.get()), 1}, Access::section()};
    // A row that becomes one number need not be the one that uses it.
    if (reduce.isStatistic())
      return {{getExtent(operand.get()), 1}, Access::row()};
    return {d.refine(at, reduce.getGroup())};
  }

  /// Whether no lane holds all that becomes one value: a row that is too long,
  /// or the current group.
  static bool isFolded(row::ReduceOp reduce, const Distribution &d) {
    const View &view = d.getView();
    if (view.access.isSection())
      return !reduce.isStatistic() &&
             view.extent > d.getSections(Value(), 0).extent;
    return view.access.isRow() && reduce.isStatistic() &&
           d.foldsRow(getExtent(reduce.getSource()));
  }

  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult result,
                               Footprint at) const {
    auto reduce = cast<row::ReduceOp>(op);
    OpBuilder &b = d.getBuilder();
    const Access &access = d.getView().access;
    bool isHere = access.isRow() || access.isRanks();
    if (reduce.isStatistic() && !isHere)
      return getNumber(d, result, at);
    if (isFolded(reduce, d)) {
      // The number is the same for all who use it.
      if (access.isRow() && at.group != d.getNumberFootprint().group)
        return d.getStatistic(result);
      return d.foldSections(reduce, convert(reduce.getKind()));
    }
    OpOperand &operand = op->getOpOperand(0);
    Footprint parts = getDemand(op, operand, at, d).at;
    if (failed(verifyOwned(op, d, parts)))
      return failure();
    auto source = getParts(op, d, parts);
    if (failed(source))
      return failure();
    // Lanes of a warp have a rank each, and those without one have zeros.
    if (access.isRanks()) {
      int64_t lanes = llvm::PowerOf2Ceil(getExtent(operand.get()));
      return cuda::ReduceOp::create(b, op->getLoc(), source->getType(),
                                    convert(reduce.getKind()), *source,
                                    /*group=*/lanes, lanes)
          .getReduced();
    }
    int64_t row = getExtent(operand.get()), group = reduce.getGroup();
    if (d.getView().access.isRow() && d.isUneven(row)) {
      if (!allowsUnevenRow(reduce))
        return reduce.emitOpError()
               << "cannot reduce a row that its lanes do not divide evenly: "
                  "expected the sum or the maximum of all of its f32 elements";
      group = d.getMap().getSteps(row) * d.getMap().getStep();
      source = d.padVectors(*source, convert(reduce.getKind()), row);
    }
    // One call pairs elements of a vector, then of lanes, then of steps. Warps
    // and blocks would come before steps, in calls of their own.
    if (failed(d.verifyExchange(op, group)))
      return failure();
    return cuda::ReduceOp::create(
               b, op->getLoc(), d.getFragmentType(b.getF32Type(), at),
               convert(reduce.getKind()), *source, group, d.getMap().lanes)
        .getReduced();
  }

  /// A statistic of a whole row, for the current elements.
  static FailureOr<Value> getNumber(Distribution &d, OpResult result,
                                    Footprint at) {
    auto number = d.getStatistic(result);
    VectorType type = d.getFragmentType(getElement(result), at);
    // Where the row has one element the number is not expanded to it.
    if (failed(number) || at.group > 1 || number->getType() == type)
      return number;
    return cuda::ExpandOp::create(d.getBuilder(), result.getLoc(), type,
                                  *number)
        .getTile();
  }

  static bool allowsUnevenRow(row::ReduceOp reduce) {
    bool hasNeutral = reduce.getKind() == row::ReduceKind::Sum ||
                      reduce.getKind() == row::ReduceKind::MaxNaN;
    return hasNeutral && getElement(reduce.getSource()).isF32() &&
           reduce.isStatistic();
  }
};

struct HadamardDistribution
    : DistributionModel<HadamardDistribution, row::HadamardOp> {
  Demand getDemand(Operation *, OpOperand &, Footprint at,
                   const Distribution &d) const {
    bool isSection = d.getView().access.isSection() || d.isBySections();
    return {at, isSection ? Access::section() : Access::row()};
  }
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    if (d.getView().access.isSection())
      return d.transformSection(cast<row::HadamardOp>(op), at);
    if (!d.getView().access.isRow())
      return op->emitOpError()
             << "needs a whole row where the kernel computes only a part of it";
    if (failed(verifyOwned(op, d, at)))
      return failure();
    auto source = d.get(op->getOperand(0), at);
    if (failed(source) || failed(d.verifyExchange(op, at.row)))
      return failure();
    return cuda::HadamardOp::create(d.getBuilder(), op->getLoc(),
                                    source->getType(), *source,
                                    d.getMap().lanes)
        .getTransformed();
  }
};

struct JoinDistribution : DistributionModel<JoinDistribution, row::JoinOp> {
  Demand getDemand(Operation *, OpOperand &operand, Footprint at,
                   const Distribution &) const {
    at.row = getExtent(operand.get()) * at.group;
    return {at};
  }
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult result,
                               Footprint at) const {
    if (d.getView().access.isSection())
      return op->emitOpError()
             << "schedule_rows_c4: cannot be computed section by section; "
                "expected at most "
             << limits::kWarp * limits::kMaxHeldElements
             << " elements, or the rows that it joins in a kernel of their own";
    SmallVector<Value> parts;
    for (OpOperand &operand : op->getOpOperands()) {
      auto part = d.get(operand.get(), getDemand(op, operand, at, d).at);
      if (failed(part))
        return failure();
      parts.push_back(*part);
    }
    return cuda::JoinOp::create(d.getBuilder(), op->getLoc(),
                                d.getFragmentType(getElement(result), at),
                                parts[0], parts[1])
        .getJoined();
  }
};

/// An op of single elements that is legal on fragments, too.
template <typename Op>
struct SameDistribution : DistributionModel<SameDistribution<Op>, Op> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    auto source = d.get(op->getOperand(0), at);
    if (failed(source))
      return failure();
    return d.getBuilder()
        .create(op->getLoc(), op->getName().getIdentifier(),
                ValueRange{*source}, source->getType(), op->getAttrs())
        ->getResult(0);
  }
};

//===----------------------------------------------------------------------===//
// Elements by index
//===----------------------------------------------------------------------===//

struct GatherElementsDistribution
    : DistributionModel<GatherElementsDistribution, row::GatherElementsOp> {
  Demand getDemand(Operation *op, OpOperand &operand, Footprint at,
                   const Distribution &) const {
    if (operand.get() == cast<row::GatherElementsOp>(op).getRow())
      return {at, Access::elements()};
    return {at};
  }

  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    auto pick = cast<row::GatherElementsOp>(op);
    auto indices = d.get(pick.getIndices(), at);
    if (failed(indices))
      return failure();
    OpBuilder &b = d.getBuilder();
    if (isa<VectorType>(indices->getType())) {
      View elements = d.getView();
      elements.access = Access::elements();
      elements.indices = *indices;
      return d.withView(elements).get(pick.getRow(), at);
    }
    // One index: a row of one column.
    View column;
    column.access = Access::columns(1);
    column.lane = d.constant(0);
    Value index =
        arith::IndexCastOp::create(b, d.getLoc(), b.getIndexType(), *indices);
    column.column =
        arith::MaxSIOp::create(b, d.getLoc("column"), index, d.constant(0));
    Distribution part = d.withView(column);
    part.forgetWholeRows();
    Footprint one{1, 1};
    if (failed(part.placeLoads(pick.getRow(), one)))
      return failure();
    return part.get(pick.getRow(), one);
  }
};

//===----------------------------------------------------------------------===//
// Elements by their position
//===----------------------------------------------------------------------===//

/// The elements of a row that a thread has: the first one, and from a vector to
/// the next.
struct Positions {
  Value first;
  int64_t stride = 0;
};

FailureOr<Positions> getPositions(Operation *op, Distribution &d,
                                  Footprint at) {
  const Access &access = d.getView().access;
  if (access.isElements() || at.group != 1)
    return op->emitOpError()
           << "is computed by position, which single elements do not have";
  if (access.isRanks())
    return Positions{d.getView().lane, 0};
  if (access.isColumns())
    return Positions{d.getView().column, 0};
  const ElementMap &map = d.getMap();
  if (map.hasWholeSegments())
    return Positions{d.constant(0), 0};
  Positions positions{d.getView().first, 0};
  if (map.getThreads() > 1 || !positions.first) {
    Value ofLane =
        map.getThreads() > 1 ? d.laneOffset(map.vector, 1) : d.constant(0);
    positions.first = positions.first
                          ? arith::AddIOp::create(d.getBuilder(), d.getLoc(),
                                                  positions.first, ofLane)
                          : ofLane;
  }
  if (map.getSteps(at.row) > 1)
    positions.stride = map.getStep();
  return positions;
}

struct SequenceDistribution
    : DistributionModel<SequenceDistribution, row::SequenceOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    auto sequence = cast<row::SequenceOp>(op);
    OpBuilder &b = d.getBuilder();
    auto positions = getPositions(op, d, at);
    if (failed(positions))
      return failure();
    Value start = d.getScalar(sequence.getStart());
    Value step = d.getScalar(sequence.getStep());
    if (!d.getView().access.isRanks())
      return cuda::SequenceOp::create(
                 b, op->getLoc(), d.getFragmentType(b.getI32Type(), at), start,
                 step, positions->first, positions->stride)
          .getNumbers();
    Value number = positions->first;
    if (!matchPattern(step, m_One()))
      number = arith::MulIOp::create(b, d.getLoc(), number, step);
    if (!matchPattern(start, m_Zero()))
      number = arith::AddIOp::create(b, d.getLoc(), start, number);
    return arith::IndexCastOp::create(b, op->getLoc(), b.getI32Type(), number)
        .getResult();
  }
};

struct SpliceDistribution
    : DistributionModel<SpliceDistribution, row::SpliceOp> {
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    auto splice = cast<row::SpliceOp>(op);
    OpBuilder &b = d.getBuilder();
    auto head = d.get(splice.getHead(), at), tail = d.get(splice.getTail(), at);
    auto positions = getPositions(op, d, at);
    if (failed(head) || failed(tail) || failed(positions))
      return failure();
    int64_t count = splice.getCount();
    if (!d.getView().access.isRanks())
      return cuda::SpliceOp::create(b, op->getLoc(), head->getType(), *head,
                                    count, *tail, positions->first,
                                    positions->stride)
          .getSpliced();
    Value isHead =
        arith::CmpIOp::create(b, d.getLoc(), arith::CmpIPredicate::slt,
                              positions->first, d.constant(count));
    return arith::SelectOp::create(b, op->getLoc(), isHead, *head, *tail)
        .getResult();
  }
};

//===----------------------------------------------------------------------===//
// Ops of vector
//===----------------------------------------------------------------------===//

struct InterleaveDistribution
    : DistributionModel<InterleaveDistribution, vector::InterleaveOp> {
  Demand getDemand(Operation *, OpOperand &, Footprint at,
                   const Distribution &) const {
    at.group *= 2;
    return {at};
  }
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult result,
                               Footprint at) const {
    Footprint halves{at.row, at.group * 2, at.interleave};
    auto first = d.get(op->getOperand(0), halves);
    auto second = d.get(op->getOperand(1), halves);
    if (failed(first) || failed(second))
      return failure();
    return d.getBuilder()
        .create(op->getLoc(), op->getName().getIdentifier(),
                ValueRange{*first, *second},
                d.getFragmentType(getElement(result), at), op->getAttrs())
        ->getResult(0);
  }
};

struct DeinterleaveDistribution
    : DistributionModel<DeinterleaveDistribution, vector::DeinterleaveOp> {
  Demand getDemand(Operation *, OpOperand &, Footprint at,
                   const Distribution &d) const {
    return {d.refine(at, 2)};
  }
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult result,
                               Footprint at) const {
    auto source = getParts(op, d, d.refine(at, 2));
    if (failed(source))
      return failure();
    return cuda::AlternateOp::create(d.getBuilder(), op->getLoc(),
                                     d.getFragmentType(getElement(result), at),
                                     *source, result.getResultNumber() == 1)
        .getHalf();
  }
};

struct SliceDistribution
    : DistributionModel<SliceDistribution, vector::ExtractStridedSliceOp> {
  /// A part of a row is of a row of its own, and so are sections of it.
  Demand getDemand(Operation *, OpOperand &operand, Footprint at,
                   const Distribution &d) const {
    if (d.getView().access.isSection())
      return {at, Access::section()};
    at.row = getExtent(operand.get()) * at.group;
    return {at};
  }
  FailureOr<Value> materialize(Operation *op, Distribution &d, OpResult,
                               Footprint at) const {
    auto slice = cast<vector::ExtractStridedSliceOp>(op);
    OpOperand &operand = op->getOpOperand(0);
    int64_t count = slice.getType().getNumElements() * at.group;
    int64_t begin =
        cast<IntegerAttr>(slice.getOffsets()[0]).getInt() * at.group;
    if (d.getView().access.isSection())
      return d.getShifted(operand.get(), begin, at);
    auto source = d.get(operand.get(), getDemand(op, operand, at, d).at);
    if (failed(source))
      return failure();
    auto type = cast<VectorType>(source->getType());
    // A whole vector that every lane holds, or whole steps.
    int64_t unit = type.getRank() == 1 ? at.group : d.getMap().getStep();
    if (begin % unit != 0 || count % unit != 0)
      return slice.emitOpError()
             << "schedule_rows_c3: columns " << begin << " to " << begin + count
             << " are not whole steps of " << unit << " elements";
    if (type.getDimSize(0) == count / unit)
      return *source;
    OpBuilder &b = d.getBuilder();
    if (type.getRank() == 2)
      return cuda::StepsOp::create(
                 b, slice.getLoc(),
                 VectorType::get({count / unit, type.getDimSize(1)},
                                 type.getElementType()),
                 *source, begin / unit)
          .getPart();
    return vector::ExtractStridedSliceOp::create(
               b, d.getLoc(), *source, ArrayRef<int64_t>{begin / unit},
               ArrayRef<int64_t>{count / unit}, ArrayRef<int64_t>{1})
        .getResult();
  }
};

} // namespace

void dsv4::attachElementDistributions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, row::RowDialect *) {
    row::ExpandOp::attachInterface<ExpandDistribution>(*context);
    row::ReduceOp::attachInterface<ReduceDistribution>(*context);
    row::HadamardOp::attachInterface<HadamardDistribution>(*context);
    row::JoinOp::attachInterface<JoinDistribution>(*context);
    row::GatherElementsOp::attachInterface<GatherElementsDistribution>(
        *context);
    row::SequenceOp::attachInterface<SequenceDistribution>(*context);
    row::SpliceOp::attachInterface<SpliceDistribution>(*context);
    row::SwapNibblesOp::attachInterface<SameDistribution<row::SwapNibblesOp>>(
        *context);
  });
  registry.addExtension(+[](MLIRContext *context, vector::VectorDialect *) {
    vector::InterleaveOp::attachInterface<InterleaveDistribution>(*context);
    vector::DeinterleaveOp::attachInterface<DeinterleaveDistribution>(*context);
    vector::ExtractStridedSliceOp::attachInterface<SliceDistribution>(*context);
  });
}
