//===- DSV4Ops.cpp - Ops of the dsv4 dialect --------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"
#include "dsv4/Support/Identifiers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

#include "DSV4Interfaces.cpp.inc"
#define GET_OP_CLASSES
#include "DSV4KernelOps.cpp.inc"
#define GET_OP_CLASSES
#include "DSV4CacheOps.cpp.inc"

ResultContract dsv4::getResultContract(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return ResultContract::exact();
  auto op = dyn_cast<ResultContractInterface>(result.getOwner());
  auto tied = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  return op && tied ? op.getContract(*tied.getTiedOpOperand(result))
                    : ResultContract::exact();
}

//===----------------------------------------------------------------------===//
// KernelOp, YieldOp
//===----------------------------------------------------------------------===//

Value KernelOp::getTiedInput(unsigned index) {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  auto result = dyn_cast<OpResult>(yield.getValues()[index]);
  while (result) {
    auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!op)
      return {};
    Value init = op.getTiedOpOperand(result)->get();
    if (auto arg = dyn_cast<BlockArgument>(init))
      return getInputs()[arg.getArgNumber()];
    result = dyn_cast<OpResult>(init);
  }
  return {};
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getInputs().getTypes())
    return emitOpError() << "kernel_c1: expected the block arguments to have "
                            "the types of the operands";
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().getTypes() != getOutputs().getTypes())
    return emitOpError()
           << "kernel_c2: expected the yielded values to have the "
              "types of the results";
  if (!isEmittableIdentifier(getSymName()))
    return emitOpError() << "kernel_c5: '" << toCommentText(getSymName())
                         << "' cannot be the name of a kernel: expected an "
                            "identifier of at most "
                         << kMaxIdentifierLength
                         << " characters that CUDA C++ does not reserve";
  constexpr ptrdiff_t maxOps = 1024;
  auto ops = body.getOps<RowwiseOpInterface>();
  if (ptrdiff_t count = std::distance(ops.begin(), ops.end()); count > maxOps)
    return emitOpError() << "kernel_c6: expected at most " << maxOps
                         << " row-wise ops, got " << count;
  return success();
}

// What the schedule is compared with must have been verified before.
LogicalResult KernelOp::verifyRegions() {
  ScheduleAttr schedule = getScheduleAttr();
  if (!schedule)
    return success();
  std::string why = explainMisfit(schedule, *this);
  return why.empty() ? success() : emitOpError() << why;
}

//===----------------------------------------------------------------------===//
// BufferOp, WorkspaceOp, ExtentOp, StrideOp, RowCountOp
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  Type element = getMemory().getType().getElementType();
  if (auto cache = dyn_cast<CacheType>(getSource().getType())) {
    if (!element.isInteger(8))
      return emitOpError() << "buffer_c1: expected a memref of i8, got "
                           << getMemory().getType();
    if (!getField())
      return success();
    FieldAttr field = cache.getRecord().getField(*getField());
    if (!field || field.getPlacement() != Placement::Array)
      return emitOpError() << "buffer_c2: the record has no array field '"
                           << *getField() << "'";
    return success();
  }
  if (getField())
    return emitOpError() << "buffer_c2: only a cache has fields";
  Type source = getElementTypeOrSelf(getSource().getType());
  bool bytes = source.getIntOrFloatBitWidth() < 8;
  // What ui32 says is for the caller only.
  if (source.isUnsignedInteger(32))
    source = IntegerType::get(getContext(), 32);
  if (bytes ? !element.isInteger(8) : element != source)
    return emitOpError() << "buffer_c1: expected a memref of "
                         << (bytes ? "i8" : "the tensor's element type")
                         << ", got " << getMemory().getType();
  return success();
}

LogicalResult GridOp::verify() {
  size_t count = getExtents().size();
  if (count < 1 || count > 3)
    return emitOpError() << "grid_c1: expected one to three extents, got "
                         << count;
  if (*(*this)->getBlock()->getOps<GridOp>().begin() != *this)
    return emitOpError() << "grid_c1: is the second of its kernel: a launch "
                            "has one grid, so expected one op with all extents";
  return success();
}

LogicalResult WorkspaceOp::verify() {
  auto bytes = static_cast<int64_t>(getBytes());
  if (bytes < 1 || bytes > INT32_MAX || bytes % 16 != 0)
    return emitOpError() << "workspace_c1: expected a positive multiple of 16 "
                            "bytes per row below 2^31, got "
                         << bytes;
  return success();
}

LogicalResult ExtentOp::verify() {
  int64_t rank = 1;
  if (auto tensor = dyn_cast<RankedTensorType>(getSource().getType()))
    rank = tensor.getRank();
  auto axis = static_cast<int64_t>(getAxis());
  if (axis < 0 || axis >= rank)
    return emitOpError() << "extent_c1: axis " << axis
                         << " is outside an operand of rank " << rank;
  return success();
}

OpFoldResult ExtentOp::fold(FoldAdaptor) {
  auto tensor = dyn_cast<RankedTensorType>(getSource().getType());
  if (!tensor || tensor.isDynamicDim(getAxis()))
    return {};
  return IntegerAttr::get(IndexType::get(getContext()),
                          tensor.getDimSize(getAxis()));
}

void ExtentOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setRange) {
  unsigned width = IndexType::kInternalStorageBitWidth;
  setRange(getExtent(), ConstantIntRanges::range(APInt(width, getMin()),
                                                 APInt(width, getMax()), true));
}

LogicalResult StrideOp::verify() {
  auto cache = dyn_cast<CacheType>(getSource().getType());
  int64_t count =
      cache
          ? 1
          : std::max<int64_t>(
                cast<RankedTensorType>(getSource().getType()).getRank() - 1, 1);
  auto axis = static_cast<int64_t>(getAxis());
  if (axis < 0 || axis >= count)
    return emitOpError() << "stride_c1: expected an axis before the last one, "
                            "got axis "
                         << axis << " of " << getSource().getType();
  StringRef field = getField().value_or("");
  if (cache ? !llvm::is_contained(getPagedBuffers(cache), field)
            : getField().has_value())
    return emitOpError() << "stride_c2: " << getSource().getType() << " has no "
                         << (field.empty() ? "fields in its pages"
                                           : "array field '" + field.str() +
                                                 "' with pages");
  return success();
}

void StrideOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setRange) {
  unsigned width = IndexType::kInternalStorageBitWidth;
  setRange(getStride(),
           ConstantIntRanges::range(APInt(width, 0), APInt(width, INT32_MAX),
                                    /*isSigned=*/true));
}

LogicalResult RowCountOp::verify() {
  constexpr int64_t kMaxPer = 65536;
  auto per = static_cast<int64_t>(getPer());
  if (per < 1 || per > kMaxPer)
    return emitOpError() << "row_count_c1: expected 'per' between 1 and "
                         << kMaxPer << ", got " << per;
  return success();
}

OpFoldResult RowCountOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getSource().getType());
  int64_t rows = 1;
  for (int64_t extent : type.getShape().drop_back())
    if (ShapedType::isDynamic(extent) || llvm::MulOverflow(rows, extent, rows))
      return {};
  return IntegerAttr::get(
      IndexType::get(getContext()),
      llvm::divideCeil(rows, static_cast<int64_t>(getPer())));
}

void RowCountOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                   SetIntRangeFn setRange) {
  unsigned width = IndexType::kInternalStorageBitWidth;
  setRange(getCount(), ConstantIntRanges::range(APInt(width, 0),
                                                APInt(width, getMax()), true));
}
