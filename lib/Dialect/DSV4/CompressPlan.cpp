//===- CompressPlan.cpp - The work list of a compressor -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace dsv4;

void CompressPlanOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  const StringRef names[] = {"plan", "positions", "slots"};
  for (auto [result, name] : llvm::zip(getList(), names))
    setName(result, name);
}
// The only operand that has a row for each, whatever a row stands for.
Value CompressPlanOp::getRowOperand() { return getOuts().front(); }
SmallVector<RowSegment> CompressPlanOp::getRowSegments() {
  return getOneSegment(getOuts().front());
}
bool CompressPlanOp::acceptsProducer(OpOperand &) { return false; }
// Rows of numbers that one thread has; other ops read them from memory.
SmallVector<Access> CompressPlanOp::getProvidedAccesses(OpResult) { return {}; }

SmallVector<std::pair<TensorAxis, TensorAxis>> CompressPlanOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  auto tie = [&](ArrayRef<Value> values) {
    Value first;
    for (Value value : values) {
      if (value && first)
        tieAxes(first, value, 1, pairs);
      else if (value)
        first = value;
    }
  };
  SmallVector<Value> tokens = {getPositions(), getRequests(), getSlots()};
  SmallVector<Value> rows(getOuts());
  if (!hasRowPerEntry())
    rows.append(tokens);
  tie(tokens);
  tie(rows);
  tie({getStarts(), getEntryStarts()});
  tie({getLengths(), getPageTable(), getFrom(), getTo()});
  return pairs;
}

/// Clause `clause`: `value` has `rank` axes, which `shape` describes.
static LogicalResult verifyRank(CompressPlanOp op, Value value, int64_t rank,
                                StringRef clause, StringRef name,
                                StringRef shape) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : nullptr;
  if (!value || (type && type.getRank() == rank))
    return success();
  return op.emitOpError() << "compress_plan_" << clause << ": expected '"
                          << name << "' of shape [" << shape << "], got "
                          << value.getType();
}

/// Clause compress_plan_c8.
static LogicalResult verifyOnline(CompressPlanOp op) {
  if (!op.isOnline()) {
    if (op.getFrom() || op.getTo())
      return op.emitOpError()
             << "compress_plan_c8: '" << (op.getFrom() ? "from" : "to")
             << "' names entries of the state of 'algorithm online': add it or "
                "remove '"
             << (op.getFrom() ? "from" : "to") << "'";
    return success();
  }
  if (!op.getFrom() || !op.getTo())
    return op.emitOpError()
           << "compress_plan_c8: expected 'from' and 'to', the "
              "entries of the state of each request, with "
              "'algorithm online'";
  if (!op.getStarts())
    return op.emitOpError() << "compress_plan_c8: segments are tokens of the "
                               "launch: expected 'starts' with 'algorithm "
                               "online'";
  return success();
}

/// Which operands there are: clauses compress_plan_c2 to compress_plan_c6.
static LogicalResult verifyPresence(CompressPlanOp op) {
  if (!op.getPositions() == !op.getLengths())
    return op.emitOpError() << "compress_plan_c2: expected either 'positions' "
                               "of tokens or 'lengths' of requests, got "
                            << (op.getPositions() ? "both" : "neither");
  if (!op.getStarts() &&
      (!op.getPositions() || !op.getRequests() || op.hasRowPerEntry()))
    return op.emitOpError()
           << "compress_plan_c3: expected 'starts', the first token of each "
              "request: only 'positions' with 'requests' do without";
  if (op.getRequests() && op.hasRowPerEntry())
    return op.emitOpError() << "compress_plan_c4: the request of an entry "
                               "follows from 'entry_starts': remove 'requests'";
  if (op.getSlots() && op.getPageTable())
    return op.emitOpError() << "compress_plan_c6: slots are those of 'slots' "
                               "or of 'pages': remove one of them";
  if (!op.getPageTable() == !op.getPage())
    return success();
  return op.emitOpError()
         << "compress_plan_c6: expected 'page', the slots of a page, with "
            "'pages' and not without, got "
         << (op.getPage() ? "'page'" : "'pages'") << " alone";
}

/// Clause compress_plan_c7.
static LogicalResult verifyResults(CompressPlanOp op) {
  size_t count = op.getOuts().size();
  if (op.hasSlots() ? count != 3 : count < 1 || count > 2)
    return op.emitOpError()
           << "compress_plan_c7: expected "
           << (op.hasSlots() ? "three 'outs', plan, positions and slots,"
                             : "one or two 'outs', a plan and positions,")
           << " got " << count;
  SmallVector<int64_t> shape = {ShapedType::kDynamic, op.getPlanColumns()};
  for (Value token : {op.getPositions(), op.getRequests(), op.getSlots()})
    if (token && !op.hasRowPerEntry() && ShapedType::isDynamic(shape[0]))
      shape[0] = cast<ShapedType>(token.getType()).getDimSize(0);
  const StringRef names[] = {"the plan", "the positions", "the slots"};
  for (auto [i, out] : llvm::enumerate(op.getOuts())) {
    auto type = dyn_cast<RankedTensorType>(out.getType());
    if (!type || !compatible(type.getShape(), shape) ||
        (i == 0 && type.isDynamicDim(1)))
      return op.emitOpError() << "compress_plan_c7: expected " << names[i]
                              << " in 'outs' of shape " << formatShape(shape)
                              << ", got " << out.getType();
    // The others have one number for each row of the plan.
    shape = {ShapedType::isDynamic(shape[0]) ? type.getDimSize(0) : shape[0]};
  }
  return success();
}

LogicalResult CompressPlanOp::verify() {
  constexpr int64_t kMaxWindow = 1024;
  int64_t window = getWindow();
  if (window < 1 || window > kMaxWindow)
    return emitOpError() << "compress_plan_c1: expected a 'window' between 1 "
                            "and "
                         << kMaxWindow << ", got " << window;
  if (failed(verifyOnline(*this)) || failed(verifyPresence(*this)))
    return failure();
  if (auto page = getPage(); page && (int64_t(*page) < 1 || *page > INT32_MAX))
    return emitOpError() << "compress_plan_c6: expected 'page' between 1 and "
                            "2^31 - 1, got "
                         << int64_t(*page);
  const std::tuple<Value, int64_t, StringRef, StringRef, StringRef> operands[] =
      {{getPositions(), 1, "c2", "positions", "tokens"},
       {getLengths(), 1, "c2", "lengths", "requests"},
       {getStarts(), 1, "c3", "starts", "requests + 1"},
       {getRequests(), 1, "c4", "requests", "tokens"},
       {getEntryStarts(), 1, "c5", "entry_starts", "requests + 1"},
       {getFrom(), 1, "c8", "from", "requests"},
       {getTo(), 1, "c8", "to", "requests"},
       {getSlots(), 1, "c6", "slots", "tokens"},
       {getPageTable(), 2, "c6", "pages", "requests, pages"}};
  for (auto [value, rank, clause, name, shape] : operands)
    if (failed(verifyRank(*this, value, rank, clause, name, shape)))
      return failure();
  return verifyResults(*this);
}
