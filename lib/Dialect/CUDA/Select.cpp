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
  set(getEmit().getArgument(0), 0, getPlaces());
  set(getEmit().getArgument(1), -1, getMost());
}

StringRef SelectOp::getCallee() {
  return getCluster() > 1 ? "dsv4::topk_cluster" : "dsv4::topk_block";
}
StringRef SelectOp::getHeader() {
  return getCluster() > 1 ? "topk_cluster.cuh" : "topk_rows.cuh";
}
