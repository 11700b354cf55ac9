//===- CUDARegions.cpp - Text of cuda ops with regions -*- C++ -*- -===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDARegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dsv4;

/// A region becomes a lambda that gives one row.
static LogicalResult printPoolRow(Region &region, ModuleTranslation &text) {
  auto row = cast<cuda::PoolRowOp>(region.front().getTerminator());
  auto member = text.declare(region.getArgument(0));
  auto lane = text.declare(region.getArgument(1));
  if (failed(member) || failed(lane))
    return failure();
  auto &os = text.os();
  os << "[&](int " << *member << ", int " << *lane
     << ", auto &row_scores, auto &row_values) {\n";
  os.indent();
  if (failed(text.printBlock(region.front())))
    return failure();
  auto scores = text.spell(row.getScores());
  auto values = text.spell(row.getValues());
  auto there = text.spell(row.getThere());
  if (failed(scores) || failed(values) || failed(there))
    return failure();
  os << "row_scores = " << scores->text << ";\n";
  os << "row_values = " << values->text << ";\n";
  os << "return " << there->text << ";\n";
  os.unindent();
  os << "}";
  return success();
}

/// The call of `pool`: with the template arguments, `counts` before the types
/// of what a thread of a team and a lane of a row hold, the rows, what is
/// printed before it, and a function for one row that ends in a call of its
/// argument `callback`.
template <typename Pool>
static LogicalResult printPoolCall(Pool pool, ArrayRef<int64_t> counts,
                                   Type part, StringRef callback,
                                   function_ref<LogicalResult()> printBefore,
                                   function_ref<LogicalResult()> printArguments,
                                   ModuleTranslation &text) {
  if (!pool.getRows())
    return pool.emitOpError() << "of a whole row has no CUDA spelling";
  auto held = text.spellType(part, pool.getLoc());
  auto result = text.spellType(pool.getPooled().getType(), pool.getLoc());
  auto first = text.spell(pool.getRow()), rows = text.spell(pool.getRows());
  auto row = text.declare(pool.getBody().getArgument(0));
  auto name = text.declare(pool.getPooled());
  if (failed(held) || failed(result) || failed(first) || failed(rows) ||
      failed(row) || failed(name))
    return failure();
  auto &os = text.os();
  os << "const auto " << *name << " = " << pool.getCallee() << "<";
  for (int64_t count : counts)
    os << count << ", ";
  os << *held << ", " << *result << ">(\n";
  os.indent();
  os << first->text << ", " << rows->text << ", ";
  if (failed(printBefore()))
    return failure();
  os << "[&](int " << *row << ", auto " << callback << ") {\n";
  os.indent();
  if (failed(text.printBlock(pool.getBody().front())))
    return failure();
  os << callback << "(";
  if (failed(printArguments()))
    return failure();
  os << ");\n";
  os.unindent();
  os << "});\n";
  os.unindent();
  return success();
}

/// A region of a member and a lane becomes a lambda that gives a vector.
static LogicalResult printPoolPart(Region &region, ModuleTranslation &text) {
  Block &block = region.front();
  auto member = text.declare(block.getArgument(0));
  auto lane = text.declare(block.getArgument(1));
  if (failed(member) || failed(lane))
    return failure();
  auto &os = text.os();
  os << "[&](int " << *member << ", int " << *lane << ") {\n";
  os.indent();
  if (failed(text.printBlock(block)))
    return failure();
  auto part = text.spell(block.getTerminator()->getOperand(0));
  if (failed(part))
    return failure();
  os << "return " << part->text << ";\n";
  os.unindent();
  os << "}, ";
  return success();
}

LogicalResult dsv4::printPool(cuda::PoolOp op, ModuleTranslation &text) {
  cuda::PoolWindowOp window = op.getWindow();
  auto member = cast<cuda::PoolRowOp>(window.getAny().front().getTerminator());
  auto printArguments = [&]() -> LogicalResult {
    auto all = text.spell(window.getAll());
    if (failed(all))
      return failure();
    text.os() << all->text << ", ";
    if (failed(printPoolPart(window.getScores(), text)) ||
        failed(printPoolPart(window.getValues(), text)))
      return failure();
    return printPoolRow(window.getAny(), text);
  };
  auto printOffsets = [&]() -> LogicalResult {
    if (!op.getOffsets().empty())
      return printPoolPart(op.getOffsets(), text);
    text.os() << "dsv4::NoOffsets(), ";
    return success();
  };
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  return printPoolCall(op,
                       {number(op.getCluster()), number(op.getMembers()),
                        number(op.getCount()), number(op.getThreads()),
                        number(op.getLanes())},
                       member.getScores().getType(), "pool_window",
                       printOffsets, printArguments, text);
}

/// Whether the index is used as an integer of 64 bits.
static bool isWide(BlockArgument index) {
  return llvm::any_of(index.getUsers(), [](Operation *user) {
    return isa<arith::IndexCastOp>(user) &&
           user->getResult(0).getType().isInteger(64);
  });
}

/// A region becomes a lambda that sets `results`, if there are any, or else
/// returns what the region gives as a row of a piece.
static LogicalResult printPieceRegion(Region &region,
                                      ArrayRef<StringRef> results,
                                      ModuleTranslation &text) {
  std::string parameters;
  for (BlockArgument argument : region.getArguments()) {
    auto name = text.declare(argument);
    if (failed(name))
      return failure();
    StringRef type = !argument.getType().isIndex() ? "const auto &"
                     : isWide(argument)            ? "long long "
                                                   : "int ";
    parameters += (parameters.empty() ? "" : ", ") + (type + *name).str();
  }
  for (StringRef result : results)
    parameters += (", auto &" + result).str();
  auto &os = text.os();
  os << "[&](" << parameters << ") {\n";
  os.indent();
  if (failed(text.printBlock(region.front())))
    return failure();
  SmallVector<std::string> values;
  for (Value value : region.front().getTerminator()->getOperands()) {
    auto spelled = text.spell(value);
    if (failed(spelled))
      return failure();
    values.push_back(spelled->text);
  }
  for (auto [i, result] : llvm::enumerate(results))
    os << result << " = " << values[i] << ";\n";
  if (results.empty() && !values.empty())
    os << "return dsv4::piece_row(" << llvm::join(values, ", ") << ");\n";
  os.unindent();
  os << "}";
  return success();
}

LogicalResult dsv4::printPoolOnline(cuda::PoolOnlineOp op,
                                    ModuleTranslation &text) {
  cuda::PoolPieceOp piece = op.getPiece();
  auto printArguments = [&]() -> LogicalResult {
    for (Value operand : piece.getOperands()) {
      auto spelled = text.spell(operand);
      if (failed(spelled))
        return failure();
      text.os() << spelled->text << ", ";
    }
    if (failed(printPieceRegion(piece.getBegin(),
                                {"piece_max", "piece_sum", "piece_acc"}, text)))
      return failure();
    text.os() << ", ";
    if (failed(printPieceRegion(piece.getMember(), {}, text)))
      return failure();
    text.os() << ", ";
    return printPieceRegion(piece.getEnd(), {}, text);
  };
  auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  return printPoolCall(
      op,
      {number(op.getCluster()), number(op.getCount()), number(op.getThreads()),
       number(op.getLanes()), number(op.getGroups())},
      piece.getPart(), "pool_piece", [] { return success(); }, printArguments,
      text);
}

/// The call of a selection, with a lambda that gives a chunk and one that takes
/// what is in a place.
LogicalResult dsv4::printSelect(cuda::SelectOp op, ModuleTranslation &text) {
  auto length = text.spell(op.getLength());
  auto column = text.declare(op.getLoad().getArgument(0));
  auto place = text.declare(op.getEmit().getArgument(0));
  auto index = text.declare(op.getEmit().getArgument(1));
  auto value = text.declare(op.getEmit().getArgument(2));
  if (failed(length) || failed(column) || failed(place) || failed(index) ||
      failed(value))
    return failure();
  auto isTrue = [](bool value) { return value ? "true" : "false"; };
  auto &os = text.os();
  bool isWarp = op.getKind() == cuda::SelectKind::Warp;
  os << op.getCallee() << (isWarp ? "<dsv4::WarpShape<" : "<dsv4::TopkShape<")
     << op.getPlaces() << ", ";
  if (!isWarp)
    os << op.getThreads() << ", ";
  os << op.getChunk().getNumElements() << ", " << op.getChunks() << ", ";
  if (isWarp)
    os << isTrue(!op.getEmit().getArgument(2).use_empty());
  else
    os << "dsv4::TopkRead::"
       << (op.getKind() == cuda::SelectKind::Block    ? "whole"
           : op.getKind() == cuda::SelectKind::Rounds ? "first"
                                                      : "sample");
  if (isWarp)
    os << ", " << isTrue(op.getComputed());
  os << ", dsv4::TopkOrder::" << cuda::stringifySelectOrder(op.getOrder())
     << ", " << isTrue(!op.getSmallest()) << ">";
  if (op.getCluster() > 1)
    os << ", " << op.getCluster();
  if (op.getParts() > 1)
    os << ", " << op.getParts();
  if (op.getGroups() > 1)
    os << ", dsv4::WarpGroups<" << op.getGroups() << ", "
       << op.getMost() / op.getGroups() << ", " << op.getKeep() << ", "
       << op.getBy() << ">";
  os << ">(\n";
  os.indent();
  os << length->text;
  if (op.getWorkspace()) {
    auto workspace = text.spell(op.getWorkspace());
    if (failed(workspace))
      return failure();
    os << ", " << workspace->text;
  }
  os << ",\n[&](int " << *column << ") {\n";
  os.indent();
  if (failed(text.printBlock(op.getLoad().front())))
    return failure();
  auto chunk = text.spell(op.getLoad().front().getTerminator()->getOperand(0));
  if (failed(chunk))
    return failure();
  os << "return " << chunk->text << ";\n";
  os.unindent();
  os << "},\n[&](int " << *place << ", int " << *index << ", float " << *value
     << ") {\n";
  os.indent();
  if (failed(text.printBlock(op.getEmit().front())))
    return failure();
  os.unindent();
  os << "});\n";
  os.unindent();
  return success();
}
