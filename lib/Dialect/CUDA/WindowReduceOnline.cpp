//===- WindowReduceOnline.cpp - Windows pooled segment by segment ---------===//
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
// WindowReduceOnlineOp
//===----------------------------------------------------------------------===//

WindowSegmentOp WindowReduceOnlineOp::getSegment() {
  return cast<WindowSegmentOp>(getBody().front().getTerminator());
}
int64_t WindowReduceOnlineOp::getChannels() {
  return cast<VectorType>(getReduced().getType()).getNumElements() *
         static_cast<int64_t>(getLanes());
}

int64_t WindowReduceOnlineOp::getSharedBytes() {
  WindowSegmentOp segment = getSegment();
  if (!segment.isStaged())
    return 0;
  int64_t bits = 0;
  for (Type type :
       segment.getMember().front().getTerminator()->getOperandTypes())
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

LogicalResult WindowReduceOnlineOp::verify() {
  if (getBody().getNumArguments() != 1 ||
      !isOffset(getBody().getArgument(0).getType()))
    return emitOpError() << "window_reduce_online_c1: expected a region of one "
                            "index, the row";
  auto isPositive = [](uint64_t count) {
    return static_cast<int64_t>(count) > 0;
  };
  if (!isPositive(getMembers()) || !isPositive(getCount()) ||
      !isPositive(getThreads()) || !isPositive(getCluster()) ||
      !isPositive(getGroups()) || !isLaneCount(getLanes()))
    return emitOpError()
           << "window_reduce_online_c2: expected positive members, threads, "
              "count, "
              "cluster and groups, and a power of two of lanes, at most 32";
  return success();
}

LogicalResult WindowReduceOnlineOp::verifyRegions() {
  auto segment = dyn_cast<WindowSegmentOp>(getBody().front().getTerminator());
  if (!segment)
    return emitOpError()
           << "window_reduce_online_c1: expected the region to end in "
              "'cuda.window_segment'";
  VectorType part = segment.getPart();
  if (!part)
    return success(); // window_segment_c1 says so.
  if (!isPartOfRow(part, getChannels(), getThreads(), getCluster()))
    return emitOpError() << "window_reduce_online_c2: " << part
                         << " is not a fragment of rows of " << getChannels();
  int64_t lanes = getChannels() / part.getNumElements() / getCluster();
  if (segment.isStaged() && (lanes % 32 != 0 || getThreads() % 32 != 0 ||
                             (part.getRank() == 2 && part.getDimSize(0) != 1)))
    return emitOpError() << "window_reduce_online_c3: rows are staged, but a "
                            "group of threads has "
                         << lanes << " lanes of " << part << " among "
                         << getThreads()
                         << " threads of a block, and not whole warps with a "
                            "vector each";
  return success();
}

void WindowReduceOnlineOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                             SetIntRangeFn setRange) {
  setArgumentRange(getBody().getArgument(0), 0, INT32_MAX, setRange);
}

StringRef WindowReduceOnlineOp::getCallee() {
  return "dsv4::window_reduce_online";
}
StringRef WindowReduceOnlineOp::getHeader() {
  return "window/window_reduce_online.cuh";
}

std::optional<CallConfig> WindowReduceOnlineOp::getConfig() {
  CallConfig config{"dsv4::WindowSegmentDefaults",
                    {{"rows", static_cast<int64_t>(getCount())},
                     {"threads", static_cast<int64_t>(getThreads())},
                     {"lanes", static_cast<int64_t>(getLanes())},
                     {"groups", static_cast<int64_t>(getGroups())}}};
  if (getCluster() != 1)
    config.members.push_back({"cluster", static_cast<int64_t>(getCluster())});
  config.members.push_back({"Part", getSegment().getPart()});
  config.members.push_back({"Result", getReduced().getType()});
  return config;
}

SmallVector<CallArgument> WindowReduceOnlineOp::getCallArguments() {
  return {getRow(), getRows(), Lambda{&getBody(), "reduce_segment"}};
}

bool WindowReduceOnlineOp::isInt32(OpOperand &) { return true; }

//===----------------------------------------------------------------------===//
// WindowSegmentOp
//===----------------------------------------------------------------------===//

VectorType WindowSegmentOp::getPart() {
  auto before = dyn_cast<WindowYieldOp>(getBegin().front().getTerminator());
  return before && before.getNumOperands()
             ? cast<VectorType>(before.getOperand(0).getType())
             : VectorType();
}

static bool isStagedLoad(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  return load && load.getStaged();
}
bool WindowSegmentOp::isStaged() {
  return llvm::any_of(getMember().front().getTerminator()->getOperands(),
                      isStagedLoad);
}

/// Whether `region` has `indices` numbers and then `rows` as its arguments, and
/// ends in a yield of vectors of the shape of `part`.
static bool fits(Region &region, unsigned indices, ArrayRef<Type> rows,
                 VectorType part) {
  auto yield = dyn_cast<WindowYieldOp>(region.front().getTerminator());
  ValueRange arguments = region.getArguments();
  return yield && arguments.size() == indices + rows.size() &&
         llvm::all_of(arguments.take_front(indices).getTypes(), isOffset) &&
         arguments.drop_front(indices).getTypes() == TypeRange(rows) &&
         llvm::all_of(yield.getOperandTypes(), [&](Type type) {
           return cast<VectorType>(type).getShape() == part.getShape();
         });
}

/// window_segment_c1.
static bool isWellFormed(WindowSegmentOp segment) {
  VectorType part = segment.getPart();
  if (!part || !part.getElementType().isF32() ||
      !fits(segment.getBegin(), 1, {}, part) ||
      !fits(segment.getMember(), 2, {}, part) ||
      !fits(segment.getEnd(), 1, {part, part, part}, part))
    return false;
  auto typesOf = [](Region &region) {
    return region.front().getTerminator()->getOperandTypes();
  };
  auto row = typesOf(segment.getMember());
  return typesOf(segment.getBegin()) == TypeRange({part, part, part}) &&
         llvm::is_contained({2, 3}, row.size()) && row[0] == row[1] &&
         typesOf(segment.getEnd()).empty();
}

LogicalResult WindowSegmentOp::verifyRegions() {
  if (isWellFormed(*this)) {
    auto row = getMember().front().getTerminator()->getOperands();
    if (isStaged() && !llvm::all_of(row, isStagedLoad))
      return emitOpError() << "window_segment_c2: expected all of a row to be "
                              "staged, or nothing";
    return success();
  }
  return emitOpError()
         << "window_segment_c1: expected regions of (lane), (member, lane) and "
            "(lane, three vectors) that end in a 'cuda.window_yield' of three "
            "vectors of f32, two of one type and at most one more, and none, "
            "all of one shape";
}

void WindowSegmentOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                        SetIntRangeFn setRange) {
  auto reduce = cast<WindowReduceOnlineOp>((*this)->getParentOp());
  int64_t threads = reduce.getThreads() * reduce.getCluster();
  int64_t members = reduce.getMembers();
  setArgumentRange(getBegin().getArgument(0), 0, threads - 1, setRange);
  setArgumentRange(getMember().getArgument(0), 0, members - 1, setRange);
  setArgumentRange(getMember().getArgument(1), 0, threads - 1, setRange);
  setArgumentRange(getEnd().getArgument(0), 0, threads - 1, setRange);
}

StringRef WindowSegmentOp::getCallee() { return "reduce_segment"; }
StringRef WindowSegmentOp::getHeader() {
  return "window/window_reduce_online.cuh";
}
SmallVector<CallArgument> WindowSegmentOp::getCallArguments() {
  return {
      getCount(),
      getKnown(),
      getKept(),
      getEnds(),
      Lambda{&getBegin(), "", {"segment_max", "segment_sum", "segment_acc"}},
      Lambda{&getMember(), "", {}, "dsv4::segment_row"},
      Lambda{&getEnd()}};
}

bool WindowSegmentOp::isInt32(OpOperand &) { return true; }
OffsetSum WindowSegmentOp::getOffsetSum(Region &region) {
  return &region == &getMember() ? OffsetSum::WideIndex : OffsetSum::Range;
}
