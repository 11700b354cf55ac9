//===- Router.cpp - Scores and weights of experts -------------------------===//
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

//===----------------------------------------------------------------------===//
// Functions of logits
//===----------------------------------------------------------------------===//

/// ln(1 + y) / y by the polynomial that docs/Router.md has.
static float log1pQuotient(float y) {
  const float coefficients[] = {-0x1.a04acap-9f, 0x1.402f4cp-6f,
                                -0x1.cdd008p-5f, 0x1.afdde8p-4f,
                                -0x1.38b908p-3f, 0x1.92b43p-3f,
                                -0x1.ff0254p-3f, 0x1.554bd6p-2f,
                                -0x1.ffffb8p-2f, 1.0f};
  float sum = 0;
  for (float coefficient : coefficients)
    sum = std::fmaf(sum, y, coefficient);
  return sum;
}

float dsv4::reference::sqrtSoftplusF32(float x) {
  if (std::isnan(x))
    return std::numeric_limits<float>::quiet_NaN();
  float h = expF32(-std::fabs(x) / 2);
  float y = mulF32(h, h);
  float quotient = log1pQuotient(y);
  return x < 0 ? mulF32(h, sqrtF32(quotient))
               : sqrtF32(std::fmaf(y, quotient, x));
}

float dsv4::reference::sigmoidF32(float x) {
  if (std::isnan(x))
    return std::numeric_limits<float>::quiet_NaN();
  float y = expF32(-std::fabs(x));
  return divF32(x < 0 ? y : 1, addF32(1, y));
}

static SmallVector<float> softmax(ArrayRef<float> logits) {
  float max = logits.front();
  for (float logit : logits)
    max = std::isnan(max) || std::isnan(logit)
              ? std::numeric_limits<float>::quiet_NaN()
              : std::max(max, logit);
  SmallVector<float> powers;
  for (float logit : logits)
    powers.push_back(expF32(subF32(logit, max)));
  float sum = sumTree(powers);
  for (float &power : powers)
    power = divF32(power, sum);
  return powers;
}

rt::Status Interpreter::score(GateOp op) {
  const Tensor logits = values.at(op.getLogits());
  if (rt::Status status = checkShape(op, "outs", op.getOut(), logits.shape);
      !status)
    return status;
  Elements from = logits.elements();
  Elements to = makeResult(op.getScores(), logits.shape).elements();
  int64_t extent = logits.shape.back();
  for (int64_t begin = 0; begin < logits.size(); begin += extent) {
    SmallVector<float> row;
    for (int64_t i = 0; i < extent; ++i)
      row.push_back(from.f32(begin + i));
    switch (op.getFunction()) {
    case GateFunction::SqrtSoftplus:
      llvm::transform(row, row.begin(), sqrtSoftplusF32);
      break;
    case GateFunction::Sigmoid:
      llvm::transform(row, row.begin(), sigmoidF32);
      break;
    case GateFunction::Softmax:
      row = softmax(row);
      break;
    }
    for (int64_t i = 0; i < extent; ++i)
      to.round(begin + i, row[i]);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// lookup, map_indices, route_weights
//===----------------------------------------------------------------------===//

bool Interpreter::countsRow(Value validRows, Value padding, int64_t row) const {
  if (validRows && row >= values.at(validRows).length(0))
    return false;
  return !padding || values.at(padding).data[row] == 0;
}

void Interpreter::numberTokenExperts(Value result, ArrayRef<int64_t> shape) {
  Tensor &to = makeResult(result, shape);
  uint64_t columns = shape.back(), rows = to.size() / columns;
  for (uint64_t at = 0; at < rows * columns; ++at) {
    uint32_t number = uint32_t(at % columns * rows + at / columns);
    to.setIndex(at, static_cast<int32_t>(number));
  }
}

rt::Status Interpreter::lookUp(LookupOp op) {
  const Tensor table = values.at(op.getTable());
  const Tensor ids = values.at(op.getIds());
  int64_t k = table.shape.back(), columns = k + op.getSharedCount();
  SmallVector<int64_t> shape = {ids.shape.front(), columns};
  for (Value out : op.getOuts())
    if (rt::Status status = checkShape(op, "outs", out, shape); !status)
      return status;
  if (op.getPadding())
    if (rt::Status status =
            checkShape(op, "padding", op.getPadding(), ids.shape);
        !status)
      return status;
  Tensor &found = makeResult(op.getRows(), shape);
  for (int64_t row = 0; row < ids.size(); ++row)
    for (int64_t i = 0; i < columns; ++i) {
      int64_t id = ids.index(row);
      bool isRow = id >= 0 && id < table.shape.front() &&
                   countsRow(op.getValidRows(), op.getPadding(), row);
      int32_t entry = -1;
      if (isRow)
        entry = i < k ? table.index(id * k + i)
                      : int32_t(int64_t(*op.getExperts()) + i - k);
      found.setIndex(row * columns + i, entry);
    }
  if (op.getTokenExperts())
    numberTokenExperts(op.getFound().back(), shape);
  return {};
}

rt::Status Interpreter::mapIndices(MapIndicesOp op) {
  const Tensor indices = values.at(op.getIndices());
  ArrayRef<int64_t> shape = indices.shape;
  if (rt::Status status = checkShape(op, "outs", op.getOut(), shape); !status)
    return status;
  if (op.getPadding())
    if (rt::Status status =
            checkShape(op, "padding", op.getPadding(), shape.drop_back());
        !status)
      return status;
  Tensor &mapped = makeResult(op.getMapped(), shape);
  for (int64_t at = 0; at < indices.size(); ++at) {
    int32_t index = indices.index(at);
    if (!countsRow(op.getValidRows(), op.getPadding(), at / shape.back())) {
      index = -1;
    } else if (op.getTable()) {
      const Tensor table = values.at(op.getTable());
      bool isKnown = index >= 0 && index < table.size();
      index = isKnown ? table.index(index) : -1;
    }
    mapped.setIndex(at, index);
  }
  return {};
}

rt::Status Interpreter::weigh(RouteWeightsOp op) {
  const Tensor scores = values.at(op.getScores());
  const Tensor indices = values.at(op.getIndices());
  int64_t k = op.getK(), columns = op.getColumns();
  int64_t experts = scores.shape.back();
  SmallVector<int64_t> shape(scores.shape);
  shape.back() = columns;
  const std::pair<StringRef, Value> operands[] = {{"indices", op.getIndices()},
                                                  {"outs", op.getOut()}};
  for (auto [name, value] : operands)
    if (rt::Status status = checkShape(op, name, value, shape); !status)
      return status;
  Elements from = scores.elements();
  Elements to = makeResult(op.getWeights(), shape).elements();
  for (int64_t row = 0; row < scores.rows(); ++row) {
    SmallVector<float> weights;
    for (int64_t i = 0; i < columns; ++i) {
      int64_t index = indices.index(row * columns + i);
      float weight = op.getUniform() ? float(1.0 / k) : 0;
      if (i >= k || index < 0 || index >= experts)
        weight = 0;
      else if (!op.getUniform())
        weight = from.f32(row * experts + index);
      if (op.getNanZero() && std::isnan(weight))
        weight = 0;
      weights.push_back(weight);
    }
    float sum = sumTree(weights), least = std::numeric_limits<float>::min();
    float divisor = sum < least ? least : sum;
    for (auto [i, weight] : llvm::enumerate(weights)) {
      int64_t at = row * columns + i, index = indices.index(at);
      bool isShared = int64_t(i) >= k && index >= 0 &&
                      index < experts + op.getSharedCount();
      if (isShared && op.getOfSum())
        weight = mulF32(sum, op.getOfSum()->convertToFloat());
      if (op.getRenormalize())
        weight = divF32(weight, divisor);
      if (op.getScale())
        weight = mulF32(weight, op.getScale()->convertToFloat());
      // Columns of shared experts that are none have a weight of 0, not -0.
      if (int64_t(i) >= k && op.getWeight())
        weight = isShared ? op.getWeight()->convertToFloat() : 0;
      to.round(at, weight);
      // Nothing is computed: a NaN is the one that it was.
      if (int64_t(i) < k && !op.getRenormalize() && !op.getScale() &&
          !op.getUniform() && !op.getNanZero() && index >= 0 && index < experts)
        to.setCode(at, from.code(row * experts + index));
    }
  }
  return {};
}
