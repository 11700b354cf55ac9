//===- SelectTiles.cpp - What consumes rows that come as tiles ------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Schedule/Limits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

//===----------------------------------------------------------------------===//
// SharedOp
//===----------------------------------------------------------------------===//

LogicalResult SharedOp::verify() {
  int64_t bytes = getBytes(), begin = getBegin();
  if (bytes <= 0 || begin < 0 || begin % 16 != 0)
    return emitOpError() << "shared_c1: expected a positive number of bytes "
                            "that begin at a multiple of 16, got "
                         << bytes << " from " << begin << " on";
  return success();
}

int64_t SharedOp::getSharedBytes() { return getBegin() + getBytes(); }

StringRef SharedOp::getCallee() { return "dsv4::shared_from"; }
StringRef SharedOp::getHeader() { return "core/memory.cuh"; }
SmallVector<CallArgument> SharedOp::getCallArguments() {
  return {static_cast<int64_t>(getBegin())};
}

//===----------------------------------------------------------------------===//
// SelectTilesOp
//===----------------------------------------------------------------------===//

static bool isBetween(uint64_t value, uint64_t min, uint64_t max) {
  return min <= value && value <= max;
}

int64_t SelectTilesOp::getSharedBytes(int64_t k, int64_t rows, int64_t columns,
                                      int64_t calls) {
  constexpr int64_t kFew = 128, kWarps = 32;
  // Candidates of each row, and the best of one.
  int64_t capacity = k + calls * columns;
  int64_t entries = rows * capacity + k + kFew;
  // A limit and a floor, a bound and a counter.
  int64_t bytes = 8 * entries + 4 * rows * (2 + 3 + 1);
  // Histograms.
  bytes = llvm::alignTo(bytes, 16) + 4 * rows * (capacity > 1024 ? 1024 : 256);
  // Sums and counters of warps, a bin, a range, two counters and an entry.
  bytes = llvm::alignTo(bytes + 4 * (2 * kWarps + 3 + 2 + 2), 8) + 8;
  return llvm::alignTo(bytes, 16);
}

LogicalResult SelectTilesOp::verify() {
  if (!isBetween(getK(), 1, kMaxK) || !isBetween(getMax(), 1, INT32_MAX) ||
      !isBetween(getRows(), 1, INT32_MAX) ||
      !isBetween(getColumns(), 1, INT32_MAX) ||
      !isBetween(getCalls(), 1, INT32_MAX) ||
      !isBetween(getWarps(), 1, kMaxWarps))
    return emitOpError()
           << "select_tiles_c2: expected a 'k' from 1 to " << kMaxK
           << ", a positive 'max', 'rows', 'columns' and 'calls', and 1 to "
           << kMaxWarps << " warps, got " << getK() << " of " << getMax()
           << ", " << getRows() << " x " << getColumns() << ", " << getCalls()
           << " and " << getWarps();
  return success();
}

/// The values that the region of (`indices` numbers, `others`) ends in, or
/// nothing if it is not such a region.
static std::optional<TypeRange> getYielded(Region &region, unsigned indices,
                                           TypeRange others) {
  auto yield = dyn_cast<TileYieldOp>(region.front().getTerminator());
  ArrayRef<BlockArgument> arguments = region.getArguments();
  if (!yield || arguments.size() != indices + others.size() ||
      !llvm::all_of(
          arguments.take_front(indices),
          [](BlockArgument index) { return isOffset(index.getType()); }) ||
      TypeRange(ValueRange(arguments.drop_front(indices))) != others)
    return std::nullopt;
  return yield.getOperandTypes();
}

/// Of an op that selects from tiles.
template <typename SelectOp>
static LogicalResult verifySelectRegions(SelectOp op, StringRef clause) {
  Builder b(op.getContext());
  Type f32 = b.getF32Type(), element = VectorType::get({1, 1}, f32);
  auto limit = getYielded(op.getLimit(), 1, {});
  auto source =
      getYielded(op.getSource(), 0, CallableType::get(op.getContext()));
  auto emit = getYielded(op.getEmit(), 3, f32);
  bool scores = op.getScore().empty();
  if (!scores) {
    auto score = getYielded(op.getScore(), 2, element);
    scores = score && *score == TypeRange{element};
  }
  if (!limit || limit->size() != 1 || !isOffset(limit->front()) || !source ||
      !source->empty() || !scores || !emit || !emit->empty())
    return op.emitOpError()
           << clause
           << ": expected regions of (tile_row), (consume), "
              "(tile_row, column, value) and (tile_row, rank, index, value) "
              "that end in a 'cuda.tile_yield' of an integer, of nothing, of "
              "one element and of nothing";
  return success();
}

template <typename SelectOp>
static void inferSelectRanges(SelectOp op, SetIntRangeFn setRange) {
  auto max = static_cast<int64_t>(op.getMax()) - 1;
  for (Region *region : {&op.getLimit(), &op.getScore(), &op.getEmit()})
    if (!region->empty())
      setArgumentRange(region->getArgument(0), 0,
                       static_cast<int64_t>(op.getRows()) - 1, setRange);
  if (!op.getScore().empty())
    setArgumentRange(op.getScore().getArgument(1), 0, max, setRange);
  setArgumentRange(op.getEmit().getArgument(1), 0,
                   static_cast<int64_t>(op.getK()) - 1, setRange);
  setArgumentRange(op.getEmit().getArgument(2), -1, max, setRange);
}

template <typename SelectOp>
static SmallVector<CallArgument> getSelectArguments(SelectOp op) {
  CallArgument score = Temporary{"dsv4::SourceScore"};
  if (!op.getScore().empty())
    score = Lambda{&op.getScore()};
  return {op.getMemory(), Lambda{&op.getLimit()}, Lambda{&op.getSource()},
          score, Lambda{&op.getEmit()}};
}

static int64_t number(uint64_t value) { return static_cast<int64_t>(value); }

/// The members that configs of all selections from tiles have after their own.
template <typename SelectOp>
static void addSelection(SelectOp op, CallConfig &config) {
  config.members.push_back(
      {"order",
       Enumerator{"dsv4::TopkOrder", stringifySelectOrder(op.getOrder())}});
  config.members.push_back({"largest", !op.getSmallest()});
  config.members.push_back({"shared_bytes", op.getSharedBytes()});
  if (op.getTiesHigh())
    config.members.push_back({"ties_high", true});
  if (op.getNanFirst())
    config.members.push_back({"nan_first", true});
}

LogicalResult SelectTilesOp::verifyRegions() {
  return verifySelectRegions(*this, "select_tiles_c1");
}

void SelectTilesOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                      SetIntRangeFn setRange) {
  inferSelectRanges(*this, setRange);
}

StringRef SelectTilesOp::getCallee() { return "dsv4::topk_tiles"; }
StringRef SelectTilesOp::getHeader() { return "select/topk_tiles.cuh"; }

std::optional<CallConfig> SelectTilesOp::getConfig() {
  CallConfig config{"dsv4::TopkTilesDefaults",
                    {{"k", number(getK())},
                     {"rows", number(getRows())},
                     {"tile_columns", number(getColumns())},
                     {"calls", number(getCalls())},
                     {"warps", number(getWarps())}}};
  addSelection(*this, config);
  return config;
}

SmallVector<CallArgument> SelectTilesOp::getCallArguments() {
  return getSelectArguments(*this);
}

//===----------------------------------------------------------------------===//
// SelectResidentOp
//===----------------------------------------------------------------------===//

int64_t SelectResidentOp::getSharedBytes(int64_t rows, int64_t threads,
                                         int64_t vectors) {
  return 4 * rows * threads * vectors * limits::kResidentVector;
}

LogicalResult SelectResidentOp::verify() {
  constexpr int64_t maxVectors =
      limits::kMaxSelectItems / limits::kResidentVector;
  bool isKnown =
      isBetween(getK(), 1, SelectTilesOp::kMaxK) &&
      isBetween(getMax(), 1, INT32_MAX) && isBetween(getRows(), 1, INT32_MAX) &&
      isBetween(getThreads(), limits::kMinSelectThreads, limits::kMaxThreads) &&
      llvm::isPowerOf2_64(getThreads()) &&
      isBetween(getVectors(), 1, maxVectors) &&
      isBetween(getCluster(), 1, limits::kMaxCluster);
  if (isKnown &&
      getCluster() * getThreads() * getVectors() * limits::kResidentVector >=
          getMax())
    return success();
  return emitOpError() << "select_resident_c2: expected a 'k' from 1 to "
                       << SelectTilesOp::kMaxK
                       << ", a positive 'max' and 'rows', a power of two of "
                       << limits::kMinSelectThreads << " to "
                       << limits::kMaxThreads << " 'threads', a 'cluster' of "
                       << "at most " << limits::kMaxCluster
                       << " blocks, and at most " << maxVectors
                       << " 'vectors' that are enough for 'max' elements, got "
                       << getK() << " of " << getMax() << ", " << getRows()
                       << ", " << getThreads() << ", " << getCluster()
                       << " and " << getVectors();
}

LogicalResult SelectResidentOp::verifyRegions() {
  return verifySelectRegions(*this, "select_resident_c1");
}

void SelectResidentOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                         SetIntRangeFn setRange) {
  inferSelectRanges(*this, setRange);
}

StringRef SelectResidentOp::getCallee() { return "dsv4::topk_resident"; }
StringRef SelectResidentOp::getHeader() { return "select/topk_resident.cuh"; }

std::optional<CallConfig> SelectResidentOp::getConfig() {
  CallConfig config{"dsv4::TopkResidentDefaults",
                    {{"k", number(getK())},
                     {"rows", number(getRows())},
                     {"threads", number(getThreads())},
                     {"vector", limits::kResidentVector},
                     {"vectors", number(getVectors())},
                     {"cluster", number(getCluster())}}};
  addSelection(*this, config);
  return config;
}

SmallVector<CallArgument> SelectResidentOp::getCallArguments() {
  return getSelectArguments(*this);
}

//===----------------------------------------------------------------------===//
// StoreTilesOp
//===----------------------------------------------------------------------===//

LogicalResult StoreTilesOp::verify() {
  for (IntegerAttr number : {getRowsAttr(), getMaxAttr()})
    if (number.getInt() < 1 || number.getInt() > INT32_MAX)
      return emitOpError()
             << "store_tiles_c2: expected positive 'rows' and 'max', got "
             << getRowsAttr().getInt() << " and " << getMaxAttr().getInt();
  return success();
}

LogicalResult StoreTilesOp::verifyRegions() {
  Builder b(getContext());
  auto source = getYielded(getSource(), 0, CallableType::get(getContext()));
  auto emit = getYielded(getEmit(), 2, b.getF32Type());
  if (source && source->empty() && emit && emit->empty())
    return success();
  return emitOpError() << "store_tiles_c1: expected regions of (consume) and "
                          "(tile_row, column, value) that end in a "
                          "'cuda.tile_yield' of nothing";
}

void StoreTilesOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                     SetIntRangeFn setRange) {
  setArgumentRange(getEmit().getArgument(0), 0,
                   static_cast<int64_t>(getRows()) - 1, setRange);
  setArgumentRange(getEmit().getArgument(1), 0,
                   static_cast<int64_t>(getMax()) - 1, setRange);
}

StringRef StoreTilesOp::getCallee() { return "dsv4::store_tiles"; }
StringRef StoreTilesOp::getHeader() { return "core/tiles.cuh"; }
SmallVector<CallArgument> StoreTilesOp::getCallArguments() {
  return {Lambda{&getSource()}, Lambda{&getEmit()}};
}

//===----------------------------------------------------------------------===//
// HoldRowsOp
//===----------------------------------------------------------------------===//

LogicalResult HoldRowsOp::verify() {
  if (getRows() >= 1 && getRows() <= INT32_MAX)
    return success();
  return emitOpError() << "hold_rows_c2: expected positive 'rows', got "
                       << getRowsAttr().getInt();
}

LogicalResult HoldRowsOp::verifyRegions() {
  auto source = getYielded(getSource(), 0, CallableType::get(getContext()));
  auto yield = dyn_cast<TileYieldOp>(getEmit().front().getTerminator());
  bool isRow = getEmit().getNumArguments() == 2 &&
               isOffset(getEmit().getArgument(0).getType());
  auto values = isRow ? dyn_cast<VectorType>(getEmit().getArgument(1).getType())
                      : nullptr;
  if (source && source->empty() && yield && yield.getNumOperands() == 0 &&
      values && values.getRank() == 2 && values.getElementType().isF32())
    return success();
  return emitOpError() << "hold_rows_c1: expected regions of (consume) and "
                          "(row, values), a vector of f32 of rank 2, that end "
                          "in a 'cuda.tile_yield' of nothing";
}

void HoldRowsOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                   SetIntRangeFn setRange) {
  setArgumentRange(getEmit().getArgument(0), 0,
                   static_cast<int64_t>(getRows()) - 1, setRange);
}

StringRef HoldRowsOp::getCallee() { return "dsv4::hold_rows"; }
StringRef HoldRowsOp::getHeader() { return "core/tiles.cuh"; }
SmallVector<CallArgument> HoldRowsOp::getCallArguments() {
  return {Lambda{&getSource()}, Lambda{&getEmit()}};
}
