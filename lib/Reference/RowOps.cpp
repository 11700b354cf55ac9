//===- RowOps.cpp - rms_norm, rope, hadamard ------------------------------===//
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
static void copyElement(const Elements &from, const Elements &to, int64_t at) {
  if (from.format == to.format)
    to.setCode(at, from.code(at));
  else
    to.round(at, from.f32(at));
}

rt::Status Interpreter::rotate(RopeOp op) {
  const Tensor x = values.at(op.getX());
  const Tensor table = values.at(op.getTable());
  ArrayRef<int64_t> shape = x.shape;
  const std::tuple<StringRef, Value, ArrayRef<int64_t>> operands[] = {
      {"outs", op.getOut(), shape},
      {"positions", op.getPositions(), shape.drop_back()}};
  for (auto [name, value, expected] : operands)
    if (rt::Status status = checkShape(op, name, value, expected); !status)
      return status;

  const Tensor positions = values.at(op.getPositions());
  int64_t extent = shape.back(), count = table.shape.front(),
          rotated = table.shape.back();
  Elements in = x.elements(), angles = table.elements();
  Elements out = makeResult(op.getRows(), shape).elements();
  for (int64_t row = 0; row < x.rows(); ++row) {
    int64_t position = positions.index(row), end = (row + 1) * extent;
    bool inTable = position >= 0 && position < count;
    int64_t pairs = inTable ? end - rotated : end;
    for (int64_t at = row * extent; at < pairs; ++at)
      copyElement(in, out, at);
    for (int64_t at = pairs, j = 0; at < end; at += 2, ++j) {
      float a = in.f32(at), b = in.f32(at + 1);
      float c = angles.f32(position * rotated + j);
      float s = angles.f32(position * rotated + rotated / 2 + j);
      if (op.getInverse())
        s = -s;
      out.round(at, subF32(mulF32(a, c), mulF32(b, s)));
      out.round(at + 1, addF32(mulF32(a, s), mulF32(b, c)));
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
