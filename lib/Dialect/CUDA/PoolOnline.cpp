//===- PoolOnline.cpp - Windows pooled piece by piece ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

//===----------------------------------------------------------------------===//
// PoolOnlineOp
//===----------------------------------------------------------------------===//

PoolPieceOp PoolOnlineOp::getPiece() {
  return cast<PoolPieceOp>(getBody().front().getTerminator());
}
int64_t PoolOnlineOp::getChannels() {
  return cast<VectorType>(getPooled().getType()).getNumElements() *
         static_cast<int64_t>(getLanes());
}

LogicalResult PoolOnlineOp::verify() {
  if (getBody().getArgumentTypes() != TypeRange{IndexType::get(getContext())})
    return emitOpError()
           << "pool_online_c1: expected a region of one index, the row";
  int64_t lanes = getLanes();
  if (static_cast<int64_t>(getMembers()) < 1 ||
      static_cast<int64_t>(getCount()) < 1 ||
      static_cast<int64_t>(getThreads()) < 1 || lanes > 32 ||
      !llvm::isPowerOf2_64(getLanes()))
    return emitOpError()
           << "pool_online_c2: expected positive members, threads and count, "
              "and a power of two of lanes, at most 32";
  return success();
}

LogicalResult PoolOnlineOp::verifyRegions() {
  auto piece = dyn_cast<PoolPieceOp>(getBody().front().getTerminator());
  if (!piece)
    return emitOpError() << "pool_online_c1: expected the region to end in "
                            "'cuda.pool_piece'";
  VectorType part = piece.getPart();
  if (!part)
    return success(); // pool_piece_c1 says so.
  int64_t width = part.getNumElements(), threads = getThreads();
  if (getChannels() % width != 0 ||
      (part.getRank() == 1 ? getChannels() != width
                           : getChannels() / width > threads))
    return emitOpError() << "pool_online_c2: " << part
                         << " is no part of rows of " << getChannels();
  return success();
}

void PoolOnlineOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                     SetIntRangeFn setRange) {
  unsigned width = IndexType::kInternalStorageBitWidth;
  setRange(
      getBody().getArgument(0),
      ConstantIntRanges::range(APInt(width, 0), APInt(width, INT32_MAX), true));
}

StringRef PoolOnlineOp::getCallee() { return "dsv4::pool_online"; }
StringRef PoolOnlineOp::getHeader() { return "pool_online.cuh"; }

//===----------------------------------------------------------------------===//
// PoolPieceOp
//===----------------------------------------------------------------------===//

VectorType PoolPieceOp::getPart() {
  auto row = dyn_cast<PoolYieldOp>(getMember().front().getTerminator());
  return row && row.getNumOperands()
             ? cast<VectorType>(row.getOperand(0).getType())
             : VectorType();
}

LogicalResult PoolPieceOp::verifyRegions() {
  VectorType part = getPart();
  Type index = IndexType::get(getContext());
  const struct {
    Region &region;
    SmallVector<Type> arguments;
    unsigned yielded;
  } expected[] = {{getBegin(), {index}, 3},
                  {getMember(), {index, index}, 2},
                  {getEnd(), {index, part, part, part}, 0}};
  for (const auto &[region, arguments, yielded] : expected) {
    auto yield = dyn_cast<PoolYieldOp>(region.front().getTerminator());
    if (!part || !yield || yield.getNumOperands() != yielded ||
        region.getArgumentTypes() != TypeRange(arguments) ||
        !llvm::all_of(yield.getOperandTypes(),
                      [&](Type type) { return type == part; }))
      return emitOpError()
             << "pool_piece_c1: expected regions of (lane), (member, lane) and "
                "(lane, three vectors) that end in a 'cuda.pool_yield' of "
                "three, two and no vectors, all vectors of one type";
  }
  return success();
}

void PoolPieceOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                    SetIntRangeFn setRange) {
  auto pool = cast<PoolOnlineOp>((*this)->getParentOp());
  unsigned width = IndexType::kInternalStorageBitWidth;
  auto set = [&](BlockArgument index, int64_t count) {
    setRange(index, ConstantIntRanges::range(APInt(width, 0),
                                             APInt(width, count - 1), true));
  };
  set(getBegin().getArgument(0), pool.getThreads());
  set(getMember().getArgument(0), pool.getMembers());
  set(getMember().getArgument(1), pool.getThreads());
  set(getEnd().getArgument(0), pool.getThreads());
}
