//===- RowShares.cpp - What one lane holds of a value of a row ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowDistributor.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

/// The operand a share looks through to, for ops that only rearrange.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<cuda::SwapNibblesOp>(op);
}

/// Whether a value is what a load returns, maybe seen as other elements.
static bool isRead(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto bits = dyn_cast_if_present<vector::BitCastOp>(op))
    op = bits.getSource().getDefiningOp();
  if (isa_and_present<cuda::SwapNibblesOp>(op))
    return isRead(op->getOperand(0));
  return isa_and_present<vector::LoadOp, vector::MaskedLoadOp>(op);
}

/// The footprint of an operand, given that of the result.
static Footprint getOperandFootprint(Operation *op, Value operand,
                                     Footprint at) {
  int64_t elements = cast<VectorType>(operand.getType()).getNumElements();
  if (auto reduce = dyn_cast<cuda::ReduceOp>(op)) {
    // A row that becomes one number need not be the one that uses it.
    if (static_cast<int64_t>(reduce.getGroup()) == elements)
      return {elements, 1};
    at.group /= reduce.getGroup();
  } else if (isa<vector::InterleaveOp>(op))
    at.group *= 2;
  else if (isa<vector::DeinterleaveOp>(op))
    at.group /= 2;
  // Parts of a row and what is made of parts have rows of their own. A part of
  // what was read leaves out padding, which no lane but one of all needs.
  bool isPart = isa<vector::ExtractStridedSliceOp>(op) && !isRead(operand);
  if (isa<cuda::JoinOp>(op) || isPart)
    at.row = elements * at.group;
  return at;
}

VectorType RowDistributor::getShareType(Type element, Footprint at) const {
  int64_t vector = chunkSize, count = steps(at.row);
  if (at.group == 1)
    return VectorType::get({count, vector}, element);
  if (isOfSteps(at))
    return VectorType::get({at.row / at.group}, element);
  return VectorType::get({count, std::max<int64_t>(1, vector / at.group)},
                         element);
}

Value RowDistributor::laneOffset(int64_t multiplier, int64_t divisor) {
  int64_t common = std::gcd(multiplier, divisor);
  multiplier /= common;
  divisor /= common;
  Value value = lane;
  Location loc = forall.getLoc();
  if (divisor != 1)
    value = arith::DivSIOp::create(b, loc, value, indexConstant(divisor));
  if (multiplier != 1)
    value = arith::MulIOp::create(b, loc, value, indexConstant(multiplier));
  return value;
}

Value RowDistributor::getChunks(int64_t row) {
  if (!isUneven(row))
    return {};
  Value &count = chunkCounts[row];
  if (count)
    return count;
  OpBuilder::InsertionGuard saved(b);
  if (Operation *op = lane.getDefiningOp())
    b.setInsertionPointAfter(op);
  int64_t most = steps(row);
  int64_t having = llvm::divideCeil(row, chunkSize) - (most - 1) * laneCount;
  Value has =
      arith::CmpIOp::create(b, forall.getLoc(), arith::CmpIPredicate::slt, lane,
                            indexConstant(having));
  return count = arith::SelectOp::create(b, name("chunks"), has,
                                         indexConstant(most),
                                         indexConstant(most - 1));
}

bool dsv4::dependsOnMemory(Value value) {
  // Each op once: operands share what they are made of.
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

void RowDistributor::cloneSlice(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || mapping.contains(value) || op->getBlock() != forall.getBody())
    return;
  cloneOperands(*op);
  b.clone(*op, mapping);
}

LogicalResult RowDistributor::placeLoad(Value value, Operation *load,
                                        Type element, Footprint at) {
  if (earlyOnly) {
    auto plain = dyn_cast<vector::LoadOp>(load);
    if (!plain || dependsOnMemory(plain.getIndices()[0]))
      return success();
    cloneSlice(plain.getIndices()[0]);
  }
  auto loaded = shareLoad(load, element, at);
  if (failed(loaded))
    return failure();
  shares[{value, at.group}] = *loaded;
  return success();
}

LogicalResult RowDistributor::placeLoads(ArrayRef<Operation *> stores,
                                         bool early) {
  earlyOnly = early;
  for (Operation *store : stores)
    if (failed(placeLoadsOfStore(store)))
      return failure();
  return success();
}

LogicalResult RowDistributor::placeLoads(Value value, Footprint at) {
  Placed placed;
  return placeLoads(value, at, placed);
}

LogicalResult RowDistributor::placeLoads(Value value, Footprint at,
                                         Placed &placed) {
  if (shares.contains({value, at.group}) || rowNumbers.contains(value) ||
      !placed.insert({value, at.group}).second)
    return success();
  Operation *op = value.getDefiningOp();
  if (!op)
    return forall.emitOpError() << "uses a vector that it does not compute";
  if (auto bits = dyn_cast<vector::BitCastOp>(op)) {
    auto element = bits.getResultVectorType().getElementType();
    Operation *load = bits.getSource().getDefiningOp();
    if (!isa_and_present<vector::LoadOp, vector::MaskedLoadOp>(load))
      return bits.emitOpError() << "must read what a load returns";
    return placeLoad(value, load, element, at);
  }
  if (isa<vector::LoadOp, vector::MaskedLoadOp>(op)) {
    auto type = cast<VectorType>(value.getType());
    return placeLoad(value, op, type.getElementType(), at);
  }
  if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    at.interleave = transpose.getSourceVectorType().getDimSize(0);
    return placeLoads(transpose.getVector(), at, placed);
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    at.group *= cast<VectorType>(value.getType()).getShape().back();
    return placeLoads(broadcast.getSource(), at, placed);
  }
  // A chunk is read where it is used.
  if (isa<arith::ConstantOp, cuda::PoolOp, cuda::PoolOnlineOp, cuda::LoadPartOp,
          cuda::ColumnsOp>(op))
    return success();
  if (!isElementwise(op) &&
      !isa<vector::ShapeCastOp, vector::ExtractStridedSliceOp, cuda::ReduceOp,
           cuda::HadamardOp, cuda::JoinOp, cuda::PlaceSumOp,
           vector::DeinterleaveOp, vector::InterleaveOp>(op))
    return op->emitOpError() << "cannot be distributed over lanes";
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()) &&
        failed(
            placeLoads(operand, getOperandFootprint(op, operand, at), placed)))
      return failure();
  return success();
}

FailureOr<Value> RowDistributor::shareLoad(Operation *load, Type element,
                                           Footprint at) {
  auto masked = dyn_cast<vector::MaskedLoadOp>(load);
  auto plain = dyn_cast<vector::LoadOp>(load);
  Value base =
      mapping.lookupOrDefault(masked ? masked.getBase() : plain.getBase());
  Value offset = masked ? masked.getIndices()[0] : plain.getIndices()[0];
  int64_t align =
      (masked ? masked.getAlignment() : plain.getAlignment()).value_or(1);
  Value predicate;
  if (masked)
    predicate = mapping.lookupOrDefault(
        masked.getMask().getDefiningOp<vector::BroadcastOp>().getSource());
  // Nobody waits for what needs no address: no need for zeros either.
  if (holdsRow && !earlyOnly)
    predicate = predicate ? arith::AndIOp::create(b, forall.getLoc(), holdsRow,
                                                  predicate)
                          : holdsRow;

  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t cell =
      cast<MemRefType>(base.getType()).getElementType().getIntOrFloatBitWidth();
  int64_t vector = chunkSize;
  VectorType type = getShareType(element, at);
  // In elements of the field: where the first chunk of lane 0 starts, how far
  // apart the chunks of neighbouring lanes and of neighbouring steps are.
  int64_t laneStep = 0, laneDivisor = 1, stride = 0;
  if (at.group == 1) {
    laneStep = vector;
    stride = stepSize();
  } else if (!isOfSteps(at)) {
    laneStep = vector >= at.group ? vector / at.group : 1;
    laneDivisor = vector >= at.group ? 1 : at.group / vector;
    stride = stepSize() / at.group;
  } else {
    // Every lane needs all factors: one contiguous access, with its padding.
    auto whole = cast<VectorType>(load->getResult(0).getType());
    type = VectorType::get({whole.getNumElements() * cell / bits}, element);
  }
  if (at.interleave > 1 && !isOfSteps(at)) {
    // Factor i is stored at (i mod a) * (n / a) + i / a; a step is a multiple
    // of a factors, so steps follow each other and lanes are n / a apart.
    int64_t columns = at.row / at.group / at.interleave;
    if (stride % at.interleave != 0 || stride / at.interleave != 1 ||
        laneStep != 1)
      return load->emitOpError()
             << "row_schedule_c4: interleaved factors need a step of "
             << at.interleave << " factors, got " << stride;
    laneStep = columns;
    stride = 1;
  } else if (at.interleave > 1) {
    return load->emitOpError()
           << "row_schedule_c4: interleaved factors need more than one a step";
  }

  Value start = mapping.lookupOrDefault(offset);
  auto toCells = [&](int64_t elements) { return elements * bits / cell; };
  if (laneStep && laneCount > 1) {
    Value shift = at.interleave > 1
                      ? laneOffset(1, laneDivisor)
                      : laneOffset(toCells(laneStep), laneDivisor);
    if (laneDivisor > 1 || at.interleave > 1) {
      // lane / divisor counts factors, not bytes.
      shift = laneOffset(1, laneDivisor);
      if (toCells(laneStep) != 1)
        shift = arith::MulIOp::create(b, forall.getLoc(), shift,
                                      indexConstant(toCells(laneStep)));
    }
    start = arith::AddIOp::create(b, forall.getLoc(), start, shift);
  }
  Value chunks = at.group == 1 ? getChunks(at.row) : Value();
  if (chunks && predicate)
    chunks = arith::SelectOp::create(b, forall.getLoc(),
                                     std::exchange(predicate, {}), chunks,
                                     indexConstant(0));
  int64_t chunk = type.getShape().back() * bits / 8;
  for (int64_t distance : {laneStep * bits / 8, stride * bits / 8})
    align = std::gcd(align, distance);
  int64_t natural = std::min<int64_t>(16, chunk & -chunk);
  auto access = cuda::LoadOp::create(
      b, load->getLoc(), type, base, start, predicate, chunks,
      type.getRank() == 2 && type.getDimSize(0) > 1 ? toCells(stride) : 0,
      align >= natural ? 0 : align,
      schedule.getLoad() == LoadPolicy::EvictLast ? cuda::LoadPolicy::EvictLast
                                                  : cuda::LoadPolicy::Default);
  access.setStaged(stages);
  return access.getValue();
}

int64_t RowDistributor::getPaddedGroup(cuda::ReduceOp reduce) const {
  int64_t row = reduce.getSource().getType().getNumElements();
  return isUneven(row) ? steps(row) * stepSize() : reduce.getGroup();
}

bool RowDistributor::canBeShared(cuda::ReduceOp reduce) const {
  VectorType source = reduce.getSource().getType();
  int64_t row = source.getNumElements();
  bool isNumber = reduce.getKind() == cuda::ReduceKind::Sum ||
                  reduce.getKind() == cuda::ReduceKind::MaxNaN;
  return !isUneven(row) || (isNumber && source.getElementType().isF32() &&
                            static_cast<int64_t>(reduce.getGroup()) == row);
}

Value RowDistributor::padForReduce(cuda::ReduceOp reduce, Value source) {
  Value chunks = getChunks(reduce.getSource().getType().getNumElements());
  if (!chunks)
    return source;
  // What is added to -0 is what it was; to 0, -0 is not.
  float neutral = reduce.getKind() == cuda::ReduceKind::Sum
                      ? -0.0f
                      : -std::numeric_limits<float>::infinity();
  return cuda::KeepChunksOp::create(b, forall.getLoc(), source.getType(),
                                    source, chunks, APFloat(neutral));
}

FailureOr<Value> RowDistributor::share(Value value, Footprint at) {
  if (Value found = shares.lookup({value, at.group}))
    return found;
  Operation *op = value.getDefiningOp();
  Type element = cast<VectorType>(value.getType()).getElementType();
  if (Value number = rowNumbers.lookup(value)) {
    if (at.group > 1)
      return number;
    return cuda::ExpandOp::create(b, forall.getLoc(), getShareType(element, at),
                                  number)
        .getTile();
  }
  FailureOr<Value> result = failure();
  if (auto reshape = dyn_cast<vector::ShapeCastOp>(op)) {
    result = share(reshape.getSource(), at);
  } else if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    result = share(transpose.getVector(), at);
  } else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Footprint source = at;
    source.group *= cast<VectorType>(value.getType()).getShape().back();
    auto factors = share(broadcast.getSource(), source);
    if (failed(factors))
      return failure();
    VectorType type = getShareType(element, at);
    result = factors->getType() == type
                 ? *factors
                 : cuda::ExpandOp::create(b, broadcast.getLoc(), type, *factors)
                       .getTile();
  } else if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    result = shareSlice(slice, at);
  } else if (auto reduce = dyn_cast<cuda::ReduceOp>(op)) {
    auto source = share(reduce.getSource(),
                        getOperandFootprint(op, reduce.getSource(), at));
    if (failed(source))
      return failure();
    if (!canBeShared(reduce))
      return reduce.emitOpError()
             << "cannot be of a row of which lanes have unequal shares: "
                "expected the sum or the largest of all of its f32 elements";
    result =
        cuda::ReduceOp::create(b, op->getLoc(), getShareType(element, at),
                               reduce.getKind(), padForReduce(reduce, *source),
                               getPaddedGroup(reduce), laneCount)
            .getReduced();
  } else if (auto deinterleave = dyn_cast<vector::DeinterleaveOp>(op)) {
    auto source = share(deinterleave.getSource(),
                        getOperandFootprint(op, deinterleave.getSource(), at));
    if (failed(source))
      return failure();
    result =
        cuda::AlternateOp::create(b, op->getLoc(), getShareType(element, at),
                                  *source, value == deinterleave.getRes2())
            .getHalf();
  } else if (auto columns = dyn_cast<cuda::ColumnsOp>(op)) {
    result = cuda::ColumnsOp::create(
                 b, op->getLoc(), getShareType(element, at),
                 rowNumbers.lookup(columns.getRow()),
                 mapping.lookupOrDefault(columns.getColumn()), kWarp)
                 .getChunk();
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      return op->emitOpError() << "cannot be distributed over lanes";
    result =
        arith::ConstantOp::create(b, forall.getLoc(),
                                  splat.resizeSplat(getShareType(element, at)))
            .getResult();
  } else {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> mapped = mapping.lookupOrDefault(operand);
      if (isa<VectorType>(operand.getType()))
        mapped = share(operand, getOperandFootprint(op, operand, at));
      if (failed(mapped))
        return failure();
      operands.push_back(*mapped);
    }
    Operation *clone =
        b.create(op->getLoc(), op->getName().getIdentifier(), operands,
                 getShareType(element, at), op->getAttrs());
    if (auto hadamard = dyn_cast<cuda::HadamardOp>(clone))
      hadamard.setLanes(laneCount);
    result = clone->getResult(0);
  }
  if (succeeded(result))
    shares[{value, at.group}] = *result;
  return result;
}

FailureOr<Value> RowDistributor::shareSlice(vector::ExtractStridedSliceOp slice,
                                            Footprint at) {
  auto source = share(slice.getSource(),
                      getOperandFootprint(slice, slice.getSource(), at));
  if (failed(source))
    return failure();
  int64_t count = slice.getType().getNumElements() * at.group;
  int64_t begin = cast<IntegerAttr>(slice.getOffsets()[0]).getInt() * at.group;
  auto type = cast<VectorType>(source->getType());
  // A whole vector that every lane holds, or whole steps.
  int64_t unit = type.getRank() == 1 ? at.group : stepSize();
  if (begin % unit != 0 || count % unit != 0)
    return slice.emitOpError()
           << "row_schedule_c4: columns " << begin << " to " << begin + count
           << " are not whole steps of " << unit << " elements";
  if (type.getDimSize(0) == count / unit)
    return *source;
  if (type.getRank() == 2)
    return cuda::StepsOp::create(
               b, slice.getLoc(),
               VectorType::get({count / unit, type.getDimSize(1)},
                               type.getElementType()),
               *source, begin / unit)
        .getPart();
  return vector::ExtractStridedSliceOp::create(
             b, forall.getLoc(), *source, ArrayRef<int64_t>{begin / unit},
             ArrayRef<int64_t>{count / unit}, ArrayRef<int64_t>{1})
      .getResult();
}
