//===- CompressOnline.cpp - Windows of tokens, token by token -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

static constexpr float kInfinity = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {

/// What the tokens of a channel come to.
struct Running {
  float max = -kInfinity, sum = 0, weighted = 0;
};

} // namespace

/// NaN if one is NaN; +0 is above -0.
static float larger(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return kNaN;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// sum * factor + product.
static float scaleAndAdd(float sum, float factor, float product) {
  return addF32(mulF32(sum, factor), product);
}

static Running mergeToken(Running to, float score, float value) {
  float max = larger(to.max, score);
  if (std::isnan(max) || max == kInfinity)
    return {max, kNaN, kNaN};
  float origin = max == -kInfinity ? 0 : max;
  if (to.max >= score) {
    float e = expF32(subF32(score, origin));
    return {max, scaleAndAdd(to.sum, 1, e),
            scaleAndAdd(to.weighted, 1, mulF32(e, value))};
  }
  float e = expF32(subF32(to.max, origin));
  return {max, scaleAndAdd(to.sum, e, 1), scaleAndAdd(to.weighted, e, value)};
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

std::optional<Interpreter::Entry>
Interpreter::findStateEntry(CompressOp op, int64_t index) const {
  int64_t page = op.getState().getType().getPage();
  if (index < 0 || index / page >= getPages(cast<BlockArgument>(op.getState())))
    return std::nullopt;
  return Entry{index / page, index % page};
}

std::optional<Interpreter::Segment>
Interpreter::findSegment(CompressOp op, int64_t row) const {
  const Tensor &plan = values.at(op.getPlan());
  int64_t position = plan.index(5 * row), count = plan.length(5 * row + 1);
  Segment segment;
  segment.token = plan.index(5 * row + 2);
  int64_t window = op.getWindow();
  if (position < 0 || position > CompressOp::kMaxPosition || segment.token < 0)
    return std::nullopt;
  segment.begin = position % window;
  segment.count =
      std::min({count, window - segment.begin,
                values.at(op.getValues()).shape.front() - segment.token});
  if (segment.count <= 0)
    return std::nullopt;
  segment.ends = segment.begin + segment.count == window;
  if (segment.begin != 0)
    segment.from = findStateEntry(op, plan.index(5 * row + 3));
  if (!segment.ends)
    segment.to = findStateEntry(op, plan.index(5 * row + 4));
  return segment;
}

std::string Interpreter::describeSharedEntry(CompressOp op) const {
  auto state = cast<BlockArgument>(op.getState());
  int64_t pageSize = op.getState().getType().getPage();
  int64_t rows = values.at(op.getPlan()).shape.front();
  auto number = [&](Entry entry) { return entry.page * pageSize + entry.slot; };
  auto describe = [&](int64_t a, StringRef does, int64_t b, int64_t entry) {
    return "state '" + getArgumentName(func, state.getArgNumber()) +
           "': segment " + std::to_string(a) + does.str() + " entry " +
           std::to_string(entry) + ", which segment " + std::to_string(b) +
           " writes in the same launch";
  };
  llvm::DenseMap<int64_t, int64_t> writerOf;
  for (int64_t row = 0; row < rows; ++row) {
    auto segment = findSegment(op, row);
    if (!segment || !segment->to)
      continue;
    auto [it, fresh] = writerOf.try_emplace(number(*segment->to), row);
    if (!fresh)
      return describe(row, " writes", it->second, it->first);
  }
  for (int64_t row = 0; row < rows; ++row) {
    auto segment = findSegment(op, row);
    if (!segment || !segment->from)
      continue;
    auto found = writerOf.find(number(*segment->from));
    if (found != writerOf.end() && found->second != row)
      return describe(row, " reads", found->second, found->first);
  }
  return "";
}

void Interpreter::compressSegment(CompressOp op, int64_t row,
                                  const Elements &out) const {
  auto segment = findSegment(op, row);
  if (!segment)
    return; // Zeros.
  auto state = cast<BlockArgument>(op.getState());
  ArrayRef<FieldAttr> fields =
      cast<CacheType>(state.getType()).getRecord().getFields();
  Elements scores = values.at(op.getScores()).elements(),
           numbers = values.at(op.getValues()).elements();
  int64_t channels = op.getChannels();
  for (int64_t channel = 0; channel < channels; ++channel) {
    Running running;
    if (segment->from) {
      running.max = locate(state, fields[0], *segment->from).f32(channel);
      running.sum = locate(state, fields[1], *segment->from).f32(channel);
      running.weighted = locate(state, fields[2], *segment->from).f32(channel);
    }
    for (int64_t i = 0; i < segment->count; ++i) {
      int64_t at = (segment->token + i) * channels + channel;
      float score = scores.f32(at);
      if (op.getBias())
        score =
            addF32(score, values.at(op.getBias())
                              .elements()
                              .f32((segment->begin + i) * channels + channel));
      running = mergeToken(running, score, numbers.f32(at));
    }
    if (segment->ends)
      out.round(row * channels + channel,
                running.sum == 0 ? 0 : divF32(running.weighted, running.sum));
    if (!segment->to)
      continue;
    locate(state, fields[0], *segment->to).round(channel, running.max);
    locate(state, fields[1], *segment->to).round(channel, running.sum);
    locate(state, fields[2], *segment->to).round(channel, running.weighted);
  }
}
