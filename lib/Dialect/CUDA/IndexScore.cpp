//===- IndexScore.cpp - Scores of keys, tile by tile ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Dialect/IndexFormats.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;
using namespace dsv4::cuda;

#define GET_OP_CLASSES
#include "CUDAScoreOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult IndexScoreOp::verify() {
  if (failed(verifyIndexFormats(*this)) || failed(verifyMma()))
    return failure();
  uint64_t unit = isMma() ? limits::kScoreTileKeys * getTiles() : limits::kWarp;
  for (IntegerAttr number :
       {getRowsAttr(), getTileColumnsAttr(), getHeadsAttr(), getDimAttr(),
        getPageSizeAttr(), getQueryAlignAttr(), getKeyAlignAttr(),
        getScaleAlignAttr(), getPageAlignAttr()})
    if (number.getInt() < 1 || number.getInt() > INT32_MAX ||
        getTileColumns() % unit != 0)
      return emitOpError() << "index_score_c2: expected positive numbers, and "
                              "whole warps of 'tile_columns', got "
                           << number.getInt() << " and " << getTileColumns()
                           << " 'tile_columns'";
  return success();
}

/// Clause index_score_c4.
LogicalResult IndexScoreOp::verifyMma() {
  SmallVector<uint64_t> numbers = {getTiles(), getStages(), getSlots(),
                                   getEntryBytes(), getScaleEntryBytes()};
  bool hasSome = llvm::any_of(numbers, [](uint64_t n) { return n != 0; });
  if (!isMma() && (getAllRows() || getKeysOnce() || hasSome))
    return emitOpError() << "index_score_c4: expected no 'of', 'keys_once', "
                            "'tiles', 'stages', 'slots' and strides in bytes "
                            "without algorithm mma";
  if (!isMma())
    return success();
  bool areLegal = llvm::all_of(
      numbers, [](uint64_t n) { return n >= 1 && n <= INT32_MAX; });
  if (areLegal && getTiles() <= 2 && getRows() <= limits::kMaxMmaRows &&
      getHeads() <= limits::kMaxScoreHeads && getDim() == limits::kScoreDim &&
      getQueryFormat() != "bf16" && getKeyFormat() != "bf16")
    return success();
  return emitOpError()
         << "index_score_c4: expected 1 or 2 'tiles', positive 'stages', "
            "'slots', 'entry_bytes' and 'scale_entry_bytes', at most "
         << limits::kMaxMmaRows << " 'rows' and " << limits::kMaxScoreHeads
         << " 'heads', a 'dim' of 128 and no bf16 with algorithm mma";
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
  // The runtime counts rows with 32 bits.
  int64_t last = getAllRows() ? INT32_MAX : static_cast<int64_t>(getRows()) - 1;
  for (Region *region : {&getRow(), &getPage()})
    setArgumentRange(region->getArgument(0), 0, last, setRange);
  setArgumentRange(getPage().getArgument(1), 0,
                   INT32_MAX / static_cast<int64_t>(getPageSize()), setRange);
}

//===----------------------------------------------------------------------===//
// The call
//===----------------------------------------------------------------------===//

StringRef IndexScoreOp::getCallee() {
  if (!isMma())
    return "dsv4::index_score_plain";
  return getAllRows() ? "dsv4::index_score_grid" : "dsv4::index_score_block";
}
StringRef IndexScoreOp::getHeader() {
  return isMma() ? "mma/index_score_rows.cuh" : "mma/index_score_plain.cuh";
}

static bool isExact(StringRef keyFormat) { return keyFormat == "nvfp4"; }

int64_t IndexScoreOp::getMmaSharedBytes(int64_t rows, int64_t heads,
                                        StringRef keyFormat, int64_t tiles,
                                        int64_t stages, int64_t slots) {
  int64_t headTile = heads <= 32 ? 32 : 64;
  int64_t headTiles = llvm::divideCeil(heads, headTile);
  int64_t headBytes = headTile * headTiles * limits::kScoreDim;
  int64_t weightBytes = headTiles * (headTile / 4 + 4) * 16;
  // Weights in f16, for sums of MXFP4 keys.
  int64_t halfBytes = keyFormat == "mxfp4" ? headTiles * 1024 : 0;
  int64_t keyBytes =
      (keyFormat == "e4m3" ? 128 : 64) + (keyFormat == "nvfp4" ? 8 : 4);
  // A ring, and the space that products of warps need.
  int64_t ring =
      slots * rows *
      (headBytes * (isExact(keyFormat) ? 2 : 1) + weightBytes + halfBytes);
  ring += llvm::alignTo(slots * rows * 4, 16) + slots * 16 + stages * 16;
  ring = llvm::alignTo(ring + 16 * (stages + slots), 128) +
         stages * tiles * limits::kScoreTileKeys * keyBytes;
  int64_t plain = rows * (headBytes * 2 + weightBytes);
  constexpr int64_t alignment = 1024;
  return std::max(ring, plain) + alignment - 16;
}

int64_t IndexScoreOp::getSharedBytes() {
  return isMma() ? getMmaSharedBytes(getRows(), getHeads(), getKeyFormat(),
                                     getTiles(), getStages(), getSlots())
                 : getSharedBytes(getRows(), getHeads(), getDim());
}

CallConfig IndexScoreOp::getMmaConfig() {
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  CallConfig config{
      "dsv4::IndexRowsDefaults",
      {{"keys", Enumerator{"dsv4::IndexFormat", getKeyFormat()}},
       {"query", Enumerator{"dsv4::IndexFormat", getQueryFormat()}}}};
  if (isExact(getKeyFormat()))
    config.members.push_back({"exact", true});
  // The alignment of every key, and the width of the words that read it.
  int64_t align =
      std::gcd(std::gcd(number(getPageAlign()), number(getEntryBytes())),
               limits::kMaxAccessBits / 8);
  for (auto [name, value] :
       std::initializer_list<std::pair<StringRef, int64_t>>{
           {"heads", number(getHeads())},
           {"queries", number(getRows())},
           {"page_size", number(getPageSize())},
           {"payload_stride", number(getEntryBytes())},
           {"scale_stride", number(getScaleEntryBytes())},
           {"align", align},
           {"warpgroups",
            number(getTileColumns() / (limits::kScoreTileKeys * getTiles()))},
           {"tiles", number(getTiles())},
           {"stages", number(getStages())},
           {"slots", number(getSlots())},
           {"shared_bytes", getSharedBytes()}})
    config.members.push_back({name, value});
  if (getKeyBase())
    config.members.push_back({"key_base", number(getKeyBase())});
  if (getScaleBase())
    config.members.push_back({"scale_base", number(getScaleBase())});
  if (getKeysOnce())
    config.members.push_back({"keys_once", true});
  return config;
}

std::optional<CallConfig> IndexScoreOp::getConfig() {
  if (isMma())
    return getMmaConfig();
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
  if (isMma()) {
    SmallVector<CallArgument> arguments = {getConsume(), getMemory(),
                                           getColumns()};
    if (getAllRows())
      arguments.push_back(getAllRows());
    llvm::append_range(arguments,
                       SmallVector<CallArgument>{
                           getQueries(), getQueryHead(), orNone(getScales()),
                           orZero(getScaleHead()), getWeights(), getKeys(),
                           getKeyPage(), getKeyScales(), getKeyScalePage(),
                           Lambda{&getRow(), "", {}, "dsv4::index_row"},
                           Lambda{&getPage()}});
    return arguments;
  }
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
  return operand.get() == getColumns() || operand.get() == getAllRows();
}

int64_t IndexScoreOp::getBufferAlignment(OpOperand &memory) {
  // One buffer may have keys and their scales.
  uint64_t align = 1;
  if (memory.get() == getWeights())
    align = sizeof(float);
  if (memory.get() == getQueries())
    align = std::max(align, getQueryAlign());
  if (memory.get() == getKeys())
    align = std::max(align, getKeyAlign());
  if (memory.get() == getKeyScales())
    align = std::max(align, getScaleAlign());
  if (isMma() && (memory.get() == getKeys() || memory.get() == getKeyScales()))
    align = std::max(align, getPageAlign());
  // The scales of a head are read as one word.
  if (isMma() && memory.get() == getScales())
    align = std::max<uint64_t>(align, 4);
  return static_cast<int64_t>(align);
}
