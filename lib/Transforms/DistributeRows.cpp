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

#include "dsv4/Passes.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

namespace dsv4 {
#define GEN_PASS_DEF_DISTRIBUTEROWS
#include "dsv4/Passes.h.inc"
} // namespace dsv4

namespace {

/// How the elements of a value relate to the N elements of the stored row: one
/// for `group` of them, in memory permuted by `interleave`.
struct Footprint {
  int64_t row = 0; ///< N.
  int64_t group = 1;
  int64_t interleave = 1;
};

class RowDistributor {
public:
  RowDistributor(KernelOp kernel, scf::ForallOp forall)
      : schedule(kernel.getScheduleAttr()), forall(forall), b(kernel) {}

  LogicalResult run();

private:
  /// Replaces the loop by thread arithmetic; leaves the builder in the body.
  void mapRows();
  /// Emits the loads behind `value`.
  LogicalResult placeLoads(Value value, Footprint at);
  /// The share of `value`; its loads have been placed.
  FailureOr<Value> share(Value value, Footprint at);
  FailureOr<Value> shareLoad(Operation *load, Type element, Footprint at);
  LogicalResult emitStore(vector::StoreOp store);

  /// Type of a share: of elements (group 1) or of factors.
  VectorType getShareType(Type element, Footprint at) const;
  int64_t steps(int64_t row) const { return row / stepSize(); }
  int64_t stepSize() const {
    return schedule.getLanes() * schedule.getVector();
  }
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
  IRMapping mapping; ///< Scalars of the row program.
  Value lane;
  /// Shares by value and group.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> shares;
};

} // namespace

/// The operand a share looks through to, for ops that only rearrange.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<cuda::SwapNibblesOp>(op);
}

VectorType RowDistributor::getShareType(Type element, Footprint at) const {
  int64_t vector = schedule.getVector(), count = steps(at.row);
  if (at.group == 1)
    return VectorType::get({count, vector}, element);
  if (at.group >= stepSize())
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

//===----------------------------------------------------------------------===//
// Rows to threads
//===----------------------------------------------------------------------===//

void RowDistributor::mapRows() {
  Location loc = forall.getLoc();
  int64_t threads = schedule.getThreads(), lanes = schedule.getLanes();
  int64_t rowsPerBlock = threads / lanes;
  b.setInsertionPoint(forall);
  auto bound = [&](int64_t value) { return b.getIndexAttr(value); };
  if (schedule.getPdl())
    cuda::WaitForPredecessorsOp::create(b, loc);
  Value thread =
      gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x, bound(threads));
  Value block = gpu::BlockIdOp::create(
      b, loc, gpu::Dimension::x,
      bound(llvm::divideCeil(getMaxRows(), rowsPerBlock)));
  Value rowInBlock = thread;
  lane = indexConstant(0);
  if (lanes > 1) {
    lane =
        arith::RemUIOp::create(b, name("lane"), thread, indexConstant(lanes));
    rowInBlock = arith::DivUIOp::create(b, loc, thread, indexConstant(lanes));
  }
  Value row = arith::MulIOp::create(b, loc, block, indexConstant(rowsPerBlock));
  row = arith::AddIOp::create(b, name("row"), row, rowInBlock);
  Value rows =
      getValueOrCreateConstantIndexOp(b, loc, forall.getMixedUpperBound()[0]);
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row, rows);
  auto guard = scf::IfOp::create(b, loc, inside);
  b.setInsertionPointToStart(guard.thenBlock());
  mapping.map(forall.getInductionVar(0), row);
}

//===----------------------------------------------------------------------===//
// Values to lanes
//===----------------------------------------------------------------------===//

LogicalResult RowDistributor::placeLoads(Value value, Footprint at) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return forall.emitOpError() << "uses a vector that it does not compute";
  if (auto bits = dyn_cast<vector::BitCastOp>(op)) {
    auto element = bits.getResultVectorType().getElementType();
    Operation *load = bits.getSource().getDefiningOp();
    if (!isa_and_present<vector::LoadOp, vector::MaskedLoadOp>(load))
      return bits.emitOpError() << "must read what a load returns";
    auto loaded = shareLoad(load, element, at);
    if (failed(loaded))
      return failure();
    shares[{value, at.group}] = *loaded;
    return success();
  }
  if (isa<vector::LoadOp, vector::MaskedLoadOp>(op)) {
    auto type = cast<VectorType>(value.getType());
    auto loaded = shareLoad(op, type.getElementType(), at);
    if (failed(loaded))
      return failure();
    shares[{value, at.group}] = *loaded;
    return success();
  }
  if (auto transpose = dyn_cast<vector::TransposeOp>(op)) {
    at.interleave = transpose.getSourceVectorType().getDimSize(0);
    return placeLoads(transpose.getVector(), at);
  }
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    at.group *= cast<VectorType>(value.getType()).getShape().back();
    return placeLoads(broadcast.getSource(), at);
  }
  if (isa<arith::ConstantOp>(op))
    return success();
  if (!isElementwise(op) &&
      !isa<vector::ShapeCastOp, vector::ExtractStridedSliceOp>(op))
    return op->emitOpError() << "cannot be distributed over lanes";
  for (Value operand : op->getOperands())
    if (isa<VectorType>(operand.getType()) && failed(placeLoads(operand, at)))
      return failure();
  return success();
}

FailureOr<Value> RowDistributor::shareLoad(Operation *load, Type element,
                                           Footprint at) {
  auto masked = dyn_cast<vector::MaskedLoadOp>(load);
  auto plain = dyn_cast<vector::LoadOp>(load);
  Value base = masked ? masked.getBase() : plain.getBase();
  Value offset = masked ? masked.getIndices()[0] : plain.getIndices()[0];
  int64_t align =
      (masked ? masked.getAlignment() : plain.getAlignment()).value_or(1);
  Value predicate;
  if (masked)
    predicate = mapping.lookupOrDefault(
        masked.getMask().getDefiningOp<vector::BroadcastOp>().getSource());

  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t cell =
      cast<MemRefType>(base.getType()).getElementType().getIntOrFloatBitWidth();
  int64_t vector = schedule.getVector();
  VectorType type = getShareType(element, at);
  // In elements of the field: where the first chunk of lane 0 starts, how far
  // apart the chunks of neighbouring lanes and of neighbouring steps are.
  int64_t laneStep = 0, laneDivisor = 1, stride = 0;
  if (at.group == 1) {
    laneStep = vector;
    stride = stepSize();
  } else if (at.group < stepSize()) {
    laneStep = vector >= at.group ? vector / at.group : 1;
    laneDivisor = vector >= at.group ? 1 : at.group / vector;
    stride = stepSize() / at.group;
  } else {
    // Every lane needs all factors: one contiguous access, with its padding.
    auto whole = cast<VectorType>(load->getResult(0).getType());
    type = VectorType::get({whole.getNumElements() * cell / bits}, element);
  }
  if (at.interleave > 1 && at.group < stepSize()) {
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
  if (laneStep && schedule.getLanes() > 1) {
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
  int64_t chunk = type.getShape().back() * bits / 8;
  for (int64_t distance : {laneStep * bits / 8, stride * bits / 8})
    align = std::gcd(align, distance);
  int64_t natural = std::min<int64_t>(16, chunk & -chunk);
  auto access = cuda::LoadOp::create(
      b, load->getLoc(), type, base, start, predicate,
      type.getRank() == 2 && type.getDimSize(0) > 1 ? toCells(stride) : 0,
      align >= natural ? 0 : align,
      schedule.getLoad() == LoadPolicy::EvictLast ? cuda::LoadPolicy::EvictLast
                                                  : cuda::LoadPolicy::Default);
  return access.getValue();
}

FailureOr<Value> RowDistributor::share(Value value, Footprint at) {
  if (Value found = shares.lookup({value, at.group}))
    return found;
  Operation *op = value.getDefiningOp();
  Type element = cast<VectorType>(value.getType()).getElementType();
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
    result = cuda::ExpandOp::create(b, broadcast.getLoc(),
                                    getShareType(element, at), *factors)
                 .getTile();
  } else if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    // Only a vector that every lane holds whole has its padding with it.
    auto source = share(slice.getSource(), at);
    if (failed(source))
      return failure();
    result = *source;
    auto type = cast<VectorType>(source->getType());
    int64_t count = cast<VectorType>(value.getType()).getNumElements();
    if (type.getRank() == 1 && type.getNumElements() != count)
      result = vector::ExtractStridedSliceOp::create(
                   b, forall.getLoc(), *source, ArrayRef<int64_t>{0},
                   ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1})
                   .getResult();
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
        mapped = share(operand, at);
      if (failed(mapped))
        return failure();
      operands.push_back(*mapped);
    }
    auto shape = cast<VectorType>(operands.front().getType()).getShape();
    Operation *clone =
        b.create(op->getLoc(), op->getName().getIdentifier(), operands,
                 VectorType::get(shape, element), op->getAttrs());
    result = clone->getResult(0);
  }
  if (succeeded(result))
    shares[{value, at.group}] = *result;
  return result;
}

LogicalResult RowDistributor::emitStore(vector::StoreOp store) {
  VectorType type = store.getVectorType();
  Footprint at{type.getNumElements()};
  auto value = share(store.getValueToStore(), at);
  if (failed(value))
    return failure();
  Value offset = mapping.lookupOrDefault(store.getIndices()[0]);
  if (schedule.getLanes() > 1)
    offset = arith::AddIOp::create(b, forall.getLoc(), offset,
                                   laneOffset(schedule.getVector(), 1));
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t chunk = schedule.getVector() * bytes;
  int64_t align = std::gcd<int64_t>(store.getAlignment().value_or(1), chunk);
  int64_t natural = std::min<int64_t>(16, chunk);
  cuda::StoreOp::create(b, store.getLoc(), *value, store.getBase(), offset,
                        steps(at.row) > 1 ? stepSize() : 0,
                        align >= natural ? 0 : align,
                        schedule.getStore() == StorePolicy::Streaming
                            ? cuda::StorePolicy::Streaming
                            : cuda::StorePolicy::Default);
  return success();
}

LogicalResult RowDistributor::run() {
  mapRows();
  SmallVector<vector::StoreOp> stores(
      forall.getBody()->getOps<vector::StoreOp>());
  // Scalars of the row are computed by each of its lanes alike.
  for (Operation &op : forall.getBody()->without_terminator()) {
    auto isVector = [](Type type) { return isa<VectorType>(type); };
    if (llvm::any_of(op.getOperandTypes(), isVector) ||
        llvm::any_of(op.getResultTypes(), isVector))
      continue;
    if (isa<memref::StoreOp>(op))
      continue;
    b.clone(op, mapping);
  }
  for (vector::StoreOp store : stores)
    if (failed(placeLoads(store.getValueToStore(),
                          {store.getVectorType().getNumElements()})))
      return failure();
  // Earlier, the next kernel would take resources from these loads.
  if (schedule.getPdl())
    cuda::LaunchSuccessorsOp::create(b, forall.getLoc());
  for (vector::StoreOp store : stores)
    if (failed(emitStore(store)))
      return failure();
  // A scalar result of the row is written by its first lane.
  auto scalars = forall.getBody()->getOps<memref::StoreOp>();
  if (!scalars.empty()) {
    if (schedule.getLanes() > 1) {
      Value first = arith::CmpIOp::create(
          b, forall.getLoc(), arith::CmpIPredicate::eq, lane, indexConstant(0));
      auto guard = scf::IfOp::create(b, forall.getLoc(), first);
      b.setInsertionPointToStart(guard.thenBlock());
    }
    for (memref::StoreOp store : scalars)
      b.clone(*store, mapping);
  }
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
