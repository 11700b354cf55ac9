//===- Compress.cpp - Windows of tokens into entries ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {

/// Window rows that are pooled, of one channel.
struct Pool {
  float max;      ///< The largest score, -infinity where there is none.
  float sum;      ///< Of the weights.
  float weighted; ///< Of the weights times their values.
};

} // namespace

/// Rows of a block.
static constexpr size_t kBlock = 8;

/// exp(score - max), where `max` may be the maximum of nothing.
static float weigh(float score, float max) {
  return expF32(subF32(score, max == -kInfinity ? 0 : max));
}

static Pool poolBlock(ArrayRef<float> scores, ArrayRef<float> values) {
  float max = -kInfinity;
  for (float score : scores)
    if (score > max) // Not so for a NaN.
      max = score;
  SmallVector<float> weights, products;
  for (auto [score, value] : llvm::zip_equal(scores, values)) {
    weights.push_back(weigh(score, max));
    products.push_back(mulF32(weights.back(), value));
  }
  return {max, sumTree(std::move(weights)), sumTree(std::move(products))};
}

static Pool merge(Pool a, Pool b) {
  float max = std::max(a.max, b.max);
  float fa = weigh(a.max, max), fb = weigh(b.max, max);
  return {max, addF32(mulF32(a.sum, fa), mulF32(b.sum, fb)),
          addF32(mulF32(a.weighted, fa), mulF32(b.weighted, fb))};
}

/// The mean of `values`, weighted by the softmax of `scores`; 0 without any
/// weight.
static float pool(SmallVector<float> scores, SmallVector<float> values) {
  // Several blocks are full ones. That decides no more than the sign of a zero.
  size_t count = scores.size(), block = std::min(count, kBlock);
  scores.resize(llvm::alignTo(count, block), -kInfinity);
  values.resize(scores.size(), 0);
  std::vector<Pool> level;
  for (size_t at = 0; at < scores.size(); at += block)
    level.push_back(poolBlock(ArrayRef(scores).slice(at, block),
                              ArrayRef(values).slice(at, block)));
  while (level.size() > 1) {
    std::vector<Pool> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(merge(level[i], level[i + 1]));
    if (level.size() % 2 != 0)
      next.push_back(level.back());
    level = std::move(next);
  }
  if (level.front().sum == 0)
    return 0;
  return divF32(level.front().weighted, level.front().sum);
}

//===----------------------------------------------------------------------===//
// Where tokens are
//===----------------------------------------------------------------------===//

std::optional<Interpreter::Entry>
Interpreter::findEntry(CompressOp op, Value cache, Value pageTable,
                       int64_t request, int64_t position) const {
  if (!cache || request < 0)
    return std::nullopt;
  auto state = cast<BlockArgument>(cache);
  int64_t pageSize = cast<CacheType>(state.getType()).getPage();
  int64_t slot = op.getRing() ? position % int64_t(*op.getRing()) : position;
  Entry entry;
  if (pageTable) {
    const Tensor &table = values.at(pageTable);
    int64_t width = table.shape.back(), column = slot / pageSize;
    if (request >= table.shape.front() || column >= width)
      return std::nullopt;
    entry = {table.index(request * width + column), slot % pageSize};
  } else {
    int64_t index = request * int64_t(*op.getRing()) + slot;
    entry = {index / pageSize, index % pageSize};
  }
  if (entry.page < 0 || entry.page >= getPages(state))
    return std::nullopt;
  return entry;
}

std::optional<Interpreter::WindowToken>
Interpreter::findToken(CompressOp op, int64_t entry, int64_t row) const {
  const Tensor &plan = values.at(op.getPlan()), &x = values.at(op.getValues());
  int64_t first = plan.index(4 * entry), request = plan.index(4 * entry + 1),
          position = plan.index(4 * entry + 2),
          token = plan.index(4 * entry + 3);
  int64_t window = op.getWindow();
  // Of no window, or before position 0.
  int64_t t = first - (op.getOverlap() ? window : 0) + row;
  if (first < 0 || first > CompressOp::kMaxPosition || t < 0)
    return std::nullopt;
  int64_t columns = x.shape.back(), bias = row % window * columns;
  if (t >= position) {
    int64_t at = token + (t - position);
    if (at < 0 || at >= x.shape.front())
      return std::nullopt;
    return WindowToken{x.elements(), values.at(op.getScores()).elements(),
                       at * columns, op.getBias() ? bias : -1};
  }
  auto stored = findEntry(op, op.getState(), op.getPageTable(), request, t);
  if (!stored)
    return std::nullopt;
  auto state = cast<BlockArgument>(op.getState());
  auto fieldsOf = [](BlockArgument cache) {
    return cast<CacheType>(cache.getType()).getRecord().getFields();
  };
  bool plain = op.getBias() && !op.getBiased();
  Elements numbers = locate(state, fieldsOf(state)[0], *stored);
  if (!op.getScoreState())
    return WindowToken{numbers, locate(state, fieldsOf(state)[1], *stored), 0,
                       plain ? bias : -1};
  auto storedScores =
      findEntry(op, op.getScoreState(), op.getScorePageTable(), request, t);
  if (!storedScores)
    return std::nullopt;
  auto scores = cast<BlockArgument>(op.getScoreState());
  return WindowToken{numbers,
                     locate(scores, fieldsOf(scores)[0], *storedScores), 0,
                     plain ? bias : -1};
}

//===----------------------------------------------------------------------===//
// compress
//===----------------------------------------------------------------------===//

void Interpreter::compressRow(CompressOp op, int64_t entry,
                              const Elements &out) const {
  SmallVector<std::optional<WindowToken>> tokens;
  for (int64_t row = 0; row < op.getWindowRows(); ++row)
    tokens.push_back(findToken(op, entry, row));
  if (llvm::none_of(tokens, [](auto &token) { return token.has_value(); }))
    return; // Zeros.

  int64_t channels = op.getChannels(), window = op.getWindow();
  for (int64_t channel = 0; channel < channels; ++channel) {
    SmallVector<float> scores, numbers;
    for (auto [row, token] : llvm::enumerate(tokens)) {
      if (!token) {
        scores.push_back(-kInfinity);
        numbers.push_back(0);
        continue;
      }
      bool second = op.getOverlap() && int64_t(row) >= window;
      int64_t column = second ? channels + channel : channel;
      float score = token->scores.f32(token->begin + column);
      if (token->bias >= 0)
        score = addF32(
            score,
            values.at(op.getBias()).elements().f32(token->bias + column));
      scores.push_back(score);
      numbers.push_back(token->values.f32(token->begin + column));
    }
    out.round(entry * channels + channel,
              pool(std::move(scores), std::move(numbers)));
  }
}

rt::Status Interpreter::compress(CompressOp op) {
  ArrayRef<int64_t> shape = values.at(op.getValues()).shape;
  int64_t entries = values.at(op.getPlan()).shape.front();
  const std::tuple<StringRef, Value, SmallVector<int64_t>> operands[] = {
      {"scores", op.getScores(), llvm::to_vector(shape)},
      {"bias", op.getBias(), {int64_t(op.getWindow()), shape.back()}},
      {"outs", op.getOut(), {entries, op.getChannels()}}};
  for (auto &[name, value, expected] : operands)
    if (rt::Status status = checkShape(op, name, value, expected); !status)
      return status;
  Elements out =
      makeResult(op.getEntries(), {entries, op.getChannels()}).elements();
  for (int64_t entry = 0; entry < entries; ++entry)
    op.isOnline() ? compressSegment(op, entry, out)
                  : compressRow(op, entry, out);
  return {};
}
