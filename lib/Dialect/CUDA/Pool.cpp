//===- Pool.cpp - Windows of rows that threads reduce ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

//===----------------------------------------------------------------------===//
// PoolOp
//===----------------------------------------------------------------------===//

PoolWindowOp PoolOp::getWindow() {
  return cast<PoolWindowOp>(getBody().front().getTerminator());
}
int64_t PoolOp::getChannels() {
  return cast<VectorType>(getPooled().getType()).getNumElements() *
         static_cast<int64_t>(getLanes());
}
LogicalResult PoolOp::verify() {
  if (getBody().getNumArguments() != 1 ||
      !isOffset(getBody().getArgument(0).getType()))
    return emitOpError() << "pool_c1: expected a region of one index, the row";
  if (static_cast<int64_t>(getMembers()) < 1 ||
      static_cast<int64_t>(getCount()) < 1 ||
      static_cast<int64_t>(getThreads()) < 1 || !isLaneCount(getLanes()) ||
      static_cast<int64_t>(getCluster()) < 1)
    return emitOpError() << "pool_c2: expected positive members, threads, "
                            "count and cluster, and a power of two of lanes, "
                            "at most 32";
  return success();
}
/// Whether the arguments of a region are `member` and `lane`.
static bool isMemberAndLane(Region &region) {
  return region.getNumArguments() == 2 &&
         llvm::all_of(region.getArgumentTypes(), isOffset);
}
/// The vector that a region of `member` and `lane` ends in, if it has such.
static VectorType getPart(Region &region) {
  auto yield = dyn_cast<PoolYieldOp>(region.front().getTerminator());
  return isMemberAndLane(region) && yield && yield.getNumOperands() == 1
             ? cast<VectorType>(yield.getOperand(0).getType())
             : VectorType();
}
LogicalResult PoolOp::verifyRegions() {
  auto window = dyn_cast<PoolWindowOp>(getBody().front().getTerminator());
  if (!window)
    return emitOpError() << "pool_c1: expected the region to end in "
                            "'cuda.pool_window'";
  // pool_window_c1.
  auto row = cast<PoolRowOp>(window.getAny().front().getTerminator());
  auto part = cast<VectorType>(row.getScores().getType());
  if (!isPartOfRow(part, getChannels(), getThreads(), getCluster()))
    return emitOpError() << "pool_c2: " << part << " is no part of rows of "
                         << getChannels();
  if (!getOffsets().empty() && getPart(getOffsets()) != part)
    return emitOpError() << "pool_c3: expected offsets of two indices that end "
                            "in 'cuda.pool_yield' of "
                         << part;
  return success();
}
/// The ranges of `member` and `lane`.
static void setMemberAndLane(PoolOp pool, Region &region,
                             SetIntRangeFn setRange) {
  // A last block of members is filled up.
  setArgumentRange(region.getArgument(0), 0,
                   llvm::alignTo(pool.getMembers(), 8) - 1, setRange);
  setArgumentRange(region.getArgument(1), 0,
                   pool.getThreads() * pool.getCluster() - 1, setRange);
}
void PoolOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                               SetIntRangeFn setRange) {
  setArgumentRange(getBody().getArgument(0), 0, INT32_MAX, setRange);
  if (!getOffsets().empty())
    setMemberAndLane(*this, getOffsets(), setRange);
}

LogicalResult PoolWindowOp::verifyRegions() {
  VectorType scores = getPart(getScores()), values = getPart(getValues());
  auto row = dyn_cast<PoolRowOp>(getAny().front().getTerminator());
  if (!scores || !values || !isMemberAndLane(getAny()) || !row)
    return emitOpError() << "pool_window_c1: expected regions of two indices, "
                            "of which two end in 'cuda.pool_yield' of a vector "
                            "and the last in 'cuda.pool_row'";
  if (scores != values || row.getScores().getType() != scores ||
      row.getValues().getType() != scores)
    return emitOpError() << "pool_window_c2: expected scores and values of one "
                            "type";
  return success();
}
void PoolWindowOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                     SetIntRangeFn setRange) {
  for (Region *region : getRegions())
    setMemberAndLane(cast<PoolOp>((*this)->getParentOp()), *region, setRange);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

StringRef PoolOp::getCallee() { return "dsv4::pool"; }
StringRef PoolOp::getHeader() { return "window/pool.cuh"; }

std::optional<CallConfig> PoolOp::getConfig() {
  auto row = cast<PoolRowOp>(getWindow().getAny().front().getTerminator());
  CallConfig config{"dsv4::WindowDefaults",
                    {{"members", static_cast<int64_t>(getMembers())},
                     {"rows", static_cast<int64_t>(getCount())},
                     {"threads", static_cast<int64_t>(getThreads())},
                     {"lanes", static_cast<int64_t>(getLanes())}}};
  if (getCluster() != 1)
    config.members.push_back({"cluster", static_cast<int64_t>(getCluster())});
  config.members.push_back({"Part", row.getScores().getType()});
  config.members.push_back({"Result", getPooled().getType()});
  return config;
}

SmallVector<CallArgument> PoolOp::getCallArguments() {
  CallArgument offsets = Temporary{"dsv4::NoOffsets"};
  if (!getOffsets().empty())
    offsets = Lambda{&getOffsets()};
  return {getRow(), getRows(), offsets, Lambda{&getBody(), "pool_window"}};
}

bool PoolOp::isInt32(OpOperand &) { return true; }
OffsetSum PoolOp::getOffsetSum(Region &region) {
  return &region == &getOffsets() ? OffsetSum::Wide : OffsetSum::Range;
}

StringRef PoolWindowOp::getCallee() { return "pool_window"; }
StringRef PoolWindowOp::getHeader() { return "window/pool.cuh"; }
SmallVector<CallArgument> PoolWindowOp::getCallArguments() {
  return {getAll(), Lambda{&getScores()}, Lambda{&getValues()},
          Lambda{&getAny(), "", {"row_scores", "row_values"}}};
}
OffsetSum PoolWindowOp::getOffsetSum(Region &) { return OffsetSum::Wide; }
