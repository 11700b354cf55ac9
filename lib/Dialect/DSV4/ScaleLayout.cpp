//===- ScaleLayout.cpp - Layouts of scales of quantize and dequantize -----===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

std::pair<SmallVector<int64_t>, Type>
dsv4::getScaleTensor(ScaleLayout layout, ArrayRef<int64_t> shape,
                     Type element) {
  constexpr int64_t kGroupBlock = 4;
  int64_t groups = shape.back();
  int64_t blocks = llvm::divideCeil(groups, kGroupBlock);
  switch (layout) {
  case ScaleLayout::RowMajor:
    return {llvm::to_vector(shape), element};
  case ScaleLayout::ColumnMajor:
    return {{groups, ShapedType::kDynamic}, element};
  case ScaleLayout::Packed:
    return {{blocks, ShapedType::kDynamic},
            IntegerType::get(element.getContext(), 32)};
  case ScaleLayout::Swizzle128x4:
  case ScaleLayout::Swizzle8x4:
    return {{ShapedType::kDynamic, blocks * kGroupBlock}, element};
  }
  llvm_unreachable("all layouts are above");
}

LogicalResult dsv4::verifyScaleLayout(Operation *op, ScaleLayout layout,
                                      FormatAttr format, Value values,
                                      StringRef name, StringRef clause) {
  if (layout == ScaleLayout::RowMajor)
    return success();
  auto refuse = [&](const Twine &expected) {
    return op->emitOpError()
           << clause << ": expected " << expected << " with 'scales "
           << stringifyScaleLayout(layout) << "', got ";
  };
  if (cast<ShapedType>(values.getType()).getRank() != 2)
    return refuse("'" + name + "' of rank 2") << values.getType();
  ArrayRef<ScaleAttr> levels = format.getScales();
  if (levels.empty() || levels[0].getGroup() <= 0)
    return refuse("a first level of scales per group") << format;
  Type element = levels[0].getElement();
  if (layout == ScaleLayout::Packed && !isa<Float8E8M0FNUType>(element))
    return refuse("scales of f8E8M0FNU") << element;
  if (layout != ScaleLayout::ColumnMajor &&
      element.getIntOrFloatBitWidth() != 8)
    return refuse("scales of an 8-bit type") << element;
  // Runs of other widths are not read, nor written.
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits != 8 && bits != 32)
    return refuse("scales of 8 or 32 bits") << element;
  return success();
}

LogicalResult dsv4::verifyScaleBlocks(Operation *op, ScaleLayout layout,
                                      Value scales, StringRef clause) {
  auto type = cast<RankedTensorType>(scales.getType());
  int64_t rows = QuantizeOp::getRowBlock(layout);
  if (rows > 1 && !type.isDynamicDim(0) && type.getDimSize(0) % rows != 0)
    return op->emitOpError() << clause << ": expected scales of a multiple of "
                             << rows << " rows, got " << type;
  return success();
}

void dsv4::addScaleBound(ScaleLayout layout, Value scales, Value values,
                         SmallVectorImpl<AxisBound> &bounds) {
  if (layout == ScaleLayout::RowMajor)
    return;
  int64_t block = QuantizeOp::getRowBlock(layout);
  // Rows are the first axis of a swizzle, and the last one of columns.
  bounds.push_back({{scales, block > 1 ? 0 : 1}, {values, 0}, block});
}
