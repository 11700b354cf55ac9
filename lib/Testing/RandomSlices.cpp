//===- RandomSlices.cpp - Arguments of which slices are read --------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

/// The name of a dim of an argument that a size is, or "".
static std::string findDim(func::FuncOp func, OpFoldResult size) {
  auto dim = dyn_cast_if_present<Value>(size)
                 ? cast<Value>(size).getDefiningOp<tensor::DimOp>()
                 : nullptr;
  std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
  if (!axis)
    return "";
  Value tensor = dim.getSource();
  while (auto result = dyn_cast<OpResult>(tensor)) {
    if (auto empty = dyn_cast<tensor::EmptyOp>(result.getOwner()))
      return findDim(func, empty.getMixedSizes()[*axis]);
    auto tied = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!tied)
      return "";
    tensor = tied.getTiedOpOperand(result)->get();
  }
  return getExtentName(func, cast<BlockArgument>(tensor).getArgNumber(), *axis);
}

SmallVector<SeparateSlice> dsv4::reference::separateSlices(func::FuncOp func) {
  SmallVector<SeparateSlice> slices;
  Builder b(func.getContext());
  for (auto op : func.front().getOps<tensor::ExtractSliceOp>()) {
    if (op->use_empty() || !isa<BlockArgument>(op.getSource()))
      continue;
    SmallVector<Attribute> dims;
    llvm::SmallBitVector dropped = op.getDroppedDims();
    for (auto [axis, size] : llvm::enumerate(op.getMixedSizes()))
      if (!dropped.test(axis))
        dims.push_back(b.getStringAttr(findDim(func, size)));
    unsigned number = func.getNumArguments();
    NamedAttrList attributes;
    attributes.set(DSV4Dialect::kNameAttr,
                   b.getStringAttr("slice_of_input_" + Twine(number)));
    attributes.set(DSV4Dialect::kDimsAttr, b.getArrayAttr(dims));
    if (failed(func.insertArgument(number, op.getType(),
                                   attributes.getDictionary(func.getContext()),
                                   op.getLoc())))
      continue;
    op.getResult().replaceAllUsesWith(func.getArgument(number));
    slices.push_back({op, func.getArgument(number)});
  }
  return slices;
}

rt::Status InputMaker::joinSlices(ArrayRef<SeparateSlice> slices) {
  if (slices.empty())
    return {};
  auto extentOf = [&](BlockArgument tensor,
                      int64_t axis) -> std::optional<int64_t> {
    return getShape(tensor)[axis];
  };
  // A slice may be of another slice.
  for (SeparateSlice slice : llvm::reverse(slices)) {
    auto type = slice.op.getSourceType();
    SmallVector<int64_t> shape(getShape(slice.op.getSource()));
    unsigned width = type.getElementTypeBitWidth();
    // Bytes have two elements of 4 bits.
    if (width == 4)
      shape.back() *= 2;
    auto spans = findSpans(slice.op, shape, extentOf);
    if (!spans)
      return {rt::Code::InvalidArgument,
              "a slice of '" +
                  signature.bindings[getBinding(slice.op.getSource())].name +
                  "' reaches beyond it: give other extents"};
    std::vector<char> &whole = set.bytes[getBinding(slice.op.getSource())];
    const std::vector<char> &part = set.bytes[getBinding(slice.argument)];
    visitRows(*spans, shape, width == 4 ? 4 : llvm::alignTo(width, 8),
              [&](int64_t at, int64_t row, int64_t bytes) {
                std::copy_n(part.begin() + row, bytes, whole.begin() + at);
              });
  }
  unsigned first = getBinding(slices.front().argument);
  set.bytes.resize(first);
  set.shapes.resize(first);
  return {};
}
