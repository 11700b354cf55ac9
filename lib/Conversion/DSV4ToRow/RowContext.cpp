//===- RowContext.cpp - Row programs under construction ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Conversion/RowContext.h"

#include "dsv4/Dialect/DSV4/BufferStrides.h"
#include "dsv4/Dialect/DSV4/IterationSpace.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

Location dsv4::named(Location loc, StringRef name) {
  if (name.empty())
    return loc;
  return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::string RowContext::getName(Value source) {
  auto operand = kernel.getInputs()[cast<BlockArgument>(source).getArgNumber()];
  auto arg = dyn_cast<BlockArgument>(operand);
  auto func = kernel->getParentOfType<FunctionOpInterface>();
  return arg && func && arg.getOwner() == &func.getFunctionBody().front()
             ? getArgumentName(func, arg.getArgNumber())
             : "";
}

/// The type of the elements of a tensor in row programs: those of ui32 are i32.
static Type getRowElement(RankedTensorType tensor) {
  Type element = tensor.getElementType();
  return element.isUnsignedInteger(32)
             ? IntegerType::get(tensor.getContext(), 32)
             : element;
}

Value RowContext::getBuffer(Value source, StringRef field) {
  Type element = IntegerType::get(outside.getContext(), 8);
  if (auto tensor = dyn_cast<RankedTensorType>(source.getType()))
    if (tensor.getElementTypeBitWidth() >= 8)
      element = getRowElement(tensor);
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return BufferOp::create(outside, loc, type, source,
                          field.empty() ? StringAttr()
                                        : outside.getStringAttr(field));
}

int64_t RowContext::boundExtent(Value source, int64_t axis) {
  // Specialisation put the bounds of named dims on the function.
  auto operand = kernel.getInputs()[cast<BlockArgument>(source).getArgNumber()];
  if (auto arg = dyn_cast<BlockArgument>(operand))
    if (auto func =
            dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp()))
      return getDimBound(func, arg.getArgNumber(), axis);
  return INT32_MAX;
}

Value RowContext::getExtent(Value source, int64_t axis, int64_t min) {
  return outside.createOrFold<ExtentOp>(loc, source, axis, min,
                                        boundExtent(source, axis));
}

int64_t RowContext::getSpaceRank() { return dsv4::getSpaceRank(kernel); }

Value RowContext::getOuterIndex(Value source, int64_t axis, StringRef name) {
  // There is a row, so no extent of the iteration space is zero.
  return div(row, getExtent(source, axis, /*min=*/1), name);
}

SmallVector<Value> RowContext::getRowIndices(int64_t count) {
  BlockArgument space = getRowArgument(kernel);
  auto extentOf = [&](int64_t axis) {
    return getExtent(space, axis, /*min=*/1);
  };
  Value rest = row;
  for (int64_t axis = getSpaceRank() - 1; axis >= count; --axis)
    rest = div(rest, extentOf(axis), axis == 1 ? "token" : "");
  SmallVector<Value> indices(count, rest);
  for (int64_t axis = count - 1; axis > 0; --axis) {
    indices[axis] = rem(rest, extentOf(axis), axis == 1 ? "head" : "");
    rest = div(rest, extentOf(axis), axis == 1 ? "token" : "");
  }
  indices[0] = rest;
  return indices;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value RowContext::constant(int64_t value) {
  return arith::ConstantIndexOp::create(inside, loc, value);
}

Value RowContext::constant(int64_t value, const Twine &name) {
  if (value == 0 || value == 1)
    return constant(value);
  return row::ConstantOp::create(inside, loc, inside.getIndexType(), name.str(),
                                 value);
}

Value RowContext::add(Value lhs, Value rhs, StringRef name) {
  if (matchPattern(rhs, m_Zero()))
    return lhs;
  if (matchPattern(lhs, m_Zero()))
    return rhs;
  return arith::AddIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::sub(Value lhs, Value rhs, StringRef name) {
  if (matchPattern(rhs, m_Zero()))
    return lhs;
  return arith::SubIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::mul(Value lhs, Value rhs, StringRef name) {
  if (matchPattern(rhs, m_One()) || matchPattern(lhs, m_Zero()))
    return lhs;
  return arith::MulIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::div(Value lhs, Value rhs, StringRef name) {
  if (matchPattern(rhs, m_One()))
    return lhs;
  return arith::DivSIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::rem(Value lhs, Value rhs, StringRef name) {
  if (matchPattern(rhs, m_One()))
    return constant(0);
  return arith::RemSIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::min(Value lhs, Value rhs, StringRef name) {
  return arith::MinSIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::max(Value lhs, Value rhs, StringRef name) {
  return arith::MaxSIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::isNotNegative(Value value) {
  return arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::sge, value,
                               constant(0));
}

Value RowContext::isBelow(Value value, Value bound) {
  return arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, value,
                               bound);
}

Value RowContext::both(Value lhs, Value rhs, StringRef name) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return arith::AndIOp::create(inside, getLoc(name), lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The argument of the function that an operand is, or null: what another op of
/// the kernel computes has no memory.
static BlockArgument getArgument(KernelOp kernel, Value source) {
  auto inner = dyn_cast<BlockArgument>(source);
  auto arg =
      inner ? dyn_cast<BlockArgument>(kernel.getInputs()[inner.getArgNumber()])
            : BlockArgument();
  return arg && isa<FunctionOpInterface>(arg.getOwner()->getParentOp())
             ? arg
             : BlockArgument();
}

StridesAttr RowContext::getStrides(Value source) {
  BlockArgument arg = getArgument(kernel, source);
  return arg ? dsv4::getStrides(arg.getOwner()->getParentOp(),
                                arg.getArgNumber())
             : StridesAttr();
}

StridesAttr RowContext::getBufferStrides(Value cache, FieldAttr field) {
  BlockArgument arg = getArgument(kernel, cache);
  bool isArray = field.getPlacement() == Placement::Array;
  return arg ? dsv4::getBufferStrides(arg.getOwner()->getParentOp(),
                                      arg.getArgNumber(),
                                      isArray ? StringRef(field.getName()) : "")
             : StridesAttr();
}

int64_t RowContext::getRowAlignment(Value source, int64_t contiguous) {
  StridesAttr strides = getStrides(source);
  return strides ? strides.getAlign() : contiguous;
}

/// Bytes of an element of the buffer of a tensor.
static int64_t getCellBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
}

Value RowContext::getPageStride(Value cache, StringRef field) {
  StridesAttr strides = getStrides(cache);
  if (!strides)
    return {};
  int64_t stride = strides.getStrides()[0];
  if (!ShapedType::isDynamic(stride))
    return constant(stride, getName(cache) + "_page_stride");
  return StrideOp::create(
      outside, loc, cache,
      field.empty() ? StringAttr() : outside.getStringAttr(field), int64_t(0));
}

Value RowContext::getStride(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t last = type.getRank() - 1;
  StridesAttr strides = getStrides(tensor);
  if (axis == last && !hasElementStride(type, strides))
    return constant(1);
  if (strides) {
    int64_t stride = strides.getStrides()[axis];
    if (!ShapedType::isDynamic(stride))
      return constant(stride / getCellBytes(tensor));
    return StrideOp::create(outside, loc, tensor, StringAttr(), axis);
  }
  Value stride = getExtent(tensor, last);
  if (!type.isDynamicDim(last)) {
    int64_t bits = getElementBits(type.getElementType());
    // 4-bit elements are in a buffer of bytes.
    stride = constant(bits < 8 ? type.getDimSize(last) * bits / 8
                               : type.getDimSize(last));
  }
  for (int64_t inner = last - 1; inner > axis; --inner)
    stride = mul(getExtent(tensor, inner), stride);
  return stride;
}

Value RowContext::getOffset(Value tensor, ArrayRef<Value> indices) {
  Value offset;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    Value part = mul(index, getStride(tensor, axis));
    offset = offset ? add(offset, part) : part;
  }
  return offset ? offset : constant(0);
}

Value RowContext::getRowOffset(Value tensor, StringRef name) {
  int64_t rank = getSpaceRank();
  if (getStrides(tensor))
    return getStridedRowOffset(tensor, name);
  // A scale per row may have no axis.
  if (cast<RankedTensorType>(tensor.getType()).getRank() <= rank)
    return row;
  return mul(row, getStride(tensor, rank - 1), name);
}

Value RowContext::getStridedRowOffset(Value tensor, StringRef name) {
  auto type = cast<RankedTensorType>(tensor.getType());
  ArrayRef<int64_t> strides = getStrides(tensor).getStrides();
  // The row has one index along all axes of the iteration space. Each division
  // takes those of an inner axis off, but for axes whose elements follow each
  // other as if they were one.
  auto getBytes = [&](int64_t axis) {
    return axis < static_cast<int64_t>(strides.size()) ? strides[axis]
                                                       : getCellBytes(tensor);
  };
  auto continues = [&](int64_t axis) {
    int64_t stride = getBytes(axis), inner = getBytes(axis + 1), span;
    return !ShapedType::isDynamic(stride) && !ShapedType::isDynamic(inner) &&
           !type.isDynamicDim(axis + 1) &&
           !llvm::MulOverflow(inner, type.getDimSize(axis + 1), span) &&
           stride == span;
  };
  Value offset, rest = row;
  int64_t axis = std::min(getSpaceRank(), type.getRank()) - 1;
  while (axis >= 0) {
    int64_t inner = axis;
    Value extent = axis > 0 ? getExtent(tensor, axis, /*min=*/1) : Value();
    while (axis > 0 && continues(axis - 1))
      if (--axis > 0)
        extent = mul(extent, getExtent(tensor, axis, /*min=*/1));
    StringRef own = axis == 0 ? name : "";
    Value index = axis > 0 ? rem(rest, extent) : rest;
    Value part = mul(index, getStride(tensor, inner), offset ? "" : own);
    offset = offset ? add(part, offset, own) : part;
    if (axis > 0)
      rest = div(rest, extent);
    --axis;
  }
  return offset ? offset : row;
}

Value RowContext::loadInteger(Value tensor, Value offset, StringRef name,
                              IntegerKind kind) {
  Value buffer = getBuffer(tensor);
  bool isWide =
      getRowElement(cast<RankedTensorType>(tensor.getType())).isInteger(64);
  Location at =
      isWide && !name.empty() ? getLoc((name + "_i64").str()) : getLoc(name);
  Value loaded = memref::LoadOp::create(inside, at, buffer, ValueRange{offset});
  // From here on all arithmetic is that of i32.
  return isWide
             ? row::NarrowOp::create(inside, getLoc(name), inside.getI32Type(),
                                     loaded, kind == IntegerKind::Length)
                   .getNarrowed()
             : loaded;
}

Value RowContext::loadIndex(Value tensor, Value offset, StringRef name,
                            IntegerKind kind) {
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                    loadInteger(tensor, offset, name, kind));
}

Value RowContext::loadIndexAt(Value tensor, ArrayRef<Value> indices,
                              StringRef name, IntegerKind kind) {
  return loadIndex(tensor, getOffset(tensor, indices), name, kind);
}

Value RowContext::loadIndexOfRow(Value tensor, StringRef name,
                                 IntegerKind kind) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (rank > 0 && rank < getSpaceRank())
    return loadIndexAt(tensor, getRowIndices(rank), name, kind);
  return loadIndex(tensor, getRowOffset(tensor), name, kind);
}

Value RowContext::loadWideOfRow(Value tensor, StringRef name) {
  Value loaded = memref::LoadOp::create(inside, getLoc(name), getBuffer(tensor),
                                        ValueRange{getRowOffset(tensor)});
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(), loaded);
}

Value RowContext::narrow(Value index, StringRef name) {
  Value wide =
      arith::IndexCastOp::create(inside, loc, inside.getI64Type(), index);
  Value narrowed =
      row::NarrowOp::create(inside, getLoc(name), inside.getI32Type(), wide,
                            /*saturate=*/false)
          .getNarrowed();
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                    narrowed);
}

Value RowContext::loadIndexIf(Value condition, Value tensor,
                              function_ref<Value()> offset, int64_t otherwise,
                              StringRef name, IntegerKind kind) {
  auto lookup = scf::IfOp::create(inside, getLoc(name), inside.getI32Type(),
                                  condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(inside);
  inside.setInsertionPointToStart(lookup.thenBlock());
  Value found = loadInteger(tensor, offset(), /*name=*/"", kind);
  scf::YieldOp::create(inside, loc, found);
  inside.setInsertionPointToStart(lookup.elseBlock());
  Value none = arith::ConstantIntOp::create(inside, loc, otherwise, 32);
  scf::YieldOp::create(inside, loc, none);
  inside.setInsertionPointAfter(lookup);
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                    lookup.getResult(0));
}

Value RowContext::search(Value tensor, Value value, Value count,
                         StringRef name) {
  Value found = row::SearchOp::create(inside, getLoc(name), inside.getI32Type(),
                                      getBuffer(tensor), value, count);
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(), found);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

StoredVector dsv4::locateRow(RowContext &row, Value tensor, int64_t begin,
                             int64_t count, StringRef name) {
  auto type = cast<RankedTensorType>(tensor.getType());
  StoredVector stored;
  stored.buffer = row.getBuffer(tensor);
  stored.element = getRowElement(type);
  stored.extent = stored.readable = count;
  int64_t bits = getElementBits(stored.element);
  int64_t cell = getElementBits(
      cast<MemRefType>(stored.buffer.getType()).getElementType());
  // A scale per row may have no axis.
  bool hasAxis = type.getRank() > row.getSpaceRank();
  int64_t rowBits =
      count == 1 && !hasAxis ? bits : type.getShape().back() * bits;
  stored.offset =
      row.add(row.getRowOffset(tensor), row.constant(begin * bits / cell));
  int64_t alignment = std::gcd<int64_t>(16, rowBits / 8);
  if (hasAxis || count > 1)
    alignment = row.getRowAlignment(tensor, alignment);
  stored.alignment = std::gcd(alignment, begin * bits / 8);
  stored.name = name;
  return stored;
}

StoredVector dsv4::locateWholeRow(RowContext &row, Value tensor,
                                  StringRef name) {
  auto type = cast<RankedTensorType>(tensor.getType());
  bool hasAxis = type.getRank() > row.getSpaceRank();
  return locateRow(row, tensor, 0, hasAxis ? type.getShape().back() : 1, name);
}

/// A row whose extent is known at run time only: nothing is known of where it
/// starts, nor that whole vectors make it up.
static Value readBounded(RowContext &row, KernelOp kernel, Value operand,
                         bool isShared, int64_t max, StringRef name) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t axis = type.getRank() - 1;
  StoredVector stored;
  stored.buffer = row.getBuffer(operand);
  stored.element = getRowElement(type);
  stored.extent = stored.readable = max ? max : row.boundExtent(operand, axis);
  stored.length = row.getExtent(operand, axis);
  stored.offset = isShared ? row.constant(0)
                           : row.getRowOffset(operand, (name + "_start").str());
  auto inner = cast<BlockArgument>(operand);
  if (auto arg =
          dyn_cast<BlockArgument>(kernel.getInputs()[inner.getArgNumber()]))
    stored.multiple =
        getDimMultiple(arg.getOwner()->getParentOp(), arg.getArgNumber(), axis);
  // Vectors of as many elements begin at aligned addresses, too.
  if (row.getStrides(operand))
    stored.multiple =
        std::min<int64_t>(stored.multiple, row.getRowAlignment(operand, 1) * 8 /
                                               getElementBits(stored.element));
  stored.name = name;
  return buildRead(row, stored);
}

Value RowContext::takeRow(Value operand, int64_t begin, int64_t count,
                          StringRef name) {
  RowValue segments = lookupRow(operand);
  if (segments.empty())
    return buildRead(*this, locateRow(*this, operand, begin, count, name));
  auto extentOf = [](Value segment) {
    return cast<VectorType>(segment.getType()).getNumElements();
  };
  // The segments that hold the elements, joined.
  Value joined;
  int64_t at = 0, first = 0;
  for (Value segment : segments) {
    int64_t end = at + extentOf(segment);
    if (begin < end && at < begin + count) {
      if (!joined) {
        joined = segment;
        first = at;
      } else {
        auto type = VectorType::get(
            {extentOf(joined) + extentOf(segment)},
            cast<VectorType>(segment.getType()).getElementType());
        joined = row::JoinOp::create(inside, loc, type, joined, segment);
      }
    }
    at = end;
  }
  if (extentOf(joined) == count)
    return joined;
  return vector::ExtractStridedSliceOp::create(
      inside, loc, joined, ArrayRef<int64_t>{begin - first},
      ArrayRef<int64_t>{count}, ArrayRef<int64_t>{1});
}

Value RowContext::takeRow(Value operand, StringRef name, int64_t max) {
  auto type = cast<RankedTensorType>(operand.getType());
  int64_t extent = type.getShape().back();
  if (!lookupRow(operand).empty())
    return takeRow(operand, 0, extent, name);
  // Without axes for them all rows have one.
  bool isShared = type.getRank() <= getSpaceRank();
  if (ShapedType::isDynamic(extent))
    return readBounded(*this, kernel, operand, isShared, max, name);
  if (!isShared)
    return takeRow(operand, 0, extent, name);
  StoredVector stored = locateRow(*this, operand, 0, extent, name);
  stored.offset = constant(0);
  return buildRead(*this, stored);
}

Value RowContext::takeIndices(Value operand, StringRef name) {
  return toI32(takeRow(operand, name), name);
}

Value RowContext::toI32(Value indices, StringRef name) {
  auto type = cast<VectorType>(indices.getType());
  auto i32 = VectorType::get(type.getShape(), inside.getI32Type());
  if (type.getElementType().isInteger(16))
    return arith::ExtSIOp::create(inside, getLoc(name), i32, indices);
  if (!type.getElementType().isInteger(64))
    return indices;
  return row::NarrowOp::create(inside, getLoc(name), i32, indices,
                               /*saturate=*/false)
      .getNarrowed();
}

Value RowContext::toF32(Value value, StringRef name) {
  auto type = cast<VectorType>(value.getType());
  auto f32 = VectorType::get(type.getShape(), inside.getF32Type());
  if (type == f32)
    return value;
  if (type.getElementType().isInteger())
    return arith::SIToFPOp::create(inside, getLoc(name), f32, value);
  return arith::ExtFOp::create(inside, getLoc(name), f32, value);
}

Value RowContext::fromF32(Value value, Type element, StringRef name) {
  if (element.isF32())
    return value;
  auto type =
      VectorType::get(cast<VectorType>(value.getType()).getShape(), element);
  return arith::TruncFOp::create(inside, getLoc(name), type, value);
}

Value RowContext::copy(Value value, Type element) {
  Type from = cast<VectorType>(value.getType()).getElementType();
  if (from == element)
    return value;
  value = toF32(value);
  // All others have one NaN, as what is rounded has.
  if (from.isBF16() && element.isF32())
    value = row::OneNaNOp::create(inside, loc, value.getType(), value);
  return fromF32(value, element);
}

Value RowContext::splat(double value, int64_t count) {
  auto type = VectorType::get({count}, inside.getF32Type());
  return arith::ConstantOp::create(
      inside, loc, DenseElementsAttr::get(type, static_cast<float>(value)));
}

Value RowContext::repeat(Value value, int64_t times, StringRef name) {
  auto type = cast<VectorType>(value.getType());
  if (times == 1)
    return value;
  auto repeated =
      VectorType::get({type.getNumElements() * times}, type.getElementType());
  return row::ExpandOp::create(inside, getLoc(name), repeated, value);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

Value dsv4::buildRead(RowContext &row, const StoredVector &stored) {
  OpBuilder &b = row.getBuilder();
  auto type = VectorType::get({stored.extent}, stored.element);
  Value read = row::ReadOp::create(
      b, row.getLoc(stored.name), type, stored.buffer, stored.offset,
      stored.predicate, stored.length, stored.stride, stored.alignment,
      stored.interleave, stored.readable == stored.extent ? 0 : stored.readable,
      stored.multiple, stored.run);
  if (stored.highFirst)
    read = row::SwapNibblesOp::create(b, row.getLoc(), read.getType(), read);
  return read;
}

Value dsv4::buildScale(RowContext &row, Value elements,
                       ArrayRef<StoredScales> scales, Type result) {
  OpBuilder &b = row.getBuilder();
  // All reads come first: they are independent of each other.
  SmallVector<Value> read;
  for (const StoredScales &level : scales)
    read.push_back(buildRead(row, level.vector));
  if (scales.empty())
    return row.copy(elements, result);

  Location loc = row.getLoc();
  Value value = row.toF32(elements);
  for (auto [level, vector] : llvm::zip(scales, read)) {
    Value scale = row.toF32(vector);
    scale = row.repeat(scale, level.group, (level.vector.name + "_f32").str());
    value = arith::MulFOp::create(b, loc, value, scale);
  }
  return row.fromF32(value, result);
}

Value dsv4::buildDecode(RowContext &row, const StoredVector &data,
                        ArrayRef<StoredScales> scales, Type result) {
  return buildScale(row, buildRead(row, data), scales, result);
}
