//===- IndexScore.cpp - index_score ---------------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"
#include "Units.h"

#include "dsv4/Dialect/RecordLayout.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

namespace {

/// Vectors, and the lowest bit of all their elements.
struct Vectors {
  std::vector<double> values;
  int unit = kNoUnit;
  double largest = 0; ///< That elements with these scales could have.

  void add(double value) {
    values.push_back(value);
    unit = std::min(unit, getUnit(value));
  }
};

/// A score, the sum of the magnitudes of its terms, and what that could be with
/// these scales.
struct Score {
  double exact = 0, terms = 0, possible = 0;
  /// Whether fp32 holds all that is summed.
  bool overflows = false;
  int unit = kNoUnit;
};

} // namespace

/// The score of `key`, but for the scale of a whole key.
static Score scoreKey(const Vectors &queries, const Vectors &weights,
                      const Vectors &key) {
  Score score;
  size_t dim = key.values.size();
  constexpr double kMax = std::numeric_limits<float>::max() / 4;
  for (size_t head = 0; head < weights.values.size(); ++head) {
    const double *query = &queries.values[head * dim];
    double product = 0, terms = 0;
    for (size_t d = 0; d < dim; ++d) {
      double term = query[d] * key.values[d];
      product += term;
      terms += std::fabs(term);
    }
    double weight = weights.values[head];
    score.exact += weight * (product < 0 ? 0 : product);
    score.terms += std::fabs(weight) * terms;
    score.possible +=
        std::fabs(weight) * double(dim) * queries.largest * key.largest;
    score.overflows |= terms >= kMax || std::fabs(weight) >= kMax;
  }
  score.overflows |= score.terms >= kMax;
  score.unit = queries.unit + weights.unit + key.unit;
  return score;
}

/// The largest allowed distance of a result of `format` from the exact score.
static double getBound(const Score &score, Format format) {
  if (std::isnan(score.exact))
    return 0;
  if (score.overflows || !std::isfinite(score.exact))
    return std::numeric_limits<double>::infinity();
  double unit = std::ldexp(1.0, score.unit);
  bool isExact = score.terms <= IndexScoreOp::kMaxExactTerms * unit &&
                 score.possible <= IndexScoreOp::kMaxExactScales * unit;
  double bound = isExact ? 0
                         : IndexScoreOp::kTermBound * score.terms +
                               IndexScoreOp::kScaleBound * score.possible;
  if (isExact)
    return std::fabs(decode(format, encode(format, float(score.exact))) -
                     score.exact);
  // What is below the smallest numbers of fp32 may be lost.
  bound += std::ldexp(1.0, -126);
  int bits = format == Format::BF16 ? 8 : format == Format::F16 ? 11 : 24;
  double smallest = format == Format::F16 ? std::ldexp(1.0, -24) : 0;
  return bound + std::ldexp(std::fabs(score.exact) + bound, -bits) + smallest;
}

//===----------------------------------------------------------------------===//
// Keys of rows
//===----------------------------------------------------------------------===//

/// The number that `lengths` give row `row`, before it is limited to a row.
static int64_t getLength(IndexScoreOp op, const Tensor &lengths, int64_t row) {
  int64_t ratio = op.getRatio().value_or(1);
  if (!op.getNextN()) {
    int64_t given = lengths.length(row);
    if (!op.getRatio())
      return given;
    return given < 0 ? 0 : (given + 1) / ratio;
  }
  int64_t rows = *op.getNextN(), request = row / rows;
  if (request >= lengths.size())
    return 0;
  int64_t after = rows - 1 - row % rows, given = lengths.length(request);
  return given <= after ? 0 : (given - after) / ratio;
}

Interpreter::Candidates Interpreter::findKeys(IndexScoreOp op, int64_t row,
                                              int64_t columns) const {
  int64_t start = op.getStarts() ? values.at(op.getStarts()).index(row) : 0;
  if (start < 0)
    return {0, 0};
  int64_t count = columns;
  if (op.getLengths())
    count = getLength(op, values.at(op.getLengths()), row);
  else if (op.getEnds())
    count = values.at(op.getEnds()).index(row) - start;
  count = std::clamp<int64_t>(count, 0, columns);
  int64_t keys =
      op.getKeys() ? values.at(op.getKeys()).shape[0] : int64_t(INT32_MAX);
  return {start, std::clamp<int64_t>(keys - start, 0, count)};
}

std::optional<Interpreter::Entry>
Interpreter::findEntry(IndexScoreOp op, int64_t row, int64_t key) const {
  auto cache = cast<BlockArgument>(op.getCache());
  int64_t pageSize = cast<CacheType>(cache.getType()).getPage();
  int64_t number = key / pageSize, request = row;
  if (op.getRequests())
    request = values.at(op.getRequests()).index(row);
  else if (op.getNextN())
    request = row / int64_t(*op.getNextN());
  const Tensor &table = values.at(op.getPageTable());
  int64_t at = 0, end = 0;
  if (op.getIndptr()) {
    const Tensor &indptr = values.at(op.getIndptr());
    if (request < 0 || request + 1 >= indptr.size() ||
        indptr.index(request) < 0)
      return std::nullopt;
    at = indptr.index(request) + number;
    end = std::min<int64_t>(indptr.index(request + 1), table.size());
  } else {
    if (request < 0 || request >= table.shape[0])
      return std::nullopt;
    at = request * table.shape[1] + number;
    end = (request + 1) * table.shape[1];
  }
  int64_t page = at < end ? table.index(at) : -1;
  if (page < 0 || page >= getPages(cache))
    return std::nullopt;
  return Entry{page, key % pageSize};
}

/// Elements [begin, begin + count) of `data`, times their scales.
static Vectors readVectors(const Elements &data, int64_t begin, int64_t count,
                           const Elements *scales, int64_t group) {
  Vectors vectors;
  vectors.values.reserve(count);
  constexpr double kMaxFP4 = 6;
  for (int64_t i = begin; i < begin + count; ++i) {
    double scale = scales ? scales->value(i / group) : 1;
    vectors.add(data.value(i) * scale);
    double largest = std::fabs(scales ? kMaxFP4 * scale : data.value(i));
    vectors.largest = std::max(vectors.largest, largest);
  }
  return vectors;
}

//===----------------------------------------------------------------------===//
// index_score
//===----------------------------------------------------------------------===//

rt::Status Interpreter::checkScores(IndexScoreOp op, int64_t columns) const {
  int64_t rows = values.at(op.getQueries()).shape[0];
  const std::tuple<StringRef, Value, SmallVector<int64_t>> operands[] = {
      {"weights", op.getWeights(), {rows, op.getHeads()}},
      {"scales", op.getScales(), {rows, op.getHeads(), op.getDim() / 32}},
      {"lengths", op.getNextN() ? Value() : Value(op.getLengths()), {rows}},
      {"starts", op.getStarts(), {rows}},
      {"ends", op.getEnds(), {rows}},
      {"requests", op.getRequests(), {rows}},
      {"outs", op.getOut(), {rows, columns}}};
  for (const auto &[name, value, shape] : operands)
    if (value)
      if (rt::Status status = checkShape(op, name, value, shape); !status)
        return status;
  bool isTableOfRows = op.getPageTable() && !op.getIndptr() &&
                       !op.getRequests() && !op.getNextN();
  if (isTableOfRows && values.at(op.getPageTable()).shape[0] != rows)
    return invalid("dsv4.index_score: expected 'pages' with " + Twine(rows) +
                   " rows, one a row of queries, got " +
                   Twine(values.at(op.getPageTable()).shape[0]));
  if (op.getKeyScales() &&
      values.at(op.getKeyScales()).shape[0] != values.at(op.getKeys()).shape[0])
    return invalid("dsv4.index_score: expected 'key_scales' of as many keys as "
                   "'keys' has");
  return {};
}

/// What the destination has. What nothing has written is no number.
void Interpreter::keepScores(IndexScoreOp op, Elements to,
                             MutableArrayRef<BoundedValue> bounds) const {
  auto given = values.find(op.getOut());
  for (auto [at, element] : llvm::enumerate(bounds)) {
    if (given != values.end())
      to.setCode(at, given->second.elements().code(at));
    else
      to.round(at, std::numeric_limits<float>::quiet_NaN());
    element = {to.value(at), 0};
  }
}

rt::Status Interpreter::scoreKeys(IndexScoreOp op) {
  int64_t columns = cast<ShapedType>(op.getOut().getType()).getDimSize(1);
  if (ShapedType::isDynamic(columns)) {
    // Only their destination says how many columns there are.
    auto destination = values.find(op.getOut());
    if (destination == values.end())
      return invalid("dsv4.index_score: rows of any number of columns need a "
                     "destination that is an argument");
    columns = destination->second.shape[1];
  }
  if (rt::Status status = checkScores(op, columns); !status)
    return status;
  int64_t rows = values.at(op.getQueries()).shape[0], heads = op.getHeads();
  int64_t dim = op.getDim();
  // What the formats imply: MXFP4 and NVFP4 have scales of groups.
  StringRef format = op.getKeyFormat();
  int64_t group = format == "mxfp4" ? 32 : format == "nvfp4" ? 16 : dim;
  bool scalesKeys = format == "e4m3";

  auto readKey = [&](int64_t row, int64_t number, Vectors &key,
                     double &scale) -> bool {
    Elements data, scales;
    int64_t begin = 0;
    bool hasScales = format != "bf16";
    if (op.getCache()) {
      auto entry = findEntry(op, row, number);
      if (!entry)
        return false;
      auto cache = cast<BlockArgument>(op.getCache());
      data = locate(cache, op.getKeyField(), *entry);
      if (hasScales)
        scales = locate(cache, op.getKeyScaleField(), *entry);
    } else {
      data = values.at(op.getKeys()).elements();
      begin = number * dim;
      if (hasScales)
        scales = values.at(op.getKeyScales()).elements();
    }
    bool scalesGroups = hasScales && !scalesKeys;
    key =
        readVectors(data, begin, dim, scalesGroups ? &scales : nullptr, group);
    scale = scalesKeys ? scales.value(begin / dim) : 1;
    return true;
  };

  Elements queryData = values.at(op.getQueries()).elements();
  Elements weightData = values.at(op.getWeights()).elements(), queryScales;
  if (op.getScales())
    queryScales = values.at(op.getScales()).elements();
  auto bounds = std::make_shared<std::vector<BoundedValue>>(rows * columns);
  Elements to = makeResult(op.getScores(), {rows, columns}).elements();
  if (op.getKeepRest())
    keepScores(op, to, *bounds);
  for (int64_t row = 0; row < rows; ++row) {
    Vectors queries =
        readVectors(queryData, row * heads * dim, heads * dim,
                    op.getScales() ? &queryScales : nullptr, /*group=*/32);
    Vectors weights =
        readVectors(weightData, row * heads, heads, nullptr, /*group=*/1);
    auto [start, count] = findKeys(op, row, columns);
    int64_t end = op.getKeepRest() ? count : columns;
    for (int64_t column = 0; column < end; ++column) {
      Score score;
      score.exact = -std::numeric_limits<double>::infinity();
      double bound = 0, scale = 1;
      Vectors key;
      if (column < count && readKey(row, start + column, key, scale)) {
        score = scoreKey(queries, weights, key);
        score.exact *= scale;
        score.terms *= std::fabs(scale);
        score.possible *= std::fabs(scale);
        score.overflows |= score.terms >= std::numeric_limits<float>::max() / 4;
        score.unit += getUnit(scale);
        bound = getBound(score, to.format);
      }
      int64_t at = row * columns + column;
      to.round(at, float(score.exact));
      (*bounds)[at] = {score.exact, bound};
    }
  }
  knowledge[op.getScores()].bounds = bounds;
  return {};
}
