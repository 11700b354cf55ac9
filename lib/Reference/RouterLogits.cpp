//===- RouterLogits.cpp - router_logits -----------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"
#include "Units.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

namespace {

/// A hidden row, or the weights of an expert.
struct MatrixRow {
  std::vector<double> values;
  int unit = kNoUnit;   ///< The lowest bit of all of them.
  double magnitude = 0; ///< Of those that are finite.
  bool isFinite = true, hasInfinity = false;
};

/// A sum of products, and the sum of the magnitudes of those that are finite.
struct Sum {
  double exact = 0, terms = 0;
};

} // namespace

/// Rows of `extent` elements.
static std::vector<MatrixRow> readMatrix(const Tensor &tensor, int64_t extent) {
  std::vector<MatrixRow> all(tensor.shape[0]);
  Elements elements = tensor.elements();
  for (int64_t at = 0; at < tensor.size(); ++at) {
    MatrixRow &row = all[at / extent];
    double value = elements.value(at);
    row.values.push_back(value);
    row.unit = std::min(row.unit, getUnit(value));
    row.isFinite &= std::isfinite(value);
    row.hasInfinity |= std::isinf(value);
    if (std::isfinite(value))
      row.magnitude += std::fabs(value);
  }
  return all;
}

static Sum multiply(const MatrixRow &row, const MatrixRow &expert) {
  Sum sum;
  for (size_t i = 0; i < row.values.size(); ++i) {
    double term = row.values[i] * expert.values[i];
    sum.exact += term;
    sum.terms += std::isfinite(term) ? std::fabs(term) : 0;
  }
  return sum;
}

/// The largest allowed distance from the exact logit.
static double getBound(RouterLogitsOp op, const MatrixRow &row,
                       const MatrixRow &expert, const Sum &sum) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(sum.exact))
    return 0;
  // Parts of a weight may be zeros.
  if (op.hasWideWeights() && row.hasInfinity)
    return infinity;
  if (sum.terms >= std::numeric_limits<float>::max() / 4)
    return infinity;
  if (!row.isFinite || !expert.isFinite)
    return 0;
  double unit = std::ldexp(1.0, row.unit + expert.unit);
  if (sum.terms == 0 || sum.terms <= RouterLogitsOp::kMaxExactTerms * unit)
    return std::fabs(double(float(sum.exact)) - sum.exact);
  double bound = RouterLogitsOp::kTermBound * sum.terms +
                 double(op.getDepth()) * RouterLogitsOp::kSmallProduct;
  return op.hasWideWeights()
             ? bound + RouterLogitsOp::kSmallWeight * row.magnitude
             : bound;
}

rt::Status Interpreter::multiplyRows(RouterLogitsOp op) {
  const Tensor &hidden = values.at(op.getHidden());
  const Tensor &weights = values.at(op.getWeights());
  int64_t rows = hidden.shape[0], experts = op.getExperts();
  int64_t depth = op.getDepth();
  SmallVector<int64_t> shape = {rows, experts};
  if (rt::Status status = checkShape(op, "outs", op.getOut(), shape); !status)
    return status;
  std::vector<MatrixRow> hiddenRows = readMatrix(hidden, depth);
  std::vector<MatrixRow> weightRows = readMatrix(weights, depth);
  auto bounds = std::make_shared<std::vector<BoundedValue>>(rows * experts);
  Elements to = makeResult(op.getLogits(), shape).elements();
  for (int64_t at = 0; at < rows * experts; ++at) {
    const MatrixRow &row = hiddenRows[at / experts],
                    &expert = weightRows[at % experts];
    Sum sum = multiply(row, expert);
    to.round(at, float(sum.exact));
    (*bounds)[at] = {sum.exact, getBound(op, row, expert, sum)};
  }
  knowledge[op.getLogits()].bounds = bounds;
  return {};
}
