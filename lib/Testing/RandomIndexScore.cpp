//===- RandomIndexScore.cpp - Which keys rows are scored with -------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputMaker.h"

#include "mlir/IR/TypeUtilities.h"

#include <algorithm>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

Use dsv4::reference::getScoreUse(IndexScoreOp op, OpOperand &operand) {
  // The range of bf16 is that of fp32: numbers of ordinary size.
  auto getVectors = [](Value value) {
    return value && getElementTypeOrSelf(value.getType()).isBF16()
               ? Role::Weights
               : Role::None;
  };
  const std::pair<Value, Role> roles[] = {
      {op.getQueries(), getVectors(op.getQueries())},
      {op.getScales(), Role::Scales},
      {op.getWeights(), Role::Weights},
      {op.getKeys(), getVectors(op.getKeys())},
      {op.getKeyScales(), Role::Scales},
      {op.getPageTable(), Role::Table},
      {op.getIndptr(), Role::Ragged},
      {op.getRequests(), Role::Requests},
      {op.getStarts(), Role::Starts},
      {op.getLengths(), Role::Lengths},
      {op.getEnds(), Role::Ends}};
  Use use;
  use.score = op;
  for (auto [value, role] : roles)
    if (value && value == operand.get())
      use.role = role;
  return use;
}

/// Columns of a row of scores.
int64_t InputMaker::getScoredColumns(IndexScoreOp op) const {
  if (isa<BlockArgument>(op.getOut()))
    return getShape(op.getOut()).back();
  return cast<ShapedType>(op.getOut().getType()).getShape().back();
}

/// Requests of a page table.
int64_t InputMaker::getScoredRequests(IndexScoreOp op) const {
  if (op.getIndptr())
    return std::max<int64_t>(getShape(op.getIndptr()).front() - 1, 0);
  return getShape(op.getPageTable()).front();
}

/// Keys that a row may have, columns or not.
int64_t InputMaker::getScoredKeys(IndexScoreOp op) const {
  if (op.getKeys())
    return getShape(op.getKeys()).front();
  int64_t pages = getShape(op.getPageTable()).back();
  if (op.getIndptr())
    pages = 2 * pages / std::max<int64_t>(getScoredRequests(op), 1) + 1;
  return pages * cast<CacheType>(op.getCache().getType()).getPage();
}

void InputMaker::fillScoreLengths(unsigned argument, Random &random) {
  IndexScoreOp op = uses[argument].score;
  int64_t ratio = op.getRatio().value_or(1);
  int64_t columns = getScoredColumns(op);
  const int64_t edges[] = {-1,          0,       1,           columns - 1,
                           columns + 1, columns, INT32_MIN,   INT32_MAX,
                           ratio - 1,   ratio,   columns * 2, -ratio};
  fillWithEdges(argument, 3, edges, random,
                [&] { return int64_t(random.below((columns + 1) * ratio)); });
}

void InputMaker::fillScoreStarts(unsigned argument, Random &random) {
  int64_t keys = getScoredKeys(uses[argument].score);
  const int64_t edges[] = {-1, 0, 1, 63, keys, keys - 1, INT32_MIN, INT32_MAX};
  fillWithEdges(argument, 4, edges, random,
                [&] { return int64_t(random.below(keys / 2 + 1)); });
}

void InputMaker::fillScoreEnds(unsigned argument, Random &random) {
  int64_t keys = getScoredKeys(uses[argument].score);
  const int64_t edges[] = {-1, 0, 1, keys, keys + 1, INT32_MIN, INT32_MAX};
  fillWithEdges(argument, 4, edges, random,
                [&] { return keys - int64_t(random.below(keys / 2 + 1)); });
}

void InputMaker::fillScoreRequests(unsigned argument, Random &random) {
  int64_t requests = getScoredRequests(uses[argument].score);
  const int64_t edges[] = {-1, requests, INT32_MIN, INT32_MAX};
  fillWithEdges(argument, 12, edges, random, [&] {
    return int64_t(random.below(std::max<int64_t>(requests, 1)));
  });
}

void InputMaker::fillScoreTable(unsigned argument, Random &random) {
  int64_t pages = getPages(
      cast<TypedValue<CacheType>>(Value(uses[argument].score.getCache())));
  int64_t count = getCount(argument);
  std::vector<int32_t> order = shuffle(pages, random);
  for (int64_t i = 0; i < count; ++i)
    store(argument, i, pages ? order[i % pages] : 0);
  spoil(count, 5, 12, random, [&](int64_t at, uint64_t kind) {
    const int64_t bad[] = {-1, -1, pages, INT32_MIN, INT32_MAX};
    store(argument, at, bad[kind]);
  });
}
