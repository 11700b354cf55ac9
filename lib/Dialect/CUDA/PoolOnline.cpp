//===- PoolOnline.cpp - Windows pooled piece by piece ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"

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

int64_t PoolOnlineOp::getSharedBytes() {
  PoolPieceOp piece = getPiece();
  if (!piece.isStaged())
    return 0;
  int64_t bits = 0;
  for (Type type : piece.getMember().front().getTerminator()->getOperandTypes())
    bits += cast<VectorType>(type).getNumElements() *
            cast<VectorType>(type).getElementTypeBitWidth();
  return getGroupBytes(getThreads(), bits) * getGroups();
}

int64_t cuda::getSharedBytes(Operation *kernel) {
  int64_t bytes = 0;
  kernel->walk([&](PoolOnlineOp pool) {
    bytes = std::max(bytes, pool.getSharedBytes());
  });
  return bytes;
}

LogicalResult PoolOnlineOp::verify() {
  if (getBody().getArgumentTypes() != TypeRange{IndexType::get(getContext())})
    return emitOpError()
           << "pool_online_c1: expected a region of one index, the row";
  auto isPositive = [](uint64_t count) {
    return static_cast<int64_t>(count) > 0;
  };
  if (!isPositive(getMembers()) || !isPositive(getCount()) ||
      !isPositive(getThreads()) || !isPositive(getCluster()) ||
      !isPositive(getGroups()) || getLanes() > 32 ||
      !llvm::isPowerOf2_64(getLanes()))
    return emitOpError()
           << "pool_online_c2: expected positive members, threads, count, "
              "cluster and groups, and a power of two of lanes, at most 32";
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
  if (!isPartOfRow(part, getChannels(), getThreads(), getCluster()))
    return emitOpError() << "pool_online_c2: " << part
                         << " is no part of rows of " << getChannels();
  int64_t lanes = getChannels() / part.getNumElements() / getCluster();
  if (piece.isStaged() && (lanes % 32 != 0 || getThreads() % 32 != 0 ||
                           (part.getRank() == 2 && part.getDimSize(0) != 1)))
    return emitOpError() << "pool_online_c3: rows are staged, but a team has "
                         << lanes << " lanes of " << part << " among "
                         << getThreads()
                         << " threads of a block, and not whole warps with a "
                            "chunk each";
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
StringRef PoolOnlineOp::getHeader() { return "window/pool_online.cuh"; }

//===----------------------------------------------------------------------===//
// PoolPieceOp
//===----------------------------------------------------------------------===//

VectorType PoolPieceOp::getPart() {
  auto before = dyn_cast<PoolYieldOp>(getBegin().front().getTerminator());
  return before && before.getNumOperands()
             ? cast<VectorType>(before.getOperand(0).getType())
             : VectorType();
}

static bool isStagedLoad(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  return load && load.getStaged();
}
bool PoolPieceOp::isStaged() {
  return llvm::any_of(getMember().front().getTerminator()->getOperands(),
                      isStagedLoad);
}

/// Whether `region` has the arguments and ends in a yield of vectors of the
/// shape of `part`.
static bool fits(Region &region, ArrayRef<Type> arguments, VectorType part) {
  auto yield = dyn_cast<PoolYieldOp>(region.front().getTerminator());
  return yield && region.getArgumentTypes() == TypeRange(arguments) &&
         llvm::all_of(yield.getOperandTypes(), [&](Type type) {
           return cast<VectorType>(type).getShape() == part.getShape();
         });
}

/// pool_piece_c1.
static bool isWellFormed(PoolPieceOp piece) {
  VectorType part = piece.getPart();
  Type index = IndexType::get(piece.getContext());
  if (!part || !part.getElementType().isF32() ||
      !fits(piece.getBegin(), {index}, part) ||
      !fits(piece.getMember(), {index, index}, part) ||
      !fits(piece.getEnd(), {index, part, part, part}, part))
    return false;
  auto typesOf = [](Region &region) {
    return region.front().getTerminator()->getOperandTypes();
  };
  auto row = typesOf(piece.getMember());
  return typesOf(piece.getBegin()) == TypeRange({part, part, part}) &&
         llvm::is_contained({2, 3}, row.size()) && row[0] == row[1] &&
         typesOf(piece.getEnd()).empty();
}

LogicalResult PoolPieceOp::verifyRegions() {
  if (isWellFormed(*this)) {
    auto row = getMember().front().getTerminator()->getOperands();
    if (isStaged() && !llvm::all_of(row, isStagedLoad))
      return emitOpError() << "pool_piece_c2: expected all of a row to be "
                              "staged, or nothing";
    return success();
  }
  return emitOpError()
         << "pool_piece_c1: expected regions of (lane), (member, lane) and "
            "(lane, three vectors) that end in a 'cuda.pool_yield' of three "
            "vectors of f32, two of one type and at most one more, and none, "
            "all of one shape";
}

void PoolPieceOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                    SetIntRangeFn setRange) {
  auto pool = cast<PoolOnlineOp>((*this)->getParentOp());
  unsigned width = IndexType::kInternalStorageBitWidth;
  auto set = [&](BlockArgument index, int64_t count) {
    setRange(index, ConstantIntRanges::range(APInt(width, 0),
                                             APInt(width, count - 1), true));
  };
  int64_t threads = pool.getThreads() * pool.getCluster();
  set(getBegin().getArgument(0), threads);
  set(getMember().getArgument(0), pool.getMembers());
  set(getMember().getArgument(1), threads);
  set(getEnd().getArgument(0), threads);
}
