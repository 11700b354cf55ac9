//===- Quantize.cpp - Values to payload and scales ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

static constexpr float kLargestF32 = std::numeric_limits<float>::max();
static constexpr float kSmallestNormalF32 = std::numeric_limits<float>::min();

//===----------------------------------------------------------------------===//
// One group
//===----------------------------------------------------------------------===//

static float getLargest(Format format) {
  return float(decode(format, largestFinite(format)));
}

/// value / divisor, or value * fp32(1 / divisor).
static float quotient(Quotient kind, float value, float divisor) {
  return kind == Quotient::Divide ? divF32(value, divisor)
                                  : mulF32(value, divF32(1, divisor));
}

/// The largest magnitude of `count` elements; see QuantizerAttr.
static float findAmax(const Elements &x, int64_t begin, int64_t count) {
  float amax = 0;
  for (int64_t i = begin; i < begin + count; ++i) {
    float magnitude = std::fabs(x.f32(i));
    if (std::isinf(magnitude))
      magnitude = getLargest(x.format);
    if (magnitude > amax) // Not so for a NaN.
      amax = magnitude;
  }
  return amax;
}

/// The next power of two that is not smaller, or the largest finite one of fp32
/// and E8M0.
static double ceilPowerOfTwo(double value) {
  if (value > 0x1p127)
    return 0x1p127;
  int exponent;
  double fraction = std::frexp(value, &exponent); // In [0.5, 1).
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

/// The code of a scale: positive and finite, unless `scale` is NaN.
static uint32_t encodeScale(Format format, ScaleRounding rounding,
                            float scale) {
  if (std::isnan(scale))
    return encode(format, scale);
  uint32_t smallest = format == Format::F32      ? 0x00800000
                      : format == Format::E4M3FN ? 1
                                                 : 0;
  double value = std::max(double(scale), decode(format, smallest));
  if (rounding == ScaleRounding::UpPow2)
    value = ceilPowerOfTwo(value);
  if (std::isinf(value))
    return largestFinite(format);
  uint32_t code = encode(format, value,
                         rounding == ScaleRounding::Up ? Rounding::Up
                                                       : Rounding::NearestEven);
  return std::min(code, largestFinite(format));
}

namespace {

/// Clamps an outer scale to positive and finite numbers; NaN becomes the
/// smallest of these.
float boundOuter(float outer) {
  return std::min(std::fmax(outer, kSmallestNormalF32), kLargestF32);
}

/// What all groups of an op share.
struct Quantizer {
  QuantizerAttr recipe;
  Elements x, codes, scales;

  float max() const { return getLargest(codes.format); }
  float makeScale(float amax) const;
  float makeOuter(float amax) const;
  void quantizeGroup(int64_t from, int64_t to, int64_t count, int64_t group,
                     std::optional<float> outer) const;
  void storeCode(int64_t at, float value) const;
};

} // namespace

float Quantizer::makeScale(float amax) const {
  float floor = recipe.getFloor().getValue().convertToFloat();
  if (recipe.getFloorOf() == FloorKind::Amax)
    amax = std::max(amax, floor);
  float scale = quotient(recipe.getLimit(), amax, max());
  if (recipe.getFloorOf() == FloorKind::Scale)
    scale = std::max(scale, floor);
  return scale;
}

/// The scale of a row before those of its groups.
float Quantizer::makeOuter(float amax) const {
  float divisor = mulF32(max(), getLargest(scales.format));
  if (std::isinf(divisor))
    divisor = kLargestF32;
  return boundOuter(quotient(recipe.getLimit(), amax, divisor));
}

void Quantizer::storeCode(int64_t at, float value) const {
  Rounding rounding = recipe.getTies() == Ties::Down ? Rounding::NearestDown
                                                     : Rounding::NearestEven;
  uint32_t code = encode(codes.format, value, rounding);
  if (recipe.getDropNegativeZero() && code == 0x8)
    code = 0;
  codes.setCode(at, code);
}

/// `count` elements of x, the first at `from`, become codes, the first at `to`,
/// and scale `group`.
void Quantizer::quantizeGroup(int64_t from, int64_t to, int64_t count,
                              int64_t group, std::optional<float> outer) const {
  bool hasNaN = false;
  for (int64_t i = 0; i < count; ++i)
    hasNaN |= std::isnan(x.value(from + i));
  if (hasNaN && codes.format == Format::E2M1) {
    scales.round(group, std::numeric_limits<float>::quiet_NaN());
    for (int64_t i = 0; i < count; ++i)
      codes.setCode(to + i, largestFinite(codes.format));
    return;
  }
  float scale = makeScale(findAmax(x, from, count));
  if (outer)
    scale = divF32(scale, *outer);
  scales.setCode(group,
                 encodeScale(scales.format, recipe.getRounding(), scale));
  float s = scales.f32(group);
  if (outer)
    s = std::max(mulF32(s, *outer), kSmallestNormalF32);
  for (int64_t i = 0; i < count; ++i)
    storeCode(to + i, quotient(recipe.getPayload(), x.f32(from + i), s));
}

//===----------------------------------------------------------------------===//
// Layouts of scales
//===----------------------------------------------------------------------===//

std::optional<int64_t> reference::findScale(ScaleLayout layout,
                                            ArrayRef<int64_t> shape,
                                            int64_t groups, int64_t row,
                                            int64_t group) {
  int64_t words = (groups + 3) / 4;
  switch (layout) {
  case ScaleLayout::RowMajor:
    return row * groups + group;
  case ScaleLayout::ColumnMajor:
    if (row >= shape[1])
      return std::nullopt;
    return group * shape[1] + row;
  case ScaleLayout::Packed:
    if (row >= shape[1])
      return std::nullopt;
    return (group / 4 * shape[1] + row) * 4 + group % 4;
  case ScaleLayout::Swizzle128x4:
    if (row / 128 * 128 + 128 > shape[0])
      return std::nullopt;
    return (row / 128 * words + group / 4) * 512 + row % 32 * 16 +
           row % 128 / 32 * 4 + group % 4;
  case ScaleLayout::Swizzle8x4:
    if (row / 8 * 8 + 8 > shape[0])
      return std::nullopt;
    return (row / 8 * words + group / 4) * 32 + row % 8 * 4 + group % 4;
  }
  llvm_unreachable("all layouts are above");
}

/// What `destination` holds becomes that with the scales, which are in the
/// order of rows, where the layout of `op` has them.
static void placeScales(QuantizeOp op, const Elements &scales, int64_t rows,
                        int64_t groups, Tensor &destination) {
  ScaleLayout layout = op.getScaleLayout();
  bool isColumnMajor = layout == ScaleLayout::ColumnMajor;
  Elements to = destination.elements();
  to.format = scales.format;
  int64_t all = isColumnMajor ? groups : (groups + 3) / 4 * 4;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t group = 0; group < all; ++group)
      if (auto at = findScale(layout, destination.shape, groups, row, group))
        to.setCode(*at, group < groups ? scales.code(row * groups + group) : 0);
}

//===----------------------------------------------------------------------===//
// All rows
//===----------------------------------------------------------------------===//

/// Rounds what `compute` makes of each value, without scales.
rt::Status Interpreter::roundRows(QuantizeOp op,
                                  llvm::function_ref<double(double)> compute) {
  const Tensor x = values.at(op.getX());
  auto [begin, count] = op.getColumnRange();
  SmallVector<int64_t> shape(ArrayRef<int64_t>(x.shape).drop_back());
  shape.push_back(count);
  if (rt::Status status = checkShape(op, "outs", op.getOuts()[0], shape);
      !status)
    return status;
  Elements from = x.elements();
  Elements to = makeResult(op.getResult(0), shape).elements();
  for (int64_t row = 0; row < x.rows(); ++row)
    for (int64_t i = 0; i < count; ++i)
      to.setCode(row * count + i,
                 encode(to.format,
                        compute(from.value(row * x.shape.back() + begin + i)),
                        Rounding::NearestEven));
  return {};
}

/// A format without scales: every value is rounded by itself.
rt::Status Interpreter::castRows(QuantizeOp op) {
  return roundRows(op, [](double value) { return value; });
}

/// A format whose only scale is given.
rt::Status Interpreter::scaleByGiven(QuantizeOp op) {
  if (rt::Status status = checkShape(op, "given", op.getGiven(), {1}); !status)
    return status;
  float given = boundOuter(values.at(op.getGiven()).elements().f32(0));
  Quotient kind = op.getRecipe()->getPayload();
  return roundRows(op, [&](double value) -> double {
    return op.getInverse() ? mulF32(float(value), given)
                           : quotient(kind, float(value), given);
  });
}

rt::Status Interpreter::quantize(QuantizeOp op) {
  if (!op.getRecipe())
    return castRows(op);
  if (op.hasGivenScaleAlone())
    return scaleByGiven(op);
  const Tensor x = values.at(op.getX());
  auto [begin, count] = op.getColumnRange();
  ArrayRef<ScaleAttr> levels = op.getFormat().getScales();
  // A group per row is one group.
  int64_t group = levels[0].getGroup() > 0 ? levels[0].getGroup() : count;

  SmallVector<int64_t> rowShape(ArrayRef<int64_t>(x.shape).drop_back());
  SmallVector<SmallVector<int64_t>> shapes(3, rowShape);
  shapes[0].push_back(count);
  if (levels[0].getGroup() > 0)
    shapes[1].push_back(count / group);
  for (auto [i, out] : llvm::enumerate(op.getOuts()))
    if (op.getResultLayout(i) == ScaleLayout::RowMajor)
      if (rt::Status status = checkShape(op, "outs", out, shapes[i]); !status)
        return status;
  if (op.getGiven())
    if (rt::Status status = checkShape(op, "given", op.getGiven(), {1});
        !status)
      return status;

  SmallVector<Elements> outs;
  for (auto [shape, result] : llvm::zip(shapes, op.getResults()))
    outs.push_back(
        makeResult(result, shape)
            .elements(outs.empty() && op.getFormat().getHighFirst()));
  // Scales in another layout are placed when all are known.
  bool isPlaced = op.getScaleLayout() != ScaleLayout::RowMajor;
  Tensor ordered{levels[0].getElement(), shapes[1]};
  if (isPlaced) {
    ordered.owned = std::make_shared<std::vector<char>>(ordered.bytes());
    ordered.data = ordered.owned->data();
    outs[1] = ordered.elements();
  }
  Quantizer quantizer{*op.getRecipe(), x.elements(), outs[0], outs[1]};
  for (int64_t row = 0; row < x.rows(); ++row) {
    int64_t from = row * x.shape.back() + begin;
    std::optional<float> outer;
    if (op.getGiven()) {
      outer = boundOuter(values.at(op.getGiven()).elements().f32(0));
    } else if (levels.size() == 2) {
      outer = quantizer.makeOuter(findAmax(quantizer.x, from, count));
      outs[2].round(row, *outer);
    }
    for (int64_t i = 0; i < count; i += group)
      quantizer.quantizeGroup(from + i, row * count + i, group,
                              (row * count + i) / group, outer);
  }
  if (!isPlaced)
    return {};
  auto given = values.find(op.getOuts()[1]);
  if (given == values.end())
    return invalid("dsv4.quantize: scales in another layout than row_major "
                   "need an argument as their destination");
  const Tensor before = given->second;
  Tensor &scales = makeResult(op.getResult(1), before.shape);
  std::memcpy(scales.data, before.data, scales.bytes());
  placeScales(op, outs[1], x.rows(), count / group, scales);
  return {};
}
