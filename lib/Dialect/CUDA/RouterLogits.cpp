//===- RouterLogits.cpp - Logits of experts, by all blocks ----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Schedule/Limits.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult RouterLogitsOp::verify() {
  bool isOfRows = bool(getWorkspace());
  const std::tuple<StringRef, uint64_t, bool> numbers[] = {
      {"block_rows", getBlockRows(), true},
      {"block_experts", getBlockExperts(), true},
      {"slices", getSlices(), true},
      {"vector", getVector(), true},
      {"step", getStep(), false},
      {"stages", getStages(), false}};
  for (auto [name, number, ofRows] : numbers) {
    bool isLegal =
        ofRows == isOfRows ? number >= 1 && number <= INT32_MAX : number == 0;
    if (!isLegal)
      return emitOpError() << "router_logits_c1: expected "
                           << (ofRows == isOfRows ? "a positive '" : "no '")
                           << name << "' " << (isOfRows ? "with" : "without")
                           << " a workspace, got "
                           << static_cast<int64_t>(number);
  }
  const std::pair<StringRef, bool> others[] = {{"held", getHeld()},
                                               {"waits", getWaits()},
                                               {"multicast", getMulticast()},
                                               {"cluster", getCluster() != 1}};
  for (auto [name, given] : others)
    if (given && !isOfRows)
      return emitOpError() << "router_logits_c1: expected no '" << name
                           << "' without a workspace";
  if (getHeld() != isa<HoldRowsOp>((*this)->getParentOp()))
    return emitOpError() << "router_logits_c3: expected 'held' in "
                            "'cuda.hold_rows', and nowhere else";
  if (getExperts() < 1 || getExperts() > limits::kMaxRouterLogits ||
      getDepth() < 1 || getDepth() > limits::kMaxRouterDepth)
    return emitOpError() << "router_logits_c2: expected 'experts' between 1 "
                            "and "
                         << limits::kMaxRouterLogits
                         << ", and 'depth' between 1 and "
                         << limits::kMaxRouterDepth << ", got " << getExperts()
                         << " and " << getDepth();
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Blocks that share the elements of a row.
static int64_t countParts(int64_t depth, int64_t slices) {
  return llvm::divideCeil(depth, slices * limits::kRouterSlice);
}

int64_t RouterLogitsOp::getRowsSharedBytes(int64_t experts, int64_t depth,
                                           int64_t rows, int64_t blockExperts,
                                           int64_t slices, int64_t weightBytes,
                                           bool multicast) {
  // Padding spreads neighbours over the banks.
  int64_t hidden = rows * (slices * limits::kRouterSlice * 2 + 64);
  int64_t sums = slices * rows * (blockExperts * 4 + 16);
  int64_t blocks =
      llvm::divideCeil(experts, blockExperts) * countParts(depth, slices);
  int64_t logits = (llvm::divideCeil(rows, blocks) + 1) *
                   llvm::alignTo(experts, blockExperts) * 4;
  // Warpgroups multiply weights in shared memory, aligned to 1024 bytes, and
  // wait for each slice of the rows.
  bool byGroups = rows == 64 && blockExperts == 32 && slices == 4 &&
                  weightBytes == 2 && multicast;
  int64_t tiles =
      byGroups ? 1024 - 16 + blockExperts * slices * limits::kRouterSlice * 2
               : 0;
  int64_t barriers = byGroups ? slices * 8 : 16;
  return barriers + std::max({hidden, sums, logits}) + tiles;
}

int64_t RouterLogitsOp::getWorkspaceBytes(int64_t experts, int64_t depth,
                                          int64_t blockExperts,
                                          int64_t slices) {
  constexpr int64_t states = 32;
  return states +
         countParts(depth, slices) * llvm::alignTo(experts, blockExperts) * 4;
}

int64_t RouterLogitsOp::getTilesSharedBytes(int64_t weightBytes, int64_t step,
                                            int64_t stages) {
  return stages * step *
         (limits::kRouterTileRows * 2 +
          limits::kRouterTileExperts * weightBytes);
}

/// Of an element.
static int64_t getWeightBytes(RouterLogitsOp op) {
  Type element = getElementTypeOrSelf(op.getWeights().getType());
  return element.getIntOrFloatBitWidth() / 8;
}

int64_t RouterLogitsOp::getSharedBytes() {
  return getWorkspace()
             ? getRowsSharedBytes(getExperts(), getDepth(), getBlockRows(),
                                  getBlockExperts(), getSlices(),
                                  getWeightBytes(*this), getMulticast())
             : getTilesSharedBytes(getWeightBytes(*this), getStep(),
                                   getStages());
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

bool RouterLogitsOp::waitsForPreviousKernel() { return getWaits(); }
StringRef RouterLogitsOp::getCallee() {
  if (!getWorkspace())
    return "dsv4::router_block_tiles";
  return getHeld() ? "dsv4::hold_router_rows" : "dsv4::router_row_tiles";
}
StringRef RouterLogitsOp::getHeader() { return "mma/router_sources.cuh"; }

std::optional<CallConfig> RouterLogitsOp::getConfig() {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  bool isOfRows = bool(getWorkspace());
  CallConfig config{isOfRows ? "dsv4::RouterRowsDefaults"
                             : "dsv4::RouterDefaults",
                    {{"Weight", getElementTypeOrSelf(getWeights().getType())},
                     {"experts", number(getExperts())},
                     {"depth", number(getDepth())},
                     {"hidden_align", number(getHiddenAlign())},
                     {"weight_align", number(getWeightAlign())}}};
  auto add = [&](StringRef name, int64_t value) {
    config.members.push_back({name, value});
  };
  if (isOfRows) {
    add("rows", number(getBlockRows()));
    add("block_experts", number(getBlockExperts()));
    add("block_slices", number(getSlices()));
    add("cluster", number(getCluster()));
    add("vector", number(getVector()));
    add("row_bytes", getWorkspaceBytes(getExperts(), getDepth(),
                                       getBlockExperts(), getSlices()));
  } else {
    add("step", number(getStep()));
    add("stages", number(getStages()));
  }
  add("shared_bytes", getSharedBytes());
  if (getMulticast())
    config.members.push_back({"multicast", true});
  if (getWaits())
    config.members.push_back({"waits", true});
  return config;
}

SmallVector<CallArgument> RouterLogitsOp::getCallArguments() {
  SmallVector<CallArgument> arguments = {getConsume(), getMemory()};
  if (getWorkspace())
    arguments.push_back(getWorkspace());
  llvm::append_range(arguments,
                     SmallVector<CallArgument>{getHidden(), getHiddenStride(),
                                               getWeights(), getWeightStride(),
                                               getRows()});
  return arguments;
}

bool RouterLogitsOp::isInt32(OpOperand &operand) {
  return operand.get() == getRows();
}

int64_t RouterLogitsOp::getBufferAlignment(OpOperand &memory) {
  // One buffer may have rows and experts.
  uint64_t align = 1;
  if (memory.get() == getHidden())
    align = std::max<uint64_t>(getHiddenAlign(), 2);
  if (memory.get() == getWeights())
    align = std::max<uint64_t>({align, getWeightAlign(),
                                static_cast<uint64_t>(getWeightBytes(*this))});
  if (memory.get() == getWorkspace())
    align = 16;
  return static_cast<int64_t>(align);
}
