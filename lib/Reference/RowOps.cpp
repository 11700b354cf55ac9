//===- RowOps.cpp - Ops that compute rows from rows ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

float dsv4::reference::sumTree(SmallVector<float> level) {
  while (level.size() > 1) {
    SmallVector<float> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(addF32(level[i], level[i + 1]));
    if (level.size() % 2 != 0)
      next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

rt::Status Interpreter::normalize(RMSNormOp op) {
  const Tensor x = values.at(op.getX());
  if (rt::Status status = checkShape(op, "outs", op.getOut(), x.shape); !status)
    return status;
  int64_t extent = x.shape.back();
  std::optional<Elements> weight;
  if (op.getWeight()) {
    if (rt::Status status = checkShape(op, "weight", op.getWeight(), extent);
        !status)
      return status;
    weight = values.at(op.getWeight()).elements();
  }
  float eps = op.getEps().convertToFloat();
  Elements in = x.elements();
  Elements out = makeResult(op.getRows(), x.shape).elements();
  for (int64_t begin = 0; begin < x.size(); begin += extent) {
    SmallVector<float> squares;
    for (int64_t i = begin; i < begin + extent; ++i)
      squares.push_back(mulF32(in.f32(i), in.f32(i)));
    float mean = divF32(sumTree(std::move(squares)), float(extent));
    float r = divF32(1, sqrtF32(addF32(mean, eps)));
    for (int64_t e = 0; e < extent; ++e) {
      float y = mulF32(in.f32(begin + e), r);
      out.round(begin + e, weight ? mulF32(y, weight->f32(e)) : y);
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

/// Bit by bit where the formats agree.
static void copyElement(const Elements &from, int64_t at, const Elements &to,
                        int64_t target) {
  if (from.format == to.format)
    to.setCode(target, from.code(at));
  else
    to.round(target, from.f32(at));
}

/// The number of `positions` for row `row` of `x`: of its leading axes.
static int32_t loadPosition(const Tensor &positions, const Tensor &x,
                            int64_t row) {
  return positions.index(row / (x.rows() / positions.size()));
}

/// 'positions' has leading axes of 'x'.
static ArrayRef<int64_t> getPositionShape(ArrayRef<int64_t> x,
                                          Value positions) {
  return x.take_front(cast<ShapedType>(positions.getType()).getRank());
}

/// Cosine and sine of pair `pair` at a position of the table.
static std::pair<float, float> getAngle(RopeOp op, const Elements &table,
                                        int64_t position, int64_t width,
                                        int64_t pair) {
  int64_t begin = position * width;
  if (op.getInterleaved())
    return {table.f32(begin + 2 * pair), table.f32(begin + 2 * pair + 1)};
  return {table.f32(begin + pair), table.f32(begin + width / 2 + pair)};
}

rt::Status Interpreter::rotate(RopeOp op) {
  const Tensor x = values.at(op.getX());
  const Tensor table = values.at(op.getTable());
  ArrayRef<int64_t> shape = x.shape;
  const std::tuple<StringRef, Value, ArrayRef<int64_t>> operands[] = {
      {"outs", op.getOut(), shape},
      {"positions", op.getPositions(),
       getPositionShape(shape, op.getPositions())}};
  for (auto [name, value, expected] : operands)
    if (rt::Status status = checkShape(op, name, value, expected); !status)
      return status;

  const Tensor positions = values.at(op.getPositions());
  int64_t extent = shape.back(), count = table.shape.front(),
          rotated = table.shape.back();
  // Elements of a pair, and of the first ones of two neighbouring pairs.
  int64_t partner = op.getNeox() ? rotated / 2 : 1;
  int64_t next = op.getNeox() ? 1 : 2;
  Elements in = x.elements(), angles = table.elements();
  Elements out = makeResult(op.getRows(), shape).elements();
  for (int64_t row = 0; row < x.rows(); ++row) {
    int64_t position = loadPosition(positions, x, row);
    int64_t end = (row + 1) * extent;
    bool inTable = position >= 0 && position < count;
    int64_t pairs = inTable ? end - rotated : end;
    for (int64_t at = row * extent; at < pairs; ++at)
      copyElement(in, at, out, at);
    for (int64_t j = 0; inTable && j < rotated / 2; ++j) {
      int64_t first = pairs + j * next, second = first + partner;
      float a = in.f32(first), b = in.f32(second);
      auto [c, s] = getAngle(op, angles, position, rotated, j);
      if (op.getInverse())
        s = -s;
      out.round(first, subF32(mulF32(a, c), mulF32(b, s)));
      out.round(second, addF32(mulF32(a, s), mulF32(b, c)));
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// hadamard
//===----------------------------------------------------------------------===//

rt::Status Interpreter::transform(HadamardOp op) {
  const Tensor x = values.at(op.getX());
  if (rt::Status status = checkShape(op, "outs", op.getOut(), x.shape); !status)
    return status;
  int64_t extent = x.shape.back();
  float scale = op.getScale().convertToFloat();
  Elements in = x.elements();
  Elements out = makeResult(op.getRows(), x.shape).elements();
  SmallVector<float> row(extent);
  for (int64_t begin = 0; begin < x.size(); begin += extent) {
    for (int64_t i = 0; i < extent; ++i)
      row[i] = in.f32(begin + i);
    for (int64_t h = 1; h < extent; h *= 2)
      for (int64_t i = 0; i < extent; ++i)
        if ((i & h) == 0) {
          float a = row[i], b = row[i + h];
          row[i] = addF32(a, b);
          row[i + h] = subF32(a, b);
        }
    for (int64_t i = 0; i < extent; ++i)
      out.round(begin + i, mulF32(row[i], scale));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// pad_rows, concat_rows, add_rows, scale_weights
//===----------------------------------------------------------------------===//

rt::Status Interpreter::padRows(PadRowsOp op) {
  const Tensor x = values.at(op.getX());
  size_t axis = x.shape.size() - 2;
  SmallVector<int64_t> shape = x.shape;
  shape[axis] = cast<ShapedType>(op.getOut().getType()).getDimSize(axis);
  if (rt::Status status = checkShape(op, "outs", op.getOut(), shape); !status)
    return status;
  int64_t given = x.shape[axis], extent = x.shape.back();
  Elements in = x.elements();
  const Tensor &result = makeResult(op.getRows(), shape);
  Elements out = result.elements();
  // What is not copied is zero from the start.
  for (int64_t row = 0; row < result.rows(); ++row) {
    int64_t outer = row / shape[axis], head = row % shape[axis];
    for (int64_t e = 0; head < given && e < extent; ++e)
      out.setCode(row * extent + e,
                  in.code((outer * given + head) * extent + e));
  }
  return {};
}

rt::Status Interpreter::concatRows(ConcatRowsOp op) {
  const Tensor x = values.at(op.getX()), y = values.at(op.getY());
  SmallVector<int64_t> shape = x.shape;
  shape.back() = y.shape.back();
  if (rt::Status status = checkShape(op, "y", op.getY(), shape); !status)
    return status;
  int64_t left = x.shape.back(), columns = left + y.shape.back();
  shape.back() = columns;
  if (rt::Status status = checkShape(op, "outs", op.getOut(), shape); !status)
    return status;
  const Tensor &result = makeResult(op.getRows(), shape);
  Elements first = x.elements(), second = y.elements();
  Elements out = result.elements();
  for (int64_t row = 0; row < result.rows(); ++row)
    for (int64_t e = 0; e < columns; ++e)
      out.setCode(row * columns + e,
                  e < left ? first.code(row * left + e)
                           : second.code(row * (columns - left) + e - left));
  return {};
}

rt::Status Interpreter::addRows(AddRowsOp op) {
  const Tensor x = values.at(op.getX());
  const Tensor bias = values.at(op.getBias());
  auto [begin, count] = op.getColumnRange();
  SmallVector<int64_t> shape = x.shape;
  shape.back() = count;
  const std::tuple<StringRef, Value, ArrayRef<int64_t>> operands[] = {
      {"outs", op.getOut(), shape},
      {"positions", op.getPositions(),
       getPositionShape(x.shape, op.getPositions())}};
  for (auto [name, value, expected] : operands)
    if (rt::Status status = checkShape(op, name, value, expected); !status)
      return status;
  const Tensor positions = values.at(op.getPositions());
  Elements in = x.elements(), added = bias.elements();
  Elements out = makeResult(op.getRows(), shape).elements();
  for (int64_t row = 0; row < x.rows(); ++row) {
    int64_t position = loadPosition(positions, x, row);
    for (int64_t e = 0; e < count; ++e) {
      int64_t from = row * x.shape.back() + begin + e, to = row * count + e;
      if (position < 0)
        copyElement(in, from, out, to);
      else
        out.round(to, addF32(in.f32(from),
                             added.f32(position % bias.shape[0] * count + e)));
    }
  }
  return {};
}

rt::Status Interpreter::scaleWeights(ScaleWeightsOp op) {
  const Tensor weights = values.at(op.getWeights());
  if (rt::Status status = checkShape(op, "outs", op.getOut(), weights.shape);
      !status)
    return status;
  std::optional<Elements> scales;
  if (op.getScales()) {
    if (rt::Status status =
            checkShape(op, "scales", op.getScales(), weights.shape);
        !status)
      return status;
    scales = values.at(op.getScales()).elements();
  }
  Elements in = weights.elements();
  Elements out = makeResult(op.getProducts(), weights.shape).elements();
  for (int64_t i = 0; i < weights.size(); ++i) {
    float y = in.f32(i);
    if (scales)
      y = mulF32(y, scales->f32(i));
    for (float constant : op.getConstants().value_or(ArrayRef<float>()))
      y = mulF32(y, constant);
    out.round(i, y);
  }
  return {};
}
