//===- PoolOnline.cpp - Windows pooled piece by piece ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

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
  kernel->walk([&](SharedMemoryOpInterface op) {
    bytes = std::max(bytes, op.getSharedBytes());
  });
  return bytes;
}

LogicalResult PoolOnlineOp::verify() {
  if (getBody().getNumArguments() != 1 ||
      !isOffset(getBody().getArgument(0).getType()))
    return emitOpError()
           << "pool_online_c1: expected a region of one index, the row";
  auto isPositive = [](uint64_t count) {
    return static_cast<int64_t>(count) > 0;
  };
  if (!isPositive(getMembers()) || !isPositive(getCount()) ||
      !isPositive(getThreads()) || !isPositive(getCluster()) ||
      !isPositive(getGroups()) || !isLaneCount(getLanes()))
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
  setArgumentRange(getBody().getArgument(0), 0, INT32_MAX, setRange);
}

StringRef PoolOnlineOp::getCallee() { return "dsv4::pool_online"; }
StringRef PoolOnlineOp::getHeader() { return "window/pool_online.cuh"; }

std::optional<CallConfig> PoolOnlineOp::getConfig() {
  CallConfig config{"dsv4::WindowSegmentDefaults",
                    {{"rows", static_cast<int64_t>(getCount())},
                     {"threads", static_cast<int64_t>(getThreads())},
                     {"lanes", static_cast<int64_t>(getLanes())},
                     {"groups", static_cast<int64_t>(getGroups())}}};
  if (getCluster() != 1)
    config.members.push_back({"cluster", static_cast<int64_t>(getCluster())});
  config.members.push_back({"Part", getPiece().getPart()});
  config.members.push_back({"Result", getPooled().getType()});
  return config;
}

SmallVector<CallArgument> PoolOnlineOp::getCallArguments() {
  return {getRow(), getRows(), Lambda{&getBody(), "pool_piece"}};
}

bool PoolOnlineOp::isInt32(OpOperand &) { return true; }

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

/// Whether `region` has `indices` numbers and then `rows` as its arguments, and
/// ends in a yield of vectors of the shape of `part`.
static bool fits(Region &region, unsigned indices, ArrayRef<Type> rows,
                 VectorType part) {
  auto yield = dyn_cast<PoolYieldOp>(region.front().getTerminator());
  ValueRange arguments = region.getArguments();
  return yield && arguments.size() == indices + rows.size() &&
         llvm::all_of(arguments.take_front(indices).getTypes(), isOffset) &&
         arguments.drop_front(indices).getTypes() == TypeRange(rows) &&
         llvm::all_of(yield.getOperandTypes(), [&](Type type) {
           return cast<VectorType>(type).getShape() == part.getShape();
         });
}

/// pool_piece_c1.
static bool isWellFormed(PoolPieceOp piece) {
  VectorType part = piece.getPart();
  if (!part || !part.getElementType().isF32() ||
      !fits(piece.getBegin(), 1, {}, part) ||
      !fits(piece.getMember(), 2, {}, part) ||
      !fits(piece.getEnd(), 1, {part, part, part}, part))
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
  int64_t threads = pool.getThreads() * pool.getCluster();
  int64_t members = pool.getMembers();
  setArgumentRange(getBegin().getArgument(0), 0, threads - 1, setRange);
  setArgumentRange(getMember().getArgument(0), 0, members - 1, setRange);
  setArgumentRange(getMember().getArgument(1), 0, threads - 1, setRange);
  setArgumentRange(getEnd().getArgument(0), 0, threads - 1, setRange);
}

StringRef PoolPieceOp::getCallee() { return "pool_piece"; }
StringRef PoolPieceOp::getHeader() { return "window/pool_online.cuh"; }
SmallVector<CallArgument> PoolPieceOp::getCallArguments() {
  return {getCount(),
          getKnown(),
          getKept(),
          getEnds(),
          Lambda{&getBegin(), "", {"piece_max", "piece_sum", "piece_acc"}},
          Lambda{&getMember(), "", {}, "dsv4::piece_row"},
          Lambda{&getEnd()}};
}

bool PoolPieceOp::isInt32(OpOperand &) { return true; }
OffsetSum PoolPieceOp::getOffsetSum(Region &region) {
  return &region == &getMember() ? OffsetSum::WideIndex : OffsetSum::Range;
}
