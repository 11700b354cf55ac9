//===- RowContext.cpp - Row programs under construction -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowContext.h"

#include "dsv4/Dialect/CUDA.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

Value RowContext::getBuffer(Value source, StringRef field) {
  Type element = IntegerType::get(outside.getContext(), 8);
  if (auto tensor = dyn_cast<RankedTensorType>(source.getType()))
    if (tensor.getElementTypeBitWidth() >= 8)
      element = tensor.getElementType();
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  return BufferOp::create(outside, loc, type, source,
                          field.empty() ? StringAttr()
                                        : outside.getStringAttr(field));
}

Value RowContext::getExtent(Value source, int64_t axis, int64_t min) {
  // Specialisation put the bounds of named dims on the function.
  int64_t max = INT32_MAX;
  auto operand = kernel.getInputs()[cast<BlockArgument>(source).getArgNumber()];
  if (auto arg = dyn_cast<BlockArgument>(operand))
    if (auto func =
            dyn_cast<FunctionOpInterface>(arg.getOwner()->getParentOp()))
      max = getDimBound(func, arg.getArgNumber(), axis);
  return outside.createOrFold<ExtentOp>(loc, source, axis, min, max);
}

Value RowContext::getOuterIndex(Value source, int64_t axis, StringRef name) {
  // There is a row, so no extent of the row space is zero.
  return div(row, getExtent(source, axis, /*min=*/1), name);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value RowContext::constant(int64_t value) {
  return arith::ConstantIndexOp::create(inside, loc, value);
}

Value RowContext::add(Value lhs, Value rhs, StringRef name) {
  if (matchPattern(rhs, m_Zero()))
    return lhs;
  if (matchPattern(lhs, m_Zero()))
    return rhs;
  return arith::AddIOp::create(inside, getLoc(name), lhs, rhs);
}

Value RowContext::mul(Value lhs, Value rhs, StringRef name) {
  if (matchPattern(rhs, m_One()))
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

Value RowContext::loadIndex(Value buffer, Value offset, StringRef name) {
  Value loaded =
      memref::LoadOp::create(inside, getLoc(name), buffer, ValueRange{offset});
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(), loaded);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Reads `stored`, elements in logical order.
static Value buildRead(RowContext &row, const StoredVector &stored) {
  OpBuilder &b = row.getBuilder();
  Location loc = row.getLoc(stored.name);
  Type cell = cast<MemRefType>(stored.buffer.getType()).getElementType();
  int64_t bits = getElementBits(stored.element);
  int64_t cells = stored.readable * bits / getElementBits(cell);
  auto type = VectorType::get({cells}, cell);
  Value loaded;
  if (stored.predicate) {
    auto maskType = VectorType::get({cells}, b.getI1Type());
    Value mask = vector::BroadcastOp::create(b, row.getLoc(), maskType,
                                             stored.predicate);
    Value zeros =
        arith::ConstantOp::create(b, row.getLoc(), b.getZeroAttr(type));
    auto load = vector::MaskedLoadOp::create(
        b, loc, type, stored.buffer, ValueRange{stored.offset}, mask, zeros);
    load.setAlignment(stored.alignment);
    loaded = load;
  } else {
    auto load = vector::LoadOp::create(b, loc, type, stored.buffer,
                                       ValueRange{stored.offset});
    load.setAlignment(stored.alignment);
    loaded = load;
  }
  auto elements = VectorType::get({stored.readable}, stored.element);
  if (elements != type)
    loaded = vector::BitCastOp::create(b, row.getLoc(), elements, loaded);
  if (stored.highFirst)
    loaded =
        cuda::SwapNibblesOp::create(b, row.getLoc(), loaded.getType(), loaded);
  if (stored.readable != stored.extent)
    loaded = vector::ExtractStridedSliceOp::create(
        b, row.getLoc(), loaded, ArrayRef<int64_t>{0},
        ArrayRef<int64_t>{stored.extent}, ArrayRef<int64_t>{1});
  if (stored.interleave != 1) {
    // Stored as [interleave][extent / interleave], read column by column.
    int64_t columns = stored.extent / stored.interleave;
    Value matrix = vector::ShapeCastOp::create(
        b, row.getLoc(),
        VectorType::get({stored.interleave, columns}, stored.element), loaded);
    matrix = vector::TransposeOp::create(b, row.getLoc(), matrix,
                                         ArrayRef<int64_t>{1, 0});
    loaded = vector::ShapeCastOp::create(
        b, row.getLoc(), VectorType::get({stored.extent}, stored.element),
        matrix);
  }
  return loaded;
}

/// The same values in fp32; exact for every element type.
static Value toF32(RowContext &row, Value value) {
  OpBuilder &b = row.getBuilder();
  auto type = cast<VectorType>(value.getType());
  auto f32 = VectorType::get(type.getShape(), b.getF32Type());
  if (type == f32)
    return value;
  if (type.getElementType().isInteger())
    return arith::SIToFPOp::create(b, row.getLoc(), f32, value);
  return arith::ExtFOp::create(b, row.getLoc(), f32, value);
}

Value dsv4::buildScale(RowContext &row, Value elements,
                       ArrayRef<StoredFactors> factors, Type result) {
  OpBuilder &b = row.getBuilder();
  auto type = cast<VectorType>(elements.getType());
  int64_t extent = type.getNumElements();
  // All reads come first: they are independent of each other.
  SmallVector<Value> read;
  for (const StoredFactors &level : factors)
    read.push_back(buildRead(row, level.vector));
  if (factors.empty() && type.getElementType() == result)
    return elements;

  Location loc = row.getLoc();
  Value value = toF32(row, elements);
  for (auto [level, vector] : llvm::zip(factors, read)) {
    Value factor = toF32(row, vector);
    int64_t groups = extent / level.group;
    factor = vector::ShapeCastOp::create(
        b, loc, VectorType::get({groups, 1}, b.getF32Type()), factor);
    factor = vector::BroadcastOp::create(
        b, row.getLoc((level.vector.name + "_f32").str()),
        VectorType::get({groups, level.group}, b.getF32Type()), factor);
    factor = vector::ShapeCastOp::create(
        b, loc, VectorType::get({extent}, b.getF32Type()), factor);
    value = arith::MulFOp::create(b, loc, value, factor);
  }
  if (!result.isF32())
    value = arith::TruncFOp::create(b, loc, VectorType::get({extent}, result),
                                    value);
  return value;
}

Value dsv4::buildDecode(RowContext &row, const StoredVector &data,
                        ArrayRef<StoredFactors> factors, Type result) {
  return buildScale(row, buildRead(row, data), factors, result);
}
