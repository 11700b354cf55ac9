//===- RowStores.cpp - What one lane writes of a row ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowDistributor.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

/// What a store writes, before it is seen as bytes.
static Value getStoredValue(Operation *store) {
  if (auto groups = dyn_cast<cuda::StoreGroupsOp>(store))
    return groups.getValues();
  Value value = cast<vector::StoreOp>(store).getValueToStore();
  auto bits = value.getDefiningOp<vector::BitCastOp>();
  bool asBytes =
      bits && bits.getResultVectorType().getElementType().isInteger(8);
  return asBytes ? bits.getSource() : value;
}

/// How what a store writes relates to its row.
static Footprint getStoredFootprint(Operation *store) {
  int64_t elements =
      cast<VectorType>(getStoredValue(store).getType()).getNumElements();
  auto groups = dyn_cast<cuda::StoreGroupsOp>(store);
  int64_t group = groups ? groups.getGroup() : 1;
  return {elements * group, group};
}

LogicalResult RowDistributor::placeLoadsOfStore(Operation *store) {
  return placeLoads(getStoredValue(store), getStoredFootprint(store));
}

FailureOr<Value> RowDistributor::shareOfStore(Operation *store) {
  return share(getStoredValue(store), getStoredFootprint(store));
}

LogicalResult RowDistributor::emitRowStore(vector::StoreOp store) {
  auto value = shareOfStore(store);
  if (failed(value))
    return failure();
  int64_t bits = cast<VectorType>(value->getType()).getElementTypeBitWidth();
  int64_t cell = store.getMemRefType().getElementTypeBitWidth();
  auto toCells = [&](int64_t elements) { return elements * bits / cell; };
  Value offset = mapping.lookupOrDefault(store.getIndices()[0]);
  if (laneCount > 1)
    offset = arith::AddIOp::create(b, forall.getLoc(), offset,
                                   laneOffset(toCells(chunkSize), 1));
  int64_t chunk = chunkSize * bits / 8;
  int64_t align = std::gcd<int64_t>(store.getAlignment().value_or(1), chunk);
  int64_t natural = std::min<int64_t>(16, chunk & -chunk);
  cuda::StoreOp::create(
      b, store.getLoc(), *value, store.getBase(), offset,
      getChunks(getStoredFootprint(store).row),
      steps(getStoredFootprint(store).row) > 1 ? toCells(stepSize()) : 0,
      align >= natural ? 0 : align,
      schedule.getStore() == StorePolicy::Streaming
          ? cuda::StorePolicy::Streaming
          : cuda::StorePolicy::Default);
  return success();
}

void RowDistributor::onFirstOf(int64_t lanes, function_ref<void()> emit) {
  if (lanes <= 1)
    return emit();
  Location loc = forall.getLoc();
  Value number = lane;
  if (lanes < laneCount)
    number = arith::RemUIOp::create(b, loc, lane, indexConstant(lanes));
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, number,
                                      indexConstant(0));
  auto guard = scf::IfOp::create(b, loc, first);
  OpBuilder::InsertionGuard saved(b);
  b.setInsertionPointToStart(guard.thenBlock());
  emit();
}

void RowDistributor::storeWhole(cuda::StoreGroupsOp store, Value values,
                                Value offset) {
  auto type = cast<VectorType>(values.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  onFirstOf(laneCount, [&] {
    if (int64_t pad = store.getPad()) {
      auto padded = VectorType::get({type.getNumElements() + pad / bytes},
                                    type.getElementType());
      values = cuda::PadOp::create(b, store.getLoc(), padded, values);
      type = padded;
    }
    int64_t size = type.getNumElements() * bytes;
    int64_t natural = std::min<int64_t>(16, size & -size);
    int64_t align = std::gcd<int64_t>(store.getAlign(), natural);
    cuda::StoreOp::create(b, store.getLoc(), values, store.getBase(), offset,
                          /*chunks=*/Value(), /*stride=*/0,
                          align >= natural ? 0 : align,
                          cuda::StorePolicy::Default);
  });
}

LogicalResult RowDistributor::storeDealt(cuda::StoreGroupsOp store,
                                         Value values, Value offset) {
  Location loc = forall.getLoc();
  auto type = cast<VectorType>(values.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  int64_t cell = store.getBase().getType().getElementTypeBitWidth() / 8;
  int64_t group = store.getGroup(), interleave = store.getInterleave();
  int64_t holders = std::max<int64_t>(1, group / chunkSize);
  int64_t perLane = type.getShape().back(), apart = perLane;
  int64_t stride = stepSize() / group;
  int64_t count = store.getValues().getType().getNumElements();
  if (interleave > 1) {
    if (stride != interleave || perLane != 1)
      return store.emitOpError()
             << "row_schedule_c4: interleaved factors need a step of "
             << interleave << " factors, got " << stride;
    apart = count / interleave;
    stride = 1;
  }
  Value shift = lane;
  if (holders > 1)
    shift = arith::DivUIOp::create(b, loc, shift, indexConstant(holders));
  if (apart * bytes / cell != 1)
    shift = arith::MulIOp::create(b, loc, shift,
                                  indexConstant(apart * bytes / cell));
  Value start = laneCount > 1
                    ? Value(arith::AddIOp::create(b, loc, offset, shift))
                    : offset;
  int64_t natural = std::min<int64_t>(16, perLane * bytes);
  int64_t align = std::gcd<int64_t>(store.getAlign(), natural);
  align = std::gcd(align, std::gcd(apart * bytes, stride * bytes));
  onFirstOf(holders, [&] {
    cuda::StoreOp::create(
        b, store.getLoc(), values, store.getBase(), start,
        /*chunks=*/Value(), type.getDimSize(0) > 1 ? stride * bytes / cell : 0,
        align >= natural ? 0 : align, cuda::StorePolicy::Default);
  });
  onFirstOf(store.getPad() ? laneCount : 0, [&] {
    Value zero = store.getPad()
                     ? Value(arith::ConstantIntOp::create(b, loc, 0, 8))
                     : Value();
    for (int64_t i = 0; i < static_cast<int64_t>(store.getPad()); ++i) {
      Value at = arith::AddIOp::create(b, loc, offset,
                                       indexConstant(count * bytes + i));
      memref::StoreOp::create(b, loc, zero, store.getBase(), ValueRange{at});
    }
  });
  return success();
}

LogicalResult RowDistributor::emitStore(Operation *op) {
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return emitRowStore(store);
  auto store = cast<cuda::StoreGroupsOp>(op);
  auto values = shareOfStore(store);
  if (failed(values))
    return failure();
  Value offset = mapping.lookupOrDefault(store.getOffset());
  if (!isOfSteps(getStoredFootprint(store)))
    return storeDealt(store, *values, offset);
  storeWhole(store, *values, offset);
  return success();
}

void RowDistributor::emitScalarStores(Block *block) {
  auto scalars = block->getOps<memref::StoreOp>();
  onFirstOf(scalars.empty() ? 0 : laneCount, [&] {
    for (memref::StoreOp store : scalars)
      b.clone(*store, mapping);
  });
}
