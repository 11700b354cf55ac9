//===- Select.cpp - The best elements of a row ----------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Schedule/Limits.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

LogicalResult LoadPartOp::verify() {
  Type element = cast<VectorType>(getValue().getType()).getElementType();
  if (getBase().getType().getElementType() != element)
    return emitOpError() << "load_part_c1: expected elements of "
                         << getBase().getType().getElementType() << ", got "
                         << element;
  auto type = cast<VectorType>(getValue().getType());
  if (type.getRank() == 2 && type.getDimSize(0) != 1)
    return emitOpError() << "load_part_c1: expected one vector, got " << type;
  return success();
}

VectorType SelectOp::getVector() {
  auto yield = dyn_cast<SelectYieldOp>(getLoad().front().getTerminator());
  return yield && yield.getNumOperands() == 1
             ? cast<VectorType>(yield.getOperand(0).getType())
             : VectorType();
}

LogicalResult ElementOp::verify() {
  if (getElement().getType().getNumElements() == 1)
    return success();
  return emitOpError() << "element_c1: expected one element as the result, got "
                       << getElement().getType();
}

LogicalResult ColumnsOp::verify() {
  auto row = cast<VectorType>(getRow().getType());
  auto vector = cast<VectorType>(getVector().getType());
  bool isVector =
      row.getRank() == 1
          ? vector.getRank() == 1 &&
                row.getDimSize(0) % vector.getDimSize(0) == 0
          : vector.getShape() == ArrayRef<int64_t>({1, row.getShape().back()});
  if (!isVector || row.getElementType() != vector.getElementType())
    return emitOpError() << "columns_c1: expected one vector of the fragment "
                         << row << ", got " << vector;
  int64_t lanes = getLanes();
  if (!isLaneCount(lanes) || (row.getRank() == 1 && lanes != 1))
    return emitOpError() << "columns_c2: expected 'lanes' to be a power of two "
                            "of at most 32, 1 for a whole row, got "
                         << lanes;
  return success();
}

LogicalResult SelectOp::verify() {
  auto isBetween = [](uint64_t value, uint64_t min, uint64_t max) {
    return min <= value && value <= max;
  };
  for (auto [name, value] :
       {std::pair("k", getK()), std::pair("max", getMax()),
        std::pair("threads", getThreads()), std::pair("vectors", getVectors()),
        std::pair("cluster", getCluster()), std::pair("blocks", getBlocks())})
    if (!isBetween(value, 1, INT32_MAX))
      return emitOpError() << "select_c2: expected '" << name
                           << "' to be between 1 and 2147483647, got "
                           << static_cast<int64_t>(value);
  if (!isBetween(getGroups(), 1, isWarp() ? getMax() : 1) ||
      getMax() % getGroups() != 0 || !isBetween(getKeep(), 1, getGroups()) ||
      !isBetween(getBy(), 1, getMax() / getGroups()))
    return emitOpError() << "select_c3: expected one group, or, with "
                            "'algorithm warp', some that divide the row, of "
                            "which some are kept, by some of their elements, "
                            "got "
                         << getGroups() << ", " << getKeep() << " and "
                         << getBy();
  SelectAlgorithm algorithm = getAlgorithm();
  bool isGrid = algorithm == SelectAlgorithm::Grid;
  if (algorithm == SelectAlgorithm::Tile ||
      algorithm == SelectAlgorithm::Resident)
    return emitOpError() << "select_c4: 'algorithm "
                         << stringifySelectAlgorithm(algorithm)
                         << "' selects from tiles; expected a "
                            "'cuda.select_tiles' or 'cuda.select_resident' "
                            "for it";
  if (algorithm == SelectAlgorithm::Held)
    return emitOpError() << "select_c4: the lanes of a warp select from rows "
                            "that they hold; expected 'algorithm warp'";
  if (isGrid != (getBlocks() > 1) || isGrid != bool(getWorkspace()))
    return emitOpError() << "select_c4: expected a workspace and more than one "
                            "of 'blocks' with 'algorithm grid', else none and "
                            "1, got "
                         << getBlocks() << " blocks "
                         << (getWorkspace() ? "with" : "without")
                         << " a workspace";
  if (getCluster() > 1 && (isGrid || isWarp()))
    return emitOpError() << "select_c4: expected a 'cluster' of 1 with "
                            "'algorithm "
                         << stringifySelectAlgorithm(algorithm) << "', got "
                         << getCluster();
  if (getGroups() > 1 && (getHead() || getTiesHigh()))
    return emitOpError() << "select_c5: expected one group with "
                         << (getHead() ? "a 'head'" : "'ties high'") << ", got "
                         << getGroups();
  if (getFewRounds() &&
      (algorithm != SelectAlgorithm::Stream || getCluster() > 1))
    return emitOpError() << "select_c4: expected 'few_rounds' of one block "
                            "with 'algorithm stream' alone";
  return success();
}

LogicalResult SelectOp::verifyRegions() {
  auto last = dyn_cast<SelectYieldOp>(getEmit().front().getTerminator());
  if (!getVector() || !last || last.getNumOperands() != 0 ||
      getLoad().getNumArguments() != 1 ||
      !isOffset(getLoad().getArgument(0).getType()) ||
      getEmit().getNumArguments() != 3 ||
      !isOffset(getEmit().getArgument(0).getType()) ||
      !isOffset(getEmit().getArgument(1).getType()) ||
      !getEmit().getArgument(2).getType().isF32())
    return emitOpError()
           << "select_c1: expected regions of (column) and (rank, index, "
              "value) that end in a 'cuda.select_yield' of one and of no "
              "vector";
  if (getHead() && getVector().getNumElements() == 1)
    return emitOpError() << "select_c5: expected no 'head' with vectors of one "
                            "element, which begin anywhere";
  return success();
}

void SelectOp::inferResultRanges(ArrayRef<ConstantIntRanges>,
                                 SetIntRangeFn setRange) {
  auto max = static_cast<int64_t>(getMax());
  setArgumentRange(getLoad().getArgument(0), 0, max - 1, setRange);
  // All lanes of a warp run what is for its first ones.
  int64_t ranks = getK();
  if (isWarp())
    ranks = std::max<int64_t>(ranks, limits::kWarp);
  setArgumentRange(getEmit().getArgument(0), 0, ranks - 1, setRange);
  setArgumentRange(getEmit().getArgument(1), -1, max - 1, setRange);
}

StringRef SelectOp::getCallee() {
  if (isWarp())
    return getGroups() > 1 ? "dsv4::topk_groups" : "dsv4::topk_warp";
  if (getWorkspace())
    return "dsv4::topk_grid";
  if (getCluster() > 1)
    return getAlgorithm() == SelectAlgorithm::Block ? "dsv4::topk_spread"
                                                    : "dsv4::topk_cluster";
  return "dsv4::topk_block";
}
StringRef SelectOp::getHeader() {
  if (isWarp())
    return getGroups() > 1 ? "select/topk_groups.cuh" : "select/topk_warp.cuh";
  if (getWorkspace())
    return "select/topk_grid.cuh";
  if (getCluster() > 1)
    return getAlgorithm() == SelectAlgorithm::Block ? "select/topk_spread.cuh"
                                                    : "select/topk_cluster.cuh";
  return "select/topk_rows.cuh";
}

/// How often a block reads a row, in the words of the device library.
static Enumerator getRead(SelectOp op) {
  constexpr StringLiteral read = "dsv4::TopkRead";
  if (op.getFewRounds())
    return {read, "first"};
  bool isHeld = op.isWarp() || op.getAlgorithm() == SelectAlgorithm::Block;
  return {read, isHeld ? "whole" : "sample"};
}

std::optional<CallConfig> SelectOp::getConfig() {
  CallConfig config{isWarp() ? "dsv4::TopkWarpDefaults" : "dsv4::TopkDefaults",
                    {}};
  auto add = [&](StringRef name, uint64_t value, uint64_t byDefault = 0) {
    if (value != byDefault)
      config.members.push_back({name, static_cast<int64_t>(value)});
  };
  add("k", getK());
  if (!isWarp())
    add("threads", getThreads());
  add("vector", getVector().getNumElements());
  add("vectors", getVectors());
  add("cluster", getCluster(), 1);
  add("blocks_per_row", getBlocks(), 1);
  if (getGroups() > 1) {
    add("groups", getGroups());
    add("group_size", getMax() / getGroups());
    add("kept_groups", getKeep());
    add("best_per_group", getBy());
  }
  if (isWarp()) {
    config.members.push_back(
        {"needs_values", !getEmit().getArgument(2).use_empty()});
    config.members.push_back({"computed", getComputed()});
  } else if (getAlgorithm() != SelectAlgorithm::Block) {
    config.members.push_back({"read", getRead(*this)});
  }
  if (getOrder() != SelectOrder::Unordered)
    config.members.push_back(
        {"order",
         Enumerator{"dsv4::TopkOrder", stringifySelectOrder(getOrder())}});
  if (getSmallest())
    config.members.push_back({"largest", false});
  if (getTiesHigh())
    config.members.push_back({"ties_high", true});
  if (getNanFirst())
    config.members.push_back({"nan_first", true});
  if (getHead())
    config.members.push_back({"has_head", true});
  return config;
}

SmallVector<CallArgument> SelectOp::getCallArguments() {
  SmallVector<CallArgument> arguments = {getLength()};
  if (getHead())
    arguments.push_back(getHead());
  if (getWorkspace())
    arguments.push_back(getWorkspace());
  arguments.push_back(Lambda{&getLoad()});
  arguments.push_back(Lambda{&getEmit()});
  return arguments;
}

bool SelectOp::isInt32(OpOperand &) { return true; }

//===----------------------------------------------------------------------===//
// Elements by index, functions
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  auto elements = cast<VectorType>(getElements().getType());
  if (getBase().getType().getElementType() != elements.getElementType())
    return emitOpError() << "gather_c1: expected elements of "
                         << getBase().getType().getElementType() << ", got "
                         << elements;
  return success();
}
