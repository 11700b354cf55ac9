//===- Quantize.cpp - Row program of dsv4.quantize ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of the rule (QuantizerAttr) in their order, on vectors of one value
// a group.
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
      : op(op), row(row), b(row.getBuilder()), rule(op.getRule()),
        levels(op.getFormat().getScales()) {
    std::tie(begin, count) = op.getColumnRange();
    isFP4 = isa<Float4E2M1FNType>(op.getFormat().getElement());
    limit = isFP4 ? 6.0f : 448.0f;
    group = levels[0].getGroup() > 0 ? levels[0].getGroup() : count;
  }

  SmallVector<RowValue> build();

private:
  Value buildAmax(Value x, int64_t per, bool keepNaN, StringRef name);
  /// amax / max, as the rule has it.
  Value buildQuotient(Value amax, float max);
  /// The outer factor of the row, computed or given; null without one.
  Value buildOuter(Value x);
  Value buildScale(Value amax, Value outer);
  /// A scale is NaN where the group of an element type without NaN has one.
  Value withNaN(Value scale, Value amax);
  /// The stored factors, and the same as f32.
  std::pair<Value, Value> buildFactors(Value scale);
  Value buildCodes(Value x, Value scale);

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
  QuantizerAttr rule;
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
  if (rule.getLimit() == Quotient::Divide)
    return over(amax, row.splat(max, sizeOf(amax)));
  return times(amax, row.splat(1.0f / max, sizeOf(amax)));
}

Value QuantizeBuilder::buildOuter(Value x) {
  if (levels.size() == 1)
    return {};
  if (op.getGiven()) {
    StoredVector stored = locateRow(row, op.getGiven(), 0, 1, "outer");
    stored.offset = row.constant(0);
    // NaN is the least, too.
    Value given = atLeast(buildRead(row, stored), FLT_MIN);
    return arith::MinNumFOp::create(b, row.getLoc(), given,
                                    row.splat(FLT_MAX, sizeOf(given)));
  }
  Value amax = buildAmax(x, count, /*keepNaN=*/false, "row_amax");
  return atLeast(buildQuotient(amax, limit * 448.0f), FLT_MIN);
}

Value QuantizeBuilder::buildScale(Value amax, Value outer) {
  float floor = rule.getFloor().getValue().convertToFloat();
  bool ofAmax = floor > 0 && rule.getFloorOf() == FloorKind::Amax;
  Value scale = buildQuotient(ofAmax ? atLeast(amax, floor) : amax, limit);
  if (floor > 0 && rule.getFloorOf() == FloorKind::Scale)
    scale = atLeast(scale, floor);
  if (outer)
    scale = over(scale, row.repeat(outer, groups()));
  // The smallest factor, unless the rule's floor is not below it.
  Type factor = levels[0].getElement();
  float least = factor.isF32()                  ? FLT_MIN
                : isa<Float8E4M3FNType>(factor) ? 0x1p-9f
                                                : 0.0f;
  bool bounded = !outer && rule.getFloorOf() == FloorKind::Scale;
  if (least > 0 && !(bounded && floor >= least))
    scale = atLeast(scale, least);
  return withNaN(scale, amax);
}

Value QuantizeBuilder::withNaN(Value scale, Value amax) {
  // An amax is finite or NaN: times zero it is zero or NaN.
  if (!isFP4)
    return scale;
  return arith::AddFOp::create(b, row.getLoc(), scale,
                               times(amax, row.splat(0, sizeOf(amax))));
}

std::pair<Value, Value> QuantizeBuilder::buildFactors(Value scale) {
  Type factor = levels[0].getElement();
  bool pow2 = rule.getRounding() == ScaleRounding::UpPow2;
  if (factor.isF32() && !pow2)
    return {scale, scale};
  Type coded = pow2 ? Type(Float8E8M0FNUType::get(b.getContext())) : factor;
  Value codes = row::EncodeOp::create(
      b, row.getLoc("factors"), VectorType::get({groups()}, coded), scale,
      /*up=*/rule.getRounding() != ScaleRounding::Nearest,
      /*ties_down=*/false, /*drop_negative_zero=*/false);
  Value value = row.toF32(codes);
  return {factor.isF32() ? value : codes, value};
}

Value QuantizeBuilder::buildCodes(Value x, Value scale) {
  Value scaled;
  if (rule.getPayload() == Quotient::Reciprocal) {
    Value inverse = over(row.splat(1, groups()), scale, "inverse_scale");
    scaled = times(row.toF32(x), row.repeat(inverse, group));
  } else {
    scaled = over(row.toF32(x), row.repeat(scale, group));
  }
  return row::EncodeOp::create(
      b, row.getLoc("codes"),
      VectorType::get({count}, op.getFormat().getElement()), scaled,
      /*up=*/false, rule.getTies() == Ties::Down, rule.getDropNegativeZero());
}

SmallVector<RowValue> QuantizeBuilder::build() {
  Value x = row.takeRow(op.getX(), begin, count, "x");
  Value outer = buildOuter(x);
  Value amax = buildAmax(x, group, /*keepNaN=*/isFP4, "amax");
  auto [factors, values] = buildFactors(buildScale(amax, outer));
  Value scale = values;
  if (outer)
    scale = withNaN(
        atLeast(times(values, row.repeat(outer, groups())), FLT_MIN), amax);
  SmallVector<RowValue> results = {{buildCodes(x, scale)}, {factors}};
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
