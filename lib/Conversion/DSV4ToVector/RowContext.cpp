//===- RowContext.cpp - Row programs under construction -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Conversion/RowContext.h"

#include "dsv4/Dialect/CUDA.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

int64_t RowContext::getSpaceRank() {
  auto ops = kernel.getBody().front().getOps<RowwiseOpInterface>();
  return cast<ShapedType>(getRowSource(*ops.begin()).getType()).getRank() - 1;
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

Value RowContext::loadIndexIf(Value condition, Value buffer,
                              function_ref<Value()> offset, int64_t otherwise,
                              StringRef name) {
  auto lookup = scf::IfOp::create(inside, getLoc(name), inside.getI32Type(),
                                  condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(inside);
  inside.setInsertionPointToStart(lookup.thenBlock());
  Value found =
      memref::LoadOp::create(inside, loc, buffer, ValueRange{offset()});
  scf::YieldOp::create(inside, loc, found);
  inside.setInsertionPointToStart(lookup.elseBlock());
  Value none = arith::ConstantIntOp::create(inside, loc, otherwise, 32);
  scf::YieldOp::create(inside, loc, none);
  inside.setInsertionPointAfter(lookup);
  return arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                    lookup.getResult(0));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

StoredVector dsv4::locateRow(RowContext &row, Value tensor, int64_t begin,
                             int64_t count, StringRef name) {
  auto type = cast<RankedTensorType>(tensor.getType());
  StoredVector stored;
  stored.buffer = row.getBuffer(tensor);
  stored.element = type.getElementType();
  stored.extent = stored.readable = count;
  int64_t bits = getElementBits(stored.element);
  int64_t cell = getElementBits(
      cast<MemRefType>(stored.buffer.getType()).getElementType());
  // A factor per row may have no axis.
  bool hasAxis = type.getRank() > row.getSpaceRank();
  int64_t rowBits =
      count == 1 && !hasAxis ? bits : type.getShape().back() * bits;
  stored.offset = row.add(row.mul(row.getRow(), row.constant(rowBits / cell)),
                          row.constant(begin * bits / cell));
  stored.alignment =
      std::gcd(std::gcd<int64_t>(16, rowBits / 8), begin * bits / 8);
  stored.name = name;
  return stored;
}

StoredVector dsv4::locatePart(RowContext &row, Value tensor, int64_t group,
                              StringRef name) {
  auto type = cast<RankedTensorType>(tensor.getType());
  bool hasAxis = type.getRank() > row.getSpaceRank();
  if (!row.getColumn() || group == 0)
    return locateRow(row, tensor, 0, hasAxis ? type.getShape().back() : 1,
                     name);
  int64_t columns = row.getWidth(0);
  int64_t count = std::max<int64_t>(1, columns / group);
  StoredVector stored = locateRow(row, tensor, 0, count, name);
  Value begin = row.div(row.getColumn(), row.constant(group));
  int64_t bits = getElementBits(stored.element);
  int64_t cell = getElementBits(
      cast<MemRefType>(stored.buffer.getType()).getElementType());
  if (bits < cell)
    begin = row.div(begin, row.constant(cell / bits));
  else
    begin = row.mul(begin, row.constant(bits / cell));
  stored.offset = row.add(stored.offset, begin);
  stored.alignment =
      std::gcd(stored.alignment, std::max<int64_t>(1, count * bits / 8));
  return stored;
}

void RowContext::atColumns(Value column, int64_t count,
                           function_ref<void()> build) {
  std::swap(column, this->column);
  std::swap(count, columns);
  build();
  std::swap(column, this->column);
  std::swap(count, columns);
}

SmallVector<Value>
RowContext::atWholeRow(Operation *op,
                       function_ref<SmallVector<Value>()> build) {
  auto [found, isNew] = numbers.try_emplace(op);
  if (!isNew)
    return found->second;
  OpBuilder::InsertionGuard saved(inside);
  Block *body = cast<BlockArgument>(row).getOwner();
  if (Operation *user = body->findAncestorOpInBlock(
          *inside.getInsertionBlock()->getParentOp()))
    inside.setInsertionPoint(user);
  SmallVector<Value> built;
  Value elements = std::exchange(picked, Value());
  atColumns(Value(), 0, [&] { built = build(); });
  picked = elements;
  return numbers[op] = built;
}

Value RowContext::takeOwnColumns(Value whole) {
  Region *region = inside.getInsertionBlock()->getParent();
  auto select = dyn_cast<cuda::SelectOp>(region->getParentOp());
  auto type = cast<VectorType>(whole.getType());
  // A row of one element is a number.
  if (!select || region != &select.getLoad() || type.getNumElements() == 1)
    return {};
  Type element = type.getElementType();
  return cuda::ColumnsOp::create(
      inside, loc, VectorType::get({columns}, element), whole, column);
}

Value RowContext::pick(Value operand, Value indices, StringRef name) {
  std::swap(indices, picked);
  Value elements = takeColumns(operand, name);
  std::swap(indices, picked);
  return elements;
}

void RowContext::setPlaces(Value selected, Value place, Value index,
                           Operation *before) {
  this->selected = selected;
  this->place = place;
  placeIndex = index;
  endOfPlaces = before;
}

void RowContext::atPlaces(int64_t places, function_ref<void(Value)> build) {
  OpBuilder::InsertionGuard saved(inside);
  inside.setInsertionPoint(endOfPlaces);
  build(add(mul(row, constant(places)), place, "at"));
}

void RowContext::storeElement(Value element, Value destination, Value offset) {
  auto store = vector::StoreOp::create(
      inside, loc, element, getBuffer(destination), ValueRange{offset});
  store.setAlignment(
      cast<VectorType>(element.getType()).getElementTypeBitWidth() / 8);
}

int64_t RowContext::getChunk() {
  return kernel.getScheduleAttr() ? kernel.getScheduleAttr().getVector() : 1;
}

/// What the last extent of an operand of the kernel is a multiple of.
static int64_t getMultiple(KernelOp kernel, Value operand) {
  auto inner = cast<BlockArgument>(operand);
  auto arg = dyn_cast<BlockArgument>(kernel.getInputs()[inner.getArgNumber()]);
  int64_t axis = cast<RankedTensorType>(operand.getType()).getRank() - 1;
  return arg ? getDimMultiple(arg.getOwner()->getParentOp(), arg.getArgNumber(),
                              axis)
             : 1;
}

Value RowContext::takeColumns(Value operand, StringRef name) {
  if (auto result = dyn_cast<OpResult>(operand)) {
    Location saved = loc;
    loc = stripNames(result.getOwner()->getLoc());
    auto rows = cast<RowLoweringInterface>(result.getOwner()).buildRow(*this);
    loc = saved;
    return succeeded(rows) ? (*rows)[result.getResultNumber()].front()
                           : Value();
  }
  auto type = cast<RankedTensorType>(operand.getType());
  if (picked)
    return cuda::GatherOp::create(
        inside, getLoc(name),
        VectorType::get(cast<VectorType>(picked.getType()).getShape(),
                        type.getElementType()),
        getBuffer(operand), mul(row, constant(type.getShape().back())), picked,
        type.getShape().back());
  // Without axes for them all rows have one.
  bool shared = type.getRank() <= getSpaceRank();
  if (!ShapedType::isDynamic(type.getShape().back())) {
    if (!shared)
      return buildRead(*this, locatePart(*this, operand, 1, name));
    StoredVector stored = locateRow(*this, operand, 0, columns, name);
    stored.offset = column;
    return buildRead(*this, stored);
  }
  // Nothing is known of where a row starts, nor that whole chunks make one up.
  Value extent = getExtent(operand, type.getRank() - 1);
  Value start = column;
  if (!shared)
    start = add(mul(row, extent, (name + "_start").str()), column);
  // Of a single one it is not known that there is one.
  if (columns > 1 && getMultiple(kernel, operand) % columns == 0) {
    StoredVector stored;
    stored.buffer = getBuffer(operand);
    stored.offset = start;
    stored.element = type.getElementType();
    stored.extent = stored.readable = columns;
    stored.alignment =
        std::gcd<int64_t>(16, columns * type.getElementTypeBitWidth() / 8);
    stored.name = name;
    return buildRead(*this, stored);
  }
  Value left = arith::SubIOp::create(inside, loc, extent, column);
  return cuda::LoadPartOp::create(
      inside, getLoc(name), VectorType::get({columns}, type.getElementType()),
      getBuffer(operand), start, left);
}

Value RowContext::takeRow(Value operand, int64_t begin, int64_t count,
                          StringRef name) {
  RowValue pieces = lookupRow(operand);
  if (pieces.empty())
    return buildRead(*this, locateRow(*this, operand, begin, count, name));
  auto extentOf = [](Value piece) {
    return cast<VectorType>(piece.getType()).getNumElements();
  };
  // The pieces that hold the elements, joined.
  Value joined;
  int64_t at = 0, first = 0;
  for (Value piece : pieces) {
    int64_t end = at + extentOf(piece);
    if (begin < end && at < begin + count) {
      if (!joined) {
        joined = piece;
        first = at;
      } else {
        auto type =
            VectorType::get({extentOf(joined) + extentOf(piece)},
                            cast<VectorType>(piece.getType()).getElementType());
        joined = cuda::JoinOp::create(inside, loc, type, joined, piece);
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

Value RowContext::takeRow(Value operand, StringRef name) {
  if (column || picked)
    return takeColumns(operand, name);
  return takeRow(operand, 0,
                 cast<ShapedType>(operand.getType()).getShape().back(), name);
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
  // All others have one NaN.
  if (from.isBF16())
    value = cuda::OneNaNOp::create(inside, loc, value.getType(), value);
  return fromF32(value, element);
}

Value RowContext::splat(double value, int64_t count) {
  auto type = VectorType::get({count}, inside.getF32Type());
  return arith::ConstantOp::create(
      inside, loc, DenseElementsAttr::get(type, static_cast<float>(value)));
}

Value RowContext::repeat(Value value, int64_t times, StringRef name) {
  auto type = cast<VectorType>(value.getType());
  int64_t count = type.getNumElements();
  if (times == 1)
    return value;
  Type element = type.getElementType();
  value = vector::ShapeCastOp::create(
      inside, loc, VectorType::get({count, 1}, element), value);
  value = vector::BroadcastOp::create(
      inside, getLoc(name), VectorType::get({count, times}, element), value);
  return vector::ShapeCastOp::create(
      inside, loc, VectorType::get({count * times}, element), value);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

Value dsv4::buildRead(RowContext &row, const StoredVector &stored) {
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

Value dsv4::buildScale(RowContext &row, Value elements,
                       ArrayRef<StoredFactors> factors, Type result) {
  OpBuilder &b = row.getBuilder();
  // All reads come first: they are independent of each other.
  SmallVector<Value> read;
  for (const StoredFactors &level : factors)
    read.push_back(buildRead(row, level.vector));
  if (factors.empty())
    return row.copy(elements, result);

  Location loc = row.getLoc();
  Value value = row.toF32(elements);
  for (auto [level, vector] : llvm::zip(factors, read)) {
    Value factor = row.toF32(vector);
    factor =
        row.repeat(factor, level.group, (level.vector.name + "_f32").str());
    value = arith::MulFOp::create(b, loc, value, factor);
  }
  return row.fromF32(value, result);
}

Value dsv4::buildDecode(RowContext &row, const StoredVector &data,
                        ArrayRef<StoredFactors> factors, Type result) {
  return buildScale(row, buildRead(row, data), factors, result);
}
