//===- RowToRow.cpp - Row programs of rms_norm, rope, hadamard ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Dialect/Row.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;

namespace {

Type getResultElement(Value destination) {
  return getElementTypeOrSelf(destination.getType());
}

int64_t getRowExtent(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

struct RMSNormLowering
    : RowLoweringInterface::ExternalModel<RMSNormLowering, RMSNormOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<RMSNormOp>(operation);
    OpBuilder &b = row.getBuilder();
    Location loc = row.getLoc();
    int64_t extent = getRowExtent(op.getX());
    Value x = row.toF32(row.takeRow(op.getX(), "x"));
    Value weight;
    if (op.getWeight()) {
      // One row for all.
      StoredVector stored = locateRow(row, op.getWeight(), 0, extent, "weight");
      stored.offset = row.constant(0);
      weight = row.toF32(buildRead(row, stored));
    }
    auto one = VectorType::get({1}, b.getF32Type());
    Value squares = arith::MulFOp::create(b, loc, x, x);
    Value sum = row::ReduceOp::create(b, row.getLoc("square_sum"), one,
                                      row::ReduceKind::Sum, squares, extent);
    // By a power of two the product is the quotient.
    Value mean =
        llvm::isPowerOf2_64(extent)
            ? arith::MulFOp::create(b, loc, sum, row.splat(1.0 / extent, 1))
                  .getResult()
            : arith::DivFOp::create(b, loc, sum, row.splat(extent, 1))
                  .getResult();
    Value moved = arith::AddFOp::create(
        b, loc, mean, row.splat(op.getEps().convertToFloat(), 1));
    Value root = math::SqrtOp::create(b, loc, moved);
    Value factor = arith::DivFOp::create(b, row.getLoc("inverse_rms"),
                                         row.splat(1, 1), root);
    Value y = arith::MulFOp::create(b, loc, x, row.repeat(factor, extent));
    if (weight)
      y = arith::MulFOp::create(b, loc, y, weight);
    return SmallVector<RowValue>{
        {row.fromF32(y, getResultElement(op.getOut()), "normed")}};
  }
};

/// Lowers one rope.
class RopeBuilder {
public:
  RopeBuilder(RopeOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()),
        result(getResultElement(op.getOut())),
        width(getRowExtent(op.getTable())) {}

  RowValue build();

private:
  /// Two values for each pair.
  using Pairs = std::pair<Value, Value>;

  /// `count` numbers of the position, from column `column` of the table on.
  Value readTable(Value position, Value valid, int64_t column, int64_t count,
                  StringRef name);
  /// Cosines and sines.
  Pairs readAngles(Value position, Value valid);
  Pairs rotate(Pairs of, Pairs angles);
  /// `rotated`, or `taken` as it is if the position is not in the table.
  Value select(Value inTable, Value rotated, Value taken);

  Value times(Value lhs, Value rhs) {
    return arith::MulFOp::create(b, row.getLoc(), lhs, rhs);
  }
  Value plus(Value lhs, Value rhs) {
    return arith::AddFOp::create(b, row.getLoc(), lhs, rhs);
  }
  Value minus(Value lhs, Value rhs) {
    return arith::SubFOp::create(b, row.getLoc(), lhs, rhs);
  }

  RopeOp op;
  RowContext &row;
  OpBuilder &b;
  Type result;
  int64_t width; ///< Elements that are rotated.
};

Value RopeBuilder::readTable(Value position, Value valid, int64_t column,
                             int64_t count, StringRef name) {
  StoredVector stored = locateRow(row, op.getTable(), column, count, name);
  stored.offset =
      row.getOffset(op.getTable(), {position, row.constant(column)});
  stored.predicate = valid;
  return row.toF32(buildRead(row, stored));
}

RopeBuilder::Pairs RopeBuilder::readAngles(Value position, Value valid) {
  if (op.getInterleaved()) {
    Value angles = readTable(position, valid, 0, width, "angles");
    auto halves = vector::DeinterleaveOp::create(b, row.getLoc(), angles);
    return {halves.getRes1(), halves.getRes2()};
  }
  Value cosines = readTable(position, valid, 0, width / 2, "cosines");
  Value sines = readTable(position, valid, width / 2, width / 2, "sines");
  return {cosines, sines};
}

RopeBuilder::Pairs RopeBuilder::rotate(Pairs of, Pairs angles) {
  auto [x, y] = of;
  auto [cosines, sines] = angles;
  // A sum with a negated product is a difference, to the bit.
  Value first = times(x, cosines), second = times(y, cosines);
  Value crossFirst = times(y, sines), crossSecond = times(x, sines);
  if (op.getInverse())
    return {plus(first, crossFirst), minus(second, crossSecond)};
  return {minus(first, crossFirst), plus(crossSecond, second)};
}

Value RopeBuilder::select(Value inTable, Value rotated, Value taken) {
  rotated = row.fromF32(rotated, result);
  return arith::SelectOp::create(b, row.getLoc("rotated"), inTable, rotated,
                                 row.copy(taken, result));
}

RowValue RopeBuilder::build() {
  int64_t extent = getRowExtent(op.getX()), begin = extent - width;
  RowValue segments;
  if (begin)
    segments.push_back(row.copy(row.takeRow(op.getX(), 0, begin, "x"), result));
  SmallVector<Value, 2> taken;
  if (op.getNeox()) {
    taken.push_back(row.takeRow(op.getX(), begin, width / 2, "x_first"));
    taken.push_back(
        row.takeRow(op.getX(), begin + width / 2, width / 2, "x_second"));
  } else {
    taken.push_back(row.takeRow(op.getX(), begin, width, "x_rope"));
  }
  Value position = row.loadIndexOfRow(op.getPositions(), "position");
  Value inTable = row.both(
      row.isNotNegative(position),
      row.isBelow(position, row.getExtent(op.getTable(), 0)), "in_table");
  Pairs angles = readAngles(position, inTable);
  if (op.getNeox()) {
    auto [first, second] =
        rotate({row.toF32(taken[0]), row.toF32(taken[1])}, angles);
    segments.push_back(select(inTable, first, taken[0]));
    segments.push_back(select(inTable, second, taken[1]));
    return segments;
  }
  auto halves =
      vector::DeinterleaveOp::create(b, row.getLoc(), row.toF32(taken.front()));
  auto [first, second] = rotate({halves.getRes1(), halves.getRes2()}, angles);
  Value rotated = vector::InterleaveOp::create(b, row.getLoc(), first, second);
  segments.push_back(select(inTable, rotated, taken.front()));
  return segments;
}

struct RopeLowering
    : RowLoweringInterface::ExternalModel<RopeLowering, RopeOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    return SmallVector<RowValue>{
        RopeBuilder(cast<RopeOp>(operation), row).build()};
  }
};

struct HadamardLowering
    : RowLoweringInterface::ExternalModel<HadamardLowering, HadamardOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<HadamardOp>(operation);
    OpBuilder &b = row.getBuilder();
    Value x = row.toF32(row.takeRow(op.getX(), "x"));
    Value sums =
        row::HadamardOp::create(b, row.getLoc("transformed"), x.getType(), x);
    Value scaled = arith::MulFOp::create(
        b, row.getLoc(), sums,
        row.splat(op.getScale().convertToFloat(), getRowExtent(op.getX())));
    return SmallVector<RowValue>{
        {row.fromF32(scaled, getResultElement(op.getOut()))}};
  }
};

} // namespace

void dsv4::attachRowToRowLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    RMSNormOp::attachInterface<RMSNormLowering>(*context);
    RopeOp::attachInterface<RopeLowering>(*context);
    dsv4::HadamardOp::attachInterface<HadamardLowering>(*context);
  });
}
