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

struct RopeLowering
    : RowLoweringInterface::ExternalModel<RopeLowering, RopeOp> {
  /// `count` angles of the row's position, from column `column` of the table.
  static Value readAngles(RopeOp op, RowContext &row, Value position,
                          Value valid, int64_t column, StringRef name) {
    int64_t width = getRowExtent(op.getTable());
    StoredVector stored =
        locateRow(row, op.getTable(), column, width / 2, name);
    stored.offset =
        row.getOffset(op.getTable(), {position, row.constant(column)});
    stored.predicate = valid;
    return buildRead(row, stored);
  }

  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<RopeOp>(operation);
    OpBuilder &b = row.getBuilder();
    Location loc = row.getLoc();
    Type result = getResultElement(op.getOut());
    int64_t extent = getRowExtent(op.getX());
    int64_t width = getRowExtent(op.getTable());

    RowValue segments;
    if (extent != width)
      segments.push_back(
          row.copy(row.takeRow(op.getX(), 0, extent - width, "x"), result));
    Value tail = row.takeRow(op.getX(), extent - width, width, "x_rope");
    Value position = row.loadIndexOfRow(op.getPositions(), "position");
    Value inTable = row.both(
        row.isNotNegative(position),
        row.isBelow(position, row.getExtent(op.getTable(), 0)), "in_table");
    Value cosines = readAngles(op, row, position, inTable, 0, "cosines");
    Value sines = readAngles(op, row, position, inTable, width / 2, "sines");

    auto halves = vector::DeinterleaveOp::create(b, loc, row.toF32(tail));
    Value x = halves.getRes1(), y = halves.getRes2();
    auto times = [&](Value lhs, Value rhs) -> Value {
      return arith::MulFOp::create(b, loc, lhs, rhs);
    };
    auto plus = [&](Value lhs, Value rhs) -> Value {
      return arith::AddFOp::create(b, loc, lhs, rhs);
    };
    auto minus = [&](Value lhs, Value rhs) -> Value {
      return arith::SubFOp::create(b, loc, lhs, rhs);
    };
    // A sum with a negated product is a difference, to the bit.
    Value first = times(x, cosines), second = times(y, cosines);
    Value crossFirst = times(y, sines), crossSecond = times(x, sines);
    if (op.getInverse()) {
      first = plus(first, crossFirst);
      second = minus(second, crossSecond);
    } else {
      first = minus(first, crossFirst);
      second = plus(crossSecond, second);
    }
    Value rotated = row.fromF32(
        vector::InterleaveOp::create(b, loc, first, second), result);
    segments.push_back(arith::SelectOp::create(
        b, row.getLoc("rotated"), inTable, rotated, row.copy(tail, result)));
    return SmallVector<RowValue>{segments};
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
