//===- IndexScore.cpp - Scores of keys, tile by tile ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

#define GET_OP_CLASSES
#include "CUDAScoreOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Whether the device library has it (IndexFormat).
static bool isFormat(StringRef name) {
  return name == "e4m3" || name == "mxfp4" || name == "nvfp4" || name == "bf16";
}

LogicalResult IndexScoreOp::verify() {
  StringRef query = getQueryFormat(), key = getKeyFormat();
  if (!isFormat(query) || !isFormat(key) ||
      bool(getScales()) != (query == "mxfp4") ||
      bool(getKeyScales()) == (key == "bf16"))
    return emitOpError() << "index_score_c1: expected formats \"e4m3\", "
                            "\"mxfp4\", \"nvfp4\" or \"bf16\" and their "
                            "scales, got \""
                         << query << "\" " << (getScales() ? "with" : "without")
                         << " 'scales' and \"" << key << "\" "
                         << (getKeyScales() ? "with" : "without")
                         << " 'key_scales'";
  for (IntegerAttr number :
       {getRowsAttr(), getTileColumnsAttr(), getHeadsAttr(), getDimAttr(),
        getPageSizeAttr(), getQueryAlignAttr(), getKeyAlignAttr(),
        getScaleAlignAttr()})
    if (number.getInt() < 1 || number.getInt() > INT32_MAX ||
        getTileColumns() % 32 != 0)
      return emitOpError() << "index_score_c2: expected positive numbers, and "
                              "whole warps of 'tile_columns', got "
                           << number.getInt() << " and " << getTileColumns()
                           << " 'tile_columns'";
  return success();
}

/// Whether a region of `arguments` numbers ends in a yield of `results`.
static bool isNumberRegion(Region &region, unsigned arguments,
                           unsigned results) {
  auto yield = dyn_cast<TileYieldOp>(region.front().getTerminator());
  return yield && region.getNumArguments() == arguments &&
         yield.getNumOperands() == results &&
         llvm::all_of(region.getArgumentTypes(), isOffset) &&
         llvm::all_of(yield.getOperandTypes(), isOffset);
}

LogicalResult IndexScoreOp::verifyRegions() {
  if (isNumberRegion(getRow(), 1, 5) && isNumberRegion(getPage(), 2, 1))
    return success();
  return emitOpError() << "index_score_c3: expected regions of (tile_row) and "
                          "(tile_row, number) that end in a 'cuda.tile_yield' "
                          "of five integers and of one";
}

/// Arguments have their ranges whatever the operands have: `consume` has none.
void IndexScoreOp::inferResultRangesFromOptional(ArrayRef<IntegerValueRange>,
                                                 SetIntLatticeFn setLattice) {
  auto setRange = [&](Value value, const ConstantIntRanges &range) {
    setLattice(value, IntegerValueRange(range));
  };
  for (Region *region : {&getRow(), &getPage()})
    setArgumentRange(region->getArgument(0), 0,
                     static_cast<int64_t>(getRows()) - 1, setRange);
  setArgumentRange(getPage().getArgument(1), 0,
                   INT32_MAX / static_cast<int64_t>(getPageSize()), setRange);
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

StringRef IndexScoreOp::getCallee() { return "dsv4::index_score_plain"; }
StringRef IndexScoreOp::getHeader() { return "mma/index_score_plain.cuh"; }

std::optional<CallConfig> IndexScoreOp::getConfig() {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  auto format = [](StringRef name) {
    return Enumerator{"dsv4::IndexFormat", name};
  };
  CallConfig config{"dsv4::IndexPlainDefaults",
                    {{"rows", number(getRows())},
                     {"tile_columns", number(getTileColumns())},
                     {"heads", number(getHeads())},
                     {"dim", number(getDim())},
                     {"query", format(getQueryFormat())},
                     {"key", format(getKeyFormat())},
                     {"page_size", number(getPageSize())},
                     {"shared_bytes", getSharedBytes()}}};
  if (getKeyBase())
    config.members.push_back({"key_base", number(getKeyBase())});
  if (getScaleBase())
    config.members.push_back({"scale_base", number(getScaleBase())});
  config.members.push_back({"query_align", number(getQueryAlign())});
  config.members.push_back({"key_align", number(getKeyAlign())});
  if (getKeyScales())
    config.members.push_back({"scale_align", number(getScaleAlign())});
  return config;
}

SmallVector<CallArgument> IndexScoreOp::getCallArguments() {
  // What is not there is not read.
  auto orNone = [](Value value) {
    return value ? CallArgument(value)
                 : CallArgument(Temporary{"dsv4::NoScales"});
  };
  auto orZero = [](Value value) {
    return value ? CallArgument(value) : CallArgument(int64_t(0));
  };
  return {getConsume(),
          getMemory(),
          getColumns(),
          getQueries(),
          getQueryHead(),
          orNone(getScales()),
          orZero(getScaleHead()),
          getWeights(),
          getKeys(),
          getKeyPage(),
          getKeyEntry(),
          orNone(getKeyScales()),
          orZero(getKeyScalePage()),
          orZero(getKeyScaleEntry()),
          Lambda{&getRow(), "", {}, "dsv4::index_row"},
          Lambda{&getPage()}};
}

/// The runtime refuses more.
bool IndexScoreOp::isInt32(OpOperand &operand) {
  return operand.get() == getColumns();
}

int64_t IndexScoreOp::getBufferAlignment(OpOperand &memory) {
  // One buffer may have keys and their scales.
  uint64_t align = 1;
  if (memory.get() == getQueries())
    align = std::max(align, getQueryAlign());
  if (memory.get() == getKeys())
    align = std::max(align, getKeyAlign());
  if (memory.get() == getKeyScales())
    align = std::max(align, getScaleAlign());
  return static_cast<int64_t>(align);
}
