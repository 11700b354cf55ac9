//===- Compress.cpp - Windows of tokens into entries ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/RecordLayout.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dsv4;

#define GET_OP_CLASSES
#include "DSV4WindowOps.cpp.inc"

int64_t CompressOp::getChannels() {
  int64_t columns = cast<ShapedType>(getValues().getType()).getShape().back();
  return getOverlap() ? columns / 2 : columns;
}

void CompressOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getEntries(), "pooled");
}
Value CompressOp::getRowOperand() { return getPlan(); }
SmallVector<RowSegment> CompressOp::getRowSegments() {
  return {{getChannels(),
           getElementBits(getElementTypeOrSelf(getOut().getType()))}};
}
CooperativeWork CompressOp::getCooperativeWork() {
  CooperativeWork work;
  work.kind = WindowAttr::name;
  // Tokens of a segment are merged one after another.
  work.rows = isOnline() ? 1 : static_cast<int64_t>(getWindowRows());
  work.elements = getChannels();
  return work;
}
bool CompressOp::acceptsProducer(OpOperand &) { return false; }

SmallVector<std::pair<TensorAxis, TensorAxis>> CompressOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  tieAxes(getValues(), getScores(), 1, pairs);
  tieAxes(getPlan(), getOut(), 1, pairs);
  if (getScorePageTable())
    tieAxes(getPageTable(), getScorePageTable(), 1, pairs);
  return pairs;
}

SmallVector<FieldAttr> CompressOp::getWrittenFields() {
  if (!isOnline())
    return {};
  return llvm::to_vector(getState().getType().getRecord().getFields());
}

void CompressOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getState())
    return;
  if (getScoreState())
    effects.emplace_back(MemoryEffects::Read::get(),
                         &*getScoreStateMutable().begin(),
                         CacheResource::get());
  OpOperand *state = &*getStateMutable().begin();
  effects.emplace_back(MemoryEffects::Read::get(), state, CacheResource::get());
  if (isOnline())
    effects.emplace_back(MemoryEffects::Write::get(), state,
                         CacheResource::get());
}

/// Clause compress_c2: windows of a plan.
std::string CompressOp::explainProducer(OpOperand &operand) {
  auto plan = getPlan().getDefiningOp<CompressPlanOp>();
  if (&operand != &getPlanMutable() || !plan || plan.getWindow() == getWindow())
    return "";
  return llvm::formatv(
      "compress_c2: has a 'window' of {0}, but '{1}', which computes its plan, "
      "one of {2}: give both the same",
      getWindow(), plan->getName(), plan.getWindow());
}

/// Clause `clause`: a cache of `count` fields, which `kept` describes, of
/// `element`.
static LogicalResult verifyFields(CompressOp op, Value cache, size_t count,
                                  Type element, StringRef clause,
                                  StringRef kept) {
  auto values = cast<RankedTensorType>(op.getValues().getType());
  auto state = cast<CacheType>(cache.getType());
  ArrayRef<FieldAttr> fields = state.getRecord().getFields();
  auto fits = [&](FieldAttr field) {
    return field.getElement() == element &&
           field.getExtent() == values.getDimSize(1) && !field.isScale() &&
           field.getPlacement() != Placement::Tail;
  };
  if (fields.size() != count || !llvm::all_of(fields, fits))
    return op.emitOpError()
           << clause << ": expected a state of " << kept << " of "
           << values.getDimSize(1) << " x " << element
           << " in the row or in arrays, got " << state;
  return success();
}

/// Clauses compress_c6 and compress_c9: the fields of the state.
static LogicalResult verifyState(CompressOp op) {
  Type element =
      cast<RankedTensorType>(op.getValues().getType()).getElementType();
  if (op.isOnline())
    return verifyFields(
        op, op.getState(), 3, Float32Type::get(op.getContext()), "compress_c6",
        "three fields, maximum, sum of weights and weighted sum,");
  if (!op.getScoreState())
    return verifyFields(op, op.getState(), 2, element, "compress_c6",
                        "two fields, values and scores,");
  if (failed(verifyFields(op, op.getState(), 1, element, "compress_c9",
                          "one field, values, beside 'score_state',")))
    return failure();
  return verifyFields(op, op.getScoreState(), 1, element, "compress_c9",
                      "one field, scores, in 'score_state'");
}

/// Clause compress_c8.
static LogicalResult verifyOnline(CompressOp op) {
  if (!op.getState())
    return op.emitOpError() << "compress_c8: 'algorithm online' keeps "
                               "unfinished windows: expected a 'state'";
  if (op.getOverlap())
    return op.emitOpError() << "compress_c8: a segment of 'algorithm online' "
                               "belongs to one window: remove 'overlap'";
  if (op.getScoreState() || op.getScorePageTable())
    return op.emitOpError()
           << "compress_c8: the state of 'algorithm online' "
              "has no scores of tokens: remove '"
           << (op.getScoreState() ? "score_state" : "score_pages") << "'";
  if (op.getRing() || op.getPageTable())
    return op.emitOpError() << "compress_c8: the plan of 'algorithm online' "
                               "names the entries of the state itself: remove '"
                            << (op.getRing() ? "ring" : "pages") << "'";
  if (op.getBiased())
    return op.emitOpError() << "compress_c8: the state of 'algorithm online' "
                               "has no scores of tokens: remove 'biased'";
  return success();
}

/// Clause compress_c9: which operands there are.
static LogicalResult verifyScoreState(CompressOp op) {
  if (op.getScoreState() && !op.getState())
    return op.emitOpError() << "compress_c9: 'score_state' has the scores of "
                               "the values of a 'state': add one or remove it";
  if (op.getScorePageTable() && !op.getScoreState())
    return op.emitOpError() << "compress_c9: 'score_pages' are those of a "
                               "'score_state': add one or remove them";
  if (!op.getScoreState())
    return success();
  if (!op.getPageTable() || !op.getScorePageTable() || op.getRing())
    return op.emitOpError() << "compress_c9: tokens of two states are found by "
                               "page tables alone: expected 'pages' and "
                               "'score_pages', and no 'ring', with "
                               "'score_state'";
  auto type = dyn_cast<RankedTensorType>(op.getScorePageTable().getType());
  if (!type || type.getRank() != 2)
    return op.emitOpError() << "compress_c9: expected 'score_pages' of shape "
                               "[requests, pages], got "
                            << op.getScorePageTable().getType();
  return success();
}

/// Clause compress_c7.
static LogicalResult verifyBounds(CompressOp op) {
  if (failed(verifyScoreState(op)))
    return failure();
  if (!op.getState()) {
    if (op.getRing() || op.getPageTable() || op.getBiased())
      return op.emitOpError() << "compress_c7: 'ring', 'biased' and 'pages' "
                                 "describe a 'state': add one or remove them";
    return success();
  }
  int64_t page = cast<CacheType>(op.getState().getType()).getPage();
  if (!op.getRing() && !op.getPageTable())
    return op.emitOpError()
           << "compress_c7: expected a 'ring' or 'pages' beside the 'state'";
  if (auto ring = op.getRing()) {
    int64_t length = *ring, min = op.getWindowRows() - 1;
    if (length < std::max<int64_t>(min, 1) || length > INT32_MAX ||
        (length % page != 0 && page % length != 0))
      return op.emitOpError()
             << "compress_c7: expected a ring of at least "
             << std::max<int64_t>(min, 1)
             << " tokens, below 2^31, and a multiple or a divisor of the "
             << page << " entries of a page, got " << length;
  }
  if (Value table = op.getPageTable()) {
    auto type = dyn_cast<RankedTensorType>(table.getType());
    if (!type || type.getRank() != 2)
      return op.emitOpError()
             << "compress_c7: expected 'pages' of shape [requests, pages], got "
             << table.getType();
  }
  return success();
}

LogicalResult CompressOp::verify() {
  int64_t max = getOverlap() ? 512 : 1024;
  int64_t window = getWindow();
  if (window < 1 || window > max)
    return emitOpError() << "compress_c4: expected a 'window' between 1 and "
                         << max << ", got " << window;
  if (isOnline() && failed(verifyOnline(*this)))
    return failure();
  auto values = dyn_cast<RankedTensorType>(getValues().getType());
  auto scores = dyn_cast<RankedTensorType>(getScores().getType());
  int64_t streams = getOverlap() ? 2 : 1;
  if (!values || values.getRank() != 2 || !hasRows(values) ||
      values.getDimSize(1) % streams != 0)
    return emitOpError() << "compress_c1: expected 'values' of shape [tokens, "
                         << (getOverlap() ? "2 D]" : "D]")
                         << " with a constant last extent between 1 and "
                         << RecordAttr::kMaxRowExtent << ", got "
                         << getValues().getType();
  if (!scores || scores.getElementType() != values.getElementType() ||
      !compatible(scores.getShape(), values.getShape()) ||
      scores.isDynamicDim(1))
    return emitOpError()
           << "compress_c1: expected 'scores' of the type of 'values', got "
           << getScores().getType();
  auto plan = dyn_cast<RankedTensorType>(getPlan().getType());
  int64_t columns = isOnline() ? 5 : 4;
  if (!plan || plan.getRank() != 2 || plan.getDimSize(1) != columns)
    return emitOpError() << "compress_c2: expected 'plan' of shape ["
                         << (isOnline() ? "segments" : "entries") << ", "
                         << columns << "]"
                         << (isOnline() ? " for" : "; five columns are for")
                         << " 'algorithm online', got " << getPlan().getType();
  auto out = dyn_cast<RankedTensorType>(getOut().getType());
  if (!out || out.getRank() != 2 || out.getDimSize(1) != getChannels() ||
      !compatible(out.getShape().take_front(), plan.getShape().take_front()))
    return emitOpError() << "compress_c3: expected 'outs' of shape [entries, "
                         << getChannels() << "], got " << getOut().getType();
  if (getOut() == getValues() || getOut() == getScores())
    return emitOpError() << "compress_c3: expected 'outs' to be another tensor "
                            "than 'values' and 'scores', which other rows read";
  if (Value bias = getBias()) {
    auto type = dyn_cast<RankedTensorType>(bias.getType());
    if (!type ||
        type.getShape() != ArrayRef<int64_t>{window, values.getDimSize(1)})
      return emitOpError() << "compress_c5: expected 'bias' of shape "
                           << formatShape({window, values.getDimSize(1)})
                           << ", got " << bias.getType();
  }
  if (getState() && failed(verifyState(*this)))
    return failure();
  return isOnline() ? success() : verifyBounds(*this);
}
