//===- Quantize.cpp - Row program of dsv4.quantize ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of the recipe (QuantizerAttr) in order, on vectors of one value per
// group.
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Dialect/Row.h"

#include <cfloat>

using namespace mlir;
using namespace dsv4;

namespace {

/// Emits the row program of one quantisation.
class QuantizeBuilder {
public:
  QuantizeBuilder(QuantizeOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()), recipe(op.getRecipeAttr()),
        levels(op.getFormat().getScales()) {
    std::tie(begin, count) = op.getColumnRange();
    isFP4 = isa<Float4E2M1FNType>(op.getFormat().getElement());
    limit = isFP4 ? 6.0f : 448.0f;
    group = levels.empty() || levels[0].getGroup() <= 0 ? count
                                                        : levels[0].getGroup();
  }

  SmallVector<RowValue> build();

private:
  Value buildAmax(Value x, int64_t per, bool keepNaN, StringRef name);
  /// amax / max, as the recipe has it.
  Value buildQuotient(Value amax, float max);
  /// The outer scale of the row, computed or given; null without one.
  Value buildOuter(Value x);
  /// What is given, positive and finite.
  Value buildGiven();
  /// Payload by a given scale alone.
  Value buildScaled(Value x);
  Value buildScale(Value amax, Value outer);
  /// A scale is NaN where the group of an element type without NaN has one.
  Value withNaN(Value scale, Value amax);
  /// The stored scales, and the same as f32.
  std::pair<Value, Value> buildScales(Value scale);
  Value buildPayload(Value x, Value scale);
  /// Elements of the format, from values that are scaled already.
  Value encode(Value scaled, bool tiesDown, bool dropNegativeZero);

  int64_t groups() const { return count / group; }
  Value atLeast(Value value, float bound) {
    return arith::MaxNumFOp::create(b, row.getLoc(), value,
                                    row.splat(bound, sizeOf(value)));
  }
  Value times(Value lhs, Value rhs, StringRef name = "") {
    return arith::MulFOp::create(b, row.getLoc(name), lhs, rhs);
  }
  Value over(Value lhs, Value rhs, StringRef name = "") {
    return arith::DivFOp::create(b, row.getLoc(name), lhs, rhs);
  }
  static int64_t sizeOf(Value value) {
    return cast<VectorType>(value.getType()).getNumElements();
  }

  QuantizeOp op;
  RowContext &row;
  OpBuilder &b;
  QuantizerAttr recipe;
  ArrayRef<ScaleAttr> levels;
  int64_t begin, count, group;
  float limit;
  bool isFP4;
};

} // namespace

Value QuantizeBuilder::buildAmax(Value x, int64_t per, bool keepNaN,
                                 StringRef name) {
  auto type = VectorType::get({count / per}, b.getF32Type());
  return row::ReduceOp::create(
      b, row.getLoc(name), type,
      keepNaN ? row::ReduceKind::MaxAbsNaN : row::ReduceKind::MaxAbs, x, per);
}

Value QuantizeBuilder::buildQuotient(Value amax, float max) {
  if (recipe.getLimit() == Quotient::Divide)
    return over(amax, row.splat(max, sizeOf(amax)));
  return times(amax, row.splat(1.0f / max, sizeOf(amax)));
}

Value QuantizeBuilder::buildOuter(Value x) {
  if (levels.size() == 1)
    return {};
  if (op.getGiven())
    return buildGiven();
  Value amax = buildAmax(x, count, /*keepNaN=*/false, "row_amax");
  return atLeast(buildQuotient(amax, limit * 448.0f), FLT_MIN);
}

Value QuantizeBuilder::buildGiven() {
  StoredVector stored = locateRow(row, op.getGiven(), 0, 1, "outer");
  stored.offset = row.constant(0);
  // NaN becomes the minimum, too.
  Value given = atLeast(buildRead(row, stored), FLT_MIN);
  return arith::MinNumFOp::create(b, row.getLoc(), given,
                                  row.splat(FLT_MAX, sizeOf(given)));
}

Value QuantizeBuilder::buildScaled(Value x) {
  Value given = buildGiven();
  if (!op.getInverse())
    return buildPayload(x, given);
  return encode(times(row.toF32(x), row.repeat(given, count)),
                /*tiesDown=*/false, /*dropNegativeZero=*/false);
}

Value QuantizeBuilder::buildScale(Value amax, Value outer) {
  float floor = recipe.getFloor().getValue().convertToFloat();
  bool ofAmax = floor > 0 && recipe.getFloorOf() == FloorKind::Amax;
  Value scale = buildQuotient(ofAmax ? atLeast(amax, floor) : amax, limit);
  if (floor > 0 && recipe.getFloorOf() == FloorKind::Scale)
    scale = atLeast(scale, floor);
  if (outer)
    scale = over(scale, row.repeat(outer, groups()));
  // The smallest scale, unless the recipe's floor is not below it.
  Type scaleType = levels[0].getElement();
  float min = scaleType.isF32()                  ? FLT_MIN
              : isa<Float8E4M3FNType>(scaleType) ? 0x1p-9f
                                                 : 0.0f;
  bool bounded = !outer && recipe.getFloorOf() == FloorKind::Scale;
  if (min > 0 && !(bounded && floor >= min))
    scale = atLeast(scale, min);
  return withNaN(scale, amax);
}

Value QuantizeBuilder::withNaN(Value scale, Value amax) {
  // An amax is finite or NaN: times zero it is zero or NaN.
  if (!isFP4)
    return scale;
  return arith::AddFOp::create(b, row.getLoc(), scale,
                               times(amax, row.splat(0, sizeOf(amax))));
}

std::pair<Value, Value> QuantizeBuilder::buildScales(Value scale) {
  Type scaleType = levels[0].getElement();
  bool pow2 = recipe.getRounding() == ScaleRounding::UpPow2;
  if (scaleType.isF32() && !pow2)
    return {scale, scale};
  Type coded = pow2 ? Type(Float8E8M0FNUType::get(b.getContext())) : scaleType;
  Value codes = row::EncodeOp::create(
      b, row.getLoc("scales"), VectorType::get({groups()}, coded), scale,
      /*up=*/recipe.getRounding() != ScaleRounding::Nearest,
      /*ties_down=*/false, /*drop_negative_zero=*/false);
  Value value = row.toF32(codes);
  return {scaleType.isF32() ? value : codes, value};
}

Value QuantizeBuilder::buildPayload(Value x, Value scale) {
  Value scaled;
  if (recipe.getPayload() == Quotient::Reciprocal) {
    Value inverse = over(row.splat(1, groups()), scale, "inverse_scale");
    scaled = times(row.toF32(x), row.repeat(inverse, group));
  } else {
    scaled = over(row.toF32(x), row.repeat(scale, group));
  }
  return encode(scaled, recipe.getTies() == Ties::Down,
                recipe.getDropNegativeZero());
}

Value QuantizeBuilder::encode(Value scaled, bool tiesDown,
                              bool dropNegativeZero) {
  return row::EncodeOp::create(
      b, row.getLoc("payload"),
      VectorType::get({count}, op.getFormat().getElement()), scaled,
      /*up=*/false, tiesDown, dropNegativeZero);
}

SmallVector<RowValue> QuantizeBuilder::build() {
  Value x = row.takeRow(op.getX(), begin, count, "x");
  if (levels.empty())
    return {{encode(row.toF32(x), /*tiesDown=*/false,
                    /*dropNegativeZero=*/false)}};
  if (op.hasGivenScaleAlone())
    return {{buildScaled(x)}};
  Value outer = buildOuter(x);
  Value amax = buildAmax(x, group, /*keepNaN=*/isFP4, "amax");
  auto [scales, values] = buildScales(buildScale(amax, outer));
  Value scale = values;
  if (outer)
    scale = withNaN(
        atLeast(times(values, row.repeat(outer, groups())), FLT_MIN), amax);
  SmallVector<RowValue> results = {{buildPayload(x, scale)}, {scales}};
  if (outer && !op.getGiven())
    results.push_back({outer});
  return results;
}

namespace {
struct QuantizeLowering
    : RowLoweringInterface::ExternalModel<QuantizeLowering, QuantizeOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    return QuantizeBuilder(cast<QuantizeOp>(op), row).build();
  }
};
} // namespace

void dsv4::attachQuantizeLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    QuantizeOp::attachInterface<QuantizeLowering>(*context);
  });
}
