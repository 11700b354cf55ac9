//===- Select.cpp - The best elements of a row ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

LogicalResult LoadPartOp::verify() {
  Type element = cast<VectorType>(getValue().getType()).getElementType();
  if (getBase().getType().getElementType() != element)
    return emitOpError() << "load_part_c1: expected elements of "
                         << getBase().getType().getElementType() << ", got "
                         << element;
  return success();
}
StringRef LoadPartOp::getCallee() { return "dsv4::load_part"; }
StringRef LoadPartOp::getHeader() { return "memory.cuh"; }

VectorType SelectOp::getChunk() {
  auto yield = dyn_cast<SelectYieldOp>(getLoad().front().getTerminator());
  return yield && yield.getNumOperands() == 1
             ? cast<VectorType>(yield.getOperand(0).getType())
             : VectorType();
}

LogicalResult SelectOp::verify() {
  auto isPositive = [](uint64_t value) {
    return value > 0 && value <= INT32_MAX;
  };
  if (!isPositive(getPlaces()) || !isPositive(getMost()) ||
      !isPositive(getThreads()) || !isPositive(getChunks()) ||
      !isPositive(getCluster()) ||
      (getCluster() > 1 && getKind() != SelectKind::Stream))
    return emitOpError() << "select_c2: expected positive places, most, "
                            "threads, chunks and cluster, and a cluster of 1 "
                            "but of kind 'stream'";
  return success();
}

LogicalResult SelectOp::verifyRegions() {
  Builder b(getContext());
  Type index = b.getIndexType();
  auto last = dyn_cast<SelectYieldOp>(getEmit().front().getTerminator());
  if (!getChunk() || !last || last.getNumOperands() != 0 ||
      getLoad().getArgumentTypes() != TypeRange{index} ||
      getEmit().getArgumentTypes() != TypeRange{index, index, b.getF32Type()})
    return emitOpError()
           << "select_c1: expected regions of (column) and (place, index, "
              "value) that end in a 'cuda.select_yield' of one and of no "
              "vector";
  return success();
}

void SelectOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setRange) {
  unsigned width = IndexType::kInternalStorageBitWidth;
  auto set = [&](BlockArgument index, int64_t least, int64_t count) {
    setRange(index, ConstantIntRanges::range(
                        APInt(width, least, /*isSigned=*/true),
                        APInt(width, count - 1), /*isSigned=*/true));
  };
  set(getLoad().getArgument(0), 0, getMost());
  // All lanes of a warp run what is for its first ones.
  set(getEmit().getArgument(0), 0,
      getKind() == SelectKind::Warp ? std::max<int64_t>(getPlaces(), 32)
                                    : getPlaces());
  set(getEmit().getArgument(1), -1, getMost());
}

StringRef SelectOp::getCallee() {
  if (getKind() == SelectKind::Warp)
    return "dsv4::topk_warp";
  return getCluster() > 1 ? "dsv4::topk_cluster" : "dsv4::topk_block";
}
StringRef SelectOp::getHeader() {
  if (getKind() == SelectKind::Warp)
    return "topk_warp.cuh";
  return getCluster() > 1 ? "topk_cluster.cuh" : "topk_rows.cuh";
}

LogicalResult PlaceSumOp::verify() {
  if (getPlaces() < 1 || getPlaces() > 32)
    return emitOpError() << "place_sum_c1: expected between 1 and 32 places, "
                            "got "
                         << getPlaces();
  return success();
}
StringRef PlaceSumOp::getCallee() { return "dsv4::sum"; }
StringRef PlaceSumOp::getHeader() { return "rows.cuh"; }

//===----------------------------------------------------------------------===//
// Elements by index, functions
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  auto elements = cast<VectorType>(getElements().getType());
  if (getBase().getType().getElementType() != elements.getElementType())
    return emitOpError() << "gather_c1: expected elements of "
                         << getBase().getType().getElementType() << ", got "
                         << elements;
  return success();
}
StringRef GatherOp::getCallee() { return "dsv4::gather"; }
StringRef GatherOp::getHeader() { return "gate.cuh"; }

StringRef WhereValidOp::getCallee() { return "dsv4::where_valid"; }
StringRef WhereValidOp::getHeader() { return "gate.cuh"; }

StringRef ActivationOp::getCallee() {
  switch (getKind()) {
  case ActivationKind::SqrtSoftplus:
    return "dsv4::sqrt_softplus";
  case ActivationKind::Sigmoid:
    return "dsv4::sigmoid";
  case ActivationKind::Exp:
    return "dsv4::exp";
  }
  llvm_unreachable("all kinds are above");
}
StringRef ActivationOp::getHeader() { return "gate.cuh"; }
