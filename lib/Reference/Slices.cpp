//===- Slices.cpp - Slices of arguments -----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// The size of axis `axis` of the result, which may have fewer axes.
static OpFoldResult getSize(tensor::ExtractSliceOp op, int64_t axis) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [of, size] : llvm::enumerate(op.getMixedSizes()))
    if (!dropped.test(of) && axis-- == 0)
      return size;
  return {};
}

static std::optional<int64_t> findExtent(Value tensor, int64_t axis,
                                         ExtentOf extentOf) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || axis < 0 || axis >= type.getRank())
    return std::nullopt;
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return extentOf(argument, axis);
  Operation *op = tensor.getDefiningOp();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return findIndex(getSize(slice, axis), extentOf);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return findIndex(empty.getMixedSizes()[axis], extentOf);
  if (auto tied = dyn_cast<DestinationStyleOpInterface>(op))
    return findExtent(tied.getTiedOpOperand(cast<OpResult>(tensor))->get(),
                      axis, extentOf);
  return std::nullopt;
}

std::optional<int64_t> dsv4::reference::findIndex(OpFoldResult index,
                                                  ExtentOf extentOf) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return constant;
  Operation *op = cast<Value>(index).getDefiningOp();
  if (auto dim = dyn_cast_if_present<tensor::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    return axis ? findExtent(dim.getSource(), *axis, extentOf) : std::nullopt;
  }
  if (!isa_and_present<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto lhs = findIndex(op->getOperand(0), extentOf);
  auto rhs = findIndex(op->getOperand(1), extentOf);
  int64_t result;
  if (!lhs || !rhs ||
      (isa<arith::AddIOp>(op) ? llvm::AddOverflow(*lhs, *rhs, result)
                              : llvm::MulOverflow(*lhs, *rhs, result)))
    return std::nullopt;
  return result;
}

std::optional<std::vector<Span>>
dsv4::reference::findSpans(tensor::ExtractSliceOp op, ArrayRef<int64_t> shape,
                           ExtentOf extentOf) {
  std::vector<Span> spans;
  for (auto [extent, offset, size] :
       llvm::zip_equal(shape, op.getMixedOffsets(), op.getMixedSizes())) {
    auto begin = findIndex(offset, extentOf), count = findIndex(size, extentOf);
    if (!begin || !count || *begin < 0 || *count < 0 || *begin > extent ||
        *count > extent - *begin)
      return std::nullopt;
    spans.push_back({*begin, *count});
  }
  return spans;
}

void dsv4::reference::visitRows(
    ArrayRef<Span> spans, ArrayRef<int64_t> shape, int64_t bits,
    function_ref<void(int64_t at, int64_t row, int64_t bytes)> visit) {
  size_t last = spans.size() - 1;
  int64_t rows = 1;
  for (const Span &span : spans.drop_back())
    rows *= span.count;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row, whole = 0, stride = 1;
    for (size_t axis = last; axis-- > 0;) {
      whole += (spans[axis].begin + rest % spans[axis].count) * stride;
      rest /= spans[axis].count;
      stride *= shape[axis];
    }
    int64_t bytes = spans[last].count * bits / 8;
    visit((whole * shape[last] + spans[last].begin) * bits / 8, row * bytes,
          bytes);
  }
}

rt::Status Interpreter::takeSlice(tensor::ExtractSliceOp op) {
  auto refuse = [&](const Twine &why) {
    return invalid("'" + op->getName().getStringRef() + "' " + why);
  };
  auto source = values.find(op.getSource());
  if (source == values.end())
    return refuse("takes a slice of what is no argument");
  if (!op.hasUnitStride())
    return refuse("has steps, expected steps of 1");
  auto spans =
      findSpans(op, source->second.shape, [&](BlockArgument tensor, int64_t i) {
        return values.at(tensor).shape[i];
      });
  if (!spans)
    return refuse("is not part of its argument of shape " +
                  showShape(source->second.shape));
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  for (auto [axis, span] : llvm::enumerate(*spans))
    if (!dropped.test(axis))
      shape.push_back(span.count);
  // The new value may move the others.
  Tensor whole = source->second;
  Tensor &slice = makeResult(op.getResult(), shape);
  unsigned width = whole.element.getIntOrFloatBitWidth();
  visitRows(*spans, whole.shape, width == 4 ? 4 : llvm::alignTo(width, 8),
            [&](int64_t at, int64_t row, int64_t bytes) {
              std::memcpy(slice.data + row, whole.data + at, bytes);
            });
  return {};
}
