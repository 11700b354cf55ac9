//===- WindowReduce.cpp - Windows of rows that threads reduce -------------===//
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
// WindowReduceOp
//===----------------------------------------------------------------------===//

WindowOp WindowReduceOp::getWindow() {
  return cast<WindowOp>(getBody().front().getTerminator());
}
int64_t WindowReduceOp::getChannels() {
  return cast<VectorType>(getReduced().getType()).getNumElements() *
         static_cast<int64_t>(getLanes());
}
LogicalResult WindowReduceOp::verify() {
  if (getBody().getNumArguments() != 1 ||
      !isOffset(getBody().getArgument(0).getType()))
    return emitOpError()
           << "window_reduce_c1: expected a region of one index, the row";
  if (static_cast<int64_t>(getMembers()) < 1 ||
      static_cast<int64_t>(getCount()) < 1 ||
      static_cast<int64_t>(getThreads()) < 1 || !isLaneCount(getLanes()) ||
      static_cast<int64_t>(getCluster()) < 1)
    return emitOpError()
           << "window_reduce_c2: expected positive members, threads, "
              "count and cluster, and a power of two of lanes, "
              "at most 32";
  return success();
}
/// Whether the arguments of a region are `member`, `lane` and `others`.
static bool isMemberAndLane(Region &region, TypeRange others = {}) {
  TypeRange types = region.getArgumentTypes();
  return types.size() == 2 + others.size() &&
         llvm::all_of(types.take_front(2), isOffset) &&
         types.drop_front(2) == others;
}
/// The vector that a region of `member` and `lane` ends in, if it has such.
static VectorType getPart(Region &region) {
  auto yield = dyn_cast<WindowYieldOp>(region.front().getTerminator());
  return isMemberAndLane(region) && yield && yield.getNumOperands() == 1
             ? cast<VectorType>(yield.getOperand(0).getType())
             : VectorType();
}
LogicalResult WindowReduceOp::verifyRegions() {
  auto window = dyn_cast<WindowOp>(getBody().front().getTerminator());
  if (!window)
    return emitOpError() << "window_reduce_c1: expected the region to end in "
                            "'cuda.window'";
  // window_c1.
  auto row = cast<WindowRowOp>(window.getAny().front().getTerminator());
  auto part = cast<VectorType>(row.getScores().getType());
  if (!isPartOfRow(part, getChannels(), getThreads(), getCluster()))
    return emitOpError() << "window_reduce_c2: " << part
                         << " is not a fragment of rows of " << getChannels();
  if (!getOffsets().empty() && getPart(getOffsets()) != part)
    return emitOpError()
           << "window_reduce_c3: expected offsets of two indices that end "
              "in 'cuda.window_yield' of "
           << part;
  return success();
}
/// The ranges of `member` and `lane`.
static void setMemberAndLane(WindowReduceOp reduce, Region &region,
                             SetIntRangeFn setRange) {
  // A last block of members is filled up.
  setArgumentRange(region.getArgument(0), 0,
                   llvm::alignTo(reduce.getMembers(), 8) - 1, setRange);
  if (region.getNumArguments() > 1)
    setArgumentRange(region.getArgument(1), 0,
                     reduce.getThreads() * reduce.getCluster() - 1, setRange);
}
void WindowReduceOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                       SetIntRangeFn setRange) {
  setArgumentRange(getBody().getArgument(0), 0, INT32_MAX, setRange);
  if (!getOffsets().empty())
    setMemberAndLane(*this, getOffsets(), setRange);
}

LogicalResult WindowOp::verifyRegions() {
  VectorType scores = getPart(getScores()), values = getPart(getValues());
  auto row = dyn_cast<WindowRowOp>(getAny().front().getTerminator());
  TypeRange others;
  if (!getAddress().empty()) {
    auto address =
        dyn_cast<WindowAddressOp>(getAddress().front().getTerminator());
    if (getAddress().getNumArguments() != 1 ||
        !isOffset(getAddress().getArgument(0).getType()) || !address)
      return emitOpError()
             << "window_c3: expected an 'address' of one index, the "
                "member, that ends in 'cuda.window_address'";
    others = address.getValues().getTypes();
  }
  if (row && getAny().getNumArguments() >= 2 &&
      TypeRange(getAny().getArgumentTypes()).drop_front(2) != others)
    return emitOpError() << "window_c3: expected the last region to have the "
                            "results of 'address' as arguments after the lane";
  if (!scores || !values || !isMemberAndLane(getAny(), others) || !row)
    return emitOpError()
           << "window_c1: expected regions of two indices, "
              "of which two end in 'cuda.window_yield' of a vector "
              "and the last in 'cuda.window_row'";
  if (scores != values || row.getScores().getType() != scores ||
      row.getValues().getType() != scores)
    return emitOpError() << "window_c2: expected scores and values of one "
                            "type";
  return success();
}
void WindowOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setRange) {
  for (Region &region : getOperation()->getRegions())
    if (!region.empty())
      setMemberAndLane(cast<WindowReduceOp>((*this)->getParentOp()), region,
                       setRange);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

StringRef WindowReduceOp::getCallee() { return "dsv4::window_reduce"; }
StringRef WindowReduceOp::getHeader() { return "window/window_reduce.cuh"; }

std::optional<CallConfig> WindowReduceOp::getConfig() {
  auto row = cast<WindowRowOp>(getWindow().getAny().front().getTerminator());
  CallConfig config{"dsv4::WindowDefaults",
                    {{"members", static_cast<int64_t>(getMembers())},
                     {"rows", static_cast<int64_t>(getCount())},
                     {"threads", static_cast<int64_t>(getThreads())},
                     {"lanes", static_cast<int64_t>(getLanes())}}};
  if (getCluster() != 1)
    config.members.push_back({"cluster", static_cast<int64_t>(getCluster())});
  config.members.push_back({"Part", row.getScores().getType()});
  config.members.push_back({"Result", getReduced().getType()});
  return config;
}

SmallVector<CallArgument> WindowReduceOp::getCallArguments() {
  CallArgument offsets = Temporary{"dsv4::NoOffsets"};
  if (!getOffsets().empty())
    offsets = Lambda{&getOffsets()};
  return {getRow(), getRows(), offsets, Lambda{&getBody(), "reduce_window"}};
}

bool WindowReduceOp::isInt32(OpOperand &) { return true; }
OffsetSum WindowReduceOp::getOffsetSum(Region &region) {
  return &region == &getOffsets() ? OffsetSum::Wide : OffsetSum::Range;
}

StringRef WindowOp::getCallee() { return "reduce_window"; }
StringRef WindowOp::getHeader() { return "window/window_reduce.cuh"; }
SmallVector<CallArgument> WindowOp::getCallArguments() {
  CallArgument address = Temporary{"dsv4::NoAddress"};
  if (!getAddress().empty())
    address = Lambda{&getAddress(), "", {}, "dsv4::addresses"};
  return {getAll(), Lambda{&getScores()}, Lambda{&getValues()}, address,
          Lambda{&getAny(), "", {"row_scores", "row_values"}}};
}
Value WindowOp::getReceiver(OpOperand &yielded) {
  if (!isa<WindowAddressOp>(yielded.getOwner()))
    return {};
  return getAny().getArgument(2 + yielded.getOperandNumber());
}
OffsetSum WindowOp::getOffsetSum(Region &region) {
  return &region == &getAddress() ? OffsetSum::Range : OffsetSum::Wide;
}
