//===- CUDAToCUDATranslation.cpp - Spellings of cuda ops -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "dsv4/Dialect/CUDA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

namespace {

class CUDATranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override;
  LogicalResult print(Operation *op, ModuleTranslation &text) const override;

private:
  FailureOr<Spelling> spellLoad(cuda::LoadOp op, ModuleTranslation &text) const;
  LogicalResult printPoolRow(Region &region, ModuleTranslation &text) const;
  template <typename Pool>
  LogicalResult printPoolCall(Pool pool, ArrayRef<int64_t> counts, Type part,
                              StringRef callback,
                              function_ref<LogicalResult()> printBefore,
                              function_ref<LogicalResult()> printArguments,
                              ModuleTranslation &text) const;
  LogicalResult printPool(cuda::PoolOp op, ModuleTranslation &text) const;
  LogicalResult printPoolPart(Region &region, ModuleTranslation &text) const;
  LogicalResult printPrefetch(cuda::PrefetchOp op,
                              ModuleTranslation &text) const;
  LogicalResult printPieceRegion(Region &region, ArrayRef<StringRef> results,
                                 ModuleTranslation &text) const;
  LogicalResult printPoolOnline(cuda::PoolOnlineOp op,
                                ModuleTranslation &text) const;
  LogicalResult printSelect(cuda::SelectOp op, ModuleTranslation &text) const;
  FailureOr<Spelling> spellIsLast(cuda::IsLastOp op,
                                  ModuleTranslation &text) const;
  FailureOr<Spelling> spellGather(cuda::GatherOp op,
                                  ModuleTranslation &text) const;
  FailureOr<Spelling> spellWhereValid(cuda::WhereValidOp op,
                                      ModuleTranslation &text) const;
};

/// callee<template arguments>(operands)
FailureOr<Spelling> spellCall(Operation *op, StringRef callee,
                              StringRef templateArguments,
                              ModuleTranslation &text) {
  std::string call = callee.str();
  if (!templateArguments.empty())
    call += ("<" + templateArguments + ">").str();
  call += "(";
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto spelled = text.spell(operand);
    if (failed(spelled))
      return failure();
    call += (i ? ", " : "") + spelled->text;
  }
  return Spelling{call + ")", Precedence::Postfix};
}

/// The element type of codes, and what an encoding is given beside it.
template <typename Op>
FailureOr<std::string> spellEncoding(Op op, ModuleTranslation &text) {
  auto type = text.spellType(
      cast<VectorType>(op.getCodes().getType()).getElementType(), op.getLoc());
  if (failed(type))
    return failure();
  std::string arguments = *type;
  if (op.getTiesDown() || op.getDropNegativeZero())
    arguments += op.getTiesDown() ? ", dsv4::ties_down" : ", dsv4::ties_even";
  if (op.getDropNegativeZero())
    arguments += ", dsv4::drop_negative_zero";
  return arguments;
}

/// base[offset], without the widening of the offset: an index is an index.
FailureOr<std::string> spellElement(Value base, Value offset,
                                    ModuleTranslation &text) {
  auto pointer = text.spellWithin(base, Precedence::Postfix);
  auto index = text.spell(offset);
  if (failed(pointer) || failed(index))
    return failure();
  return *pointer + "[" + index->text + "]";
}

/// A number of which C++ may have no literal.
std::string spellBits(const APFloat &number) {
  if (number.isNegZero())
    return "-0.0f";
  return llvm::formatv("dsv4::as_float({0:X}u)",
                       number.bitcastToAPInt().getZExtValue())
      .str();
}

/// Bytes between chunks that start `stride` elements of `base` apart.
int64_t strideBytes(int64_t stride, Value base) {
  return stride *
         cast<MemRefType>(base.getType())
             .getElementType()
             .getIntOrFloatBitWidth() /
         8;
}

} // namespace

FailureOr<Spelling> CUDATranslation::spellLoad(cuda::LoadOp op,
                                               ModuleTranslation &text) const {
  auto element = spellElement(op.getBase(), op.getOffset(), text);
  if (failed(element))
    return failure();
  if (!isa<VectorType>(op.getValue().getType()) && !op.getPredicate() &&
      !op.getOrdered())
    return Spelling{*element, Precedence::Postfix};
  auto type = text.spellType(op.getValue().getType(), op.getLoc());
  if (failed(type))
    return failure();
  std::string call = op.getCallee().str() + "<" + *type;
  bool plain = op.getPolicy() == cuda::LoadPolicy::Default;
  if ((op.getAlign() || !plain) && !op.getStaged())
    call += ", " + std::to_string(op.getAlign());
  if (!plain)
    call += ", dsv4::" + cuda::stringifyLoadPolicy(op.getPolicy()).str();
  call += ">(";
  if (Value predicate = op.getPredicate()) {
    auto condition = text.spell(predicate);
    if (failed(condition))
      return failure();
    call += condition->text + ", ";
  }
  if (Value chunks = op.getChunks()) {
    auto count = text.spell(chunks);
    if (failed(count))
      return failure();
    call += count->text + ", ";
  }
  call += "&" + *element;
  if (op.getStride())
    call += ", " + std::to_string(strideBytes(op.getStride(), op.getBase()));
  return Spelling{call + ")", Precedence::Postfix};
}

FailureOr<Spelling>
CUDATranslation::spellIsLast(cuda::IsLastOp op, ModuleTranslation &text) const {
  auto base = text.spell(op.getBase());
  auto at = text.spell(op.getAt()), count = text.spell(op.getCount());
  if (failed(base) || failed(at) || failed(count))
    return failure();
  return Spelling{op.getCallee().str() + "<" + std::to_string(op.getLanes()) +
                      ">(" + base->text + ", " + at->text + ", " + count->text +
                      ")",
                  Precedence::Postfix};
}

FailureOr<Spelling>
CUDATranslation::spellGather(cuda::GatherOp op, ModuleTranslation &text) const {
  auto row = spellElement(op.getBase(), op.getOffset(), text);
  auto indices = text.spell(op.getIndices());
  if (failed(row) || failed(indices))
    return failure();
  return Spelling{op.getCallee().str() + "(&" + *row + ", " + indices->text +
                      ", " + std::to_string(op.getCount()) + ")",
                  Precedence::Postfix};
}

FailureOr<Spelling>
CUDATranslation::spellWhereValid(cuda::WhereValidOp op,
                                 ModuleTranslation &text) const {
  auto indices = text.spell(op.getIndices());
  auto values = text.spell(op.getValues());
  auto type = text.spellType(op.getValues().getType(), op.getLoc());
  if (failed(indices) || failed(values) || failed(type))
    return failure();
  // A tile of one number is written as that.
  std::string call = op.getCallee().str();
  if (op.getValues().getDefiningOp<arith::ConstantOp>())
    call += "<" + *type + ">";
  call += "(" + values->text + ", " + indices->text + ", " +
          std::to_string(op.getCount());
  if (!op.getOtherwise().isPosZero())
    call += ", " + spellBits(op.getOtherwise());
  return Spelling{call + ")", Precedence::Postfix};
}

FailureOr<Spelling> CUDATranslation::spell(Operation *op,
                                           ModuleTranslation &text) const {
  if (auto load = dyn_cast<cuda::LoadOp>(op))
    return spellLoad(load, text);
  if (auto last = dyn_cast<cuda::IsLastOp>(op))
    return spellIsLast(last, text);
  if (auto bytes = dyn_cast<cuda::BytesOp>(op)) {
    auto base = text.spellWithin(bytes.getBase(), Precedence::Unary);
    if (failed(base))
      return failure();
    return Spelling{"(const unsigned char *)" + *base, Precedence::Unary};
  }
  if (auto part = dyn_cast<cuda::LoadPartOp>(op)) {
    auto type = text.spellType(part.getValue().getType(), op->getLoc());
    auto element = spellElement(part.getBase(), part.getOffset(), text);
    auto left = text.spell(part.getLeft());
    if (failed(type) || failed(element) || failed(left))
      return failure();
    return Spelling{part.getCallee().str() + "<" + *type + ">(&" + *element +
                        ", " + left->text + ")",
                    Precedence::Postfix};
  }
  if (auto gather = dyn_cast<cuda::GatherOp>(op))
    return spellGather(gather, text);
  if (auto valid = dyn_cast<cuda::WhereValidOp>(op))
    return spellWhereValid(valid, text);
  if (auto keep = dyn_cast<cuda::KeepChunksOp>(op)) {
    auto source = text.spell(keep.getSource());
    auto chunks = text.spell(keep.getChunks());
    if (failed(source) || failed(chunks))
      return failure();
    return Spelling{keep.getCallee().str() + "(" + source->text + ", " +
                        chunks->text + ", " + spellBits(keep.getOtherwise()) +
                        ")",
                    Precedence::Postfix};
  }
  std::string arguments;
  if (auto dequantize = dyn_cast<cuda::DequantizeOp>(op)) {
    auto element = text.spellType(
        cast<VectorType>(dequantize.getTile().getType()).getElementType(),
        op->getLoc());
    if (failed(element))
      return failure();
    arguments = *element;
  } else if (auto encode = dyn_cast<cuda::EncodeOp>(op)) {
    auto spelled = spellEncoding(encode, text);
    if (failed(spelled))
      return failure();
    arguments = *spelled;
  } else if (auto quantize = dyn_cast<cuda::QuantizeOp>(op)) {
    auto spelled = spellEncoding(quantize, text);
    if (failed(spelled))
      return failure();
    arguments = *spelled;
  } else if (auto reduce = dyn_cast<cuda::ReduceOp>(op)) {
    arguments = std::to_string(reduce.getLanes()) + ", " +
                std::to_string(reduce.getGroup());
  } else if (auto columns = dyn_cast<cuda::ColumnsOp>(op)) {
    arguments = std::to_string(columns.getLanes());
  } else if (auto sum = dyn_cast<cuda::PlaceSumOp>(op)) {
    std::string lanes = std::to_string(llvm::PowerOf2Ceil(sum.getPlaces()));
    arguments = lanes + ", " + lanes;
  } else if (auto hadamard = dyn_cast<cuda::HadamardOp>(op)) {
    arguments = std::to_string(hadamard.getLanes());
  } else if (auto expand = dyn_cast<cuda::ExpandOp>(op)) {
    auto tile = cast<VectorType>(expand.getTile().getType());
    arguments = std::to_string(tile.getShape().back());
    if (tile.getRank() == 2 &&
        cast<VectorType>(expand.getFactors().getType()).getRank() == 1)
      arguments = std::to_string(tile.getDimSize(0)) + ", " + arguments;
  } else if (auto steps = dyn_cast<cuda::StepsOp>(op)) {
    arguments = std::to_string(steps.getBegin()) + ", " +
                std::to_string(
                    cast<VectorType>(steps.getPart().getType()).getDimSize(0));
  } else if (auto pad = dyn_cast<cuda::PadOp>(op)) {
    arguments = std::to_string(
        cast<VectorType>(pad.getPadded().getType()).getDimSize(0));
  }
  return spellCall(op, cast<cuda::DeviceCallOpInterface>(op).getCallee(),
                   arguments, text);
}

/// A region becomes a lambda that gives one row.
LogicalResult CUDATranslation::printPoolRow(Region &region,
                                            ModuleTranslation &text) const {
  auto row = cast<cuda::PoolRowOp>(region.front().getTerminator());
  auto member = text.spell(region.getArgument(0));
  auto lane = text.spell(region.getArgument(1));
  if (failed(member) || failed(lane))
    return failure();
  auto &os = text.os();
  os << "[&](int " << member->text << ", int " << lane->text
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
LogicalResult
CUDATranslation::printPoolCall(Pool pool, ArrayRef<int64_t> counts, Type part,
                               StringRef callback,
                               function_ref<LogicalResult()> printBefore,
                               function_ref<LogicalResult()> printArguments,
                               ModuleTranslation &text) const {
  if (!pool.getRows())
    return pool.emitOpError() << "of a whole row has no CUDA spelling";
  auto held = text.spellType(part, pool.getLoc());
  auto result = text.spellType(pool.getPooled().getType(), pool.getLoc());
  auto first = text.spell(pool.getRow()), rows = text.spell(pool.getRows());
  auto row = text.spell(pool.getBody().getArgument(0));
  if (failed(held) || failed(result) || failed(first) || failed(rows) ||
      failed(row))
    return failure();
  auto &os = text.os();
  os << "const auto " << getEmittedName(pool.getLoc()) << " = "
     << pool.getCallee() << "<";
  for (int64_t count : counts)
    os << count << ", ";
  os << *held << ", " << *result << ">(\n";
  os.indent();
  os << first->text << ", " << rows->text << ", ";
  if (failed(printBefore()))
    return failure();
  os << "[&](int " << row->text << ", auto " << callback << ") {\n";
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
LogicalResult CUDATranslation::printPoolPart(Region &region,
                                             ModuleTranslation &text) const {
  Block &block = region.front();
  auto member = text.spell(block.getArgument(0));
  auto lane = text.spell(block.getArgument(1));
  if (failed(member) || failed(lane))
    return failure();
  auto &os = text.os();
  os << "[&](int " << member->text << ", int " << lane->text << ") {\n";
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

LogicalResult CUDATranslation::printPool(cuda::PoolOp op,
                                         ModuleTranslation &text) const {
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
LogicalResult CUDATranslation::printPieceRegion(Region &region,
                                                ArrayRef<StringRef> results,
                                                ModuleTranslation &text) const {
  std::string parameters;
  for (BlockArgument argument : region.getArguments()) {
    auto name = text.spell(argument);
    if (failed(name))
      return failure();
    StringRef type = !argument.getType().isIndex() ? "const auto &"
                     : isWide(argument)            ? "long long "
                                                   : "int ";
    parameters += (parameters.empty() ? "" : ", ") + (type + name->text).str();
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

LogicalResult CUDATranslation::printPoolOnline(cuda::PoolOnlineOp op,
                                               ModuleTranslation &text) const {
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
LogicalResult CUDATranslation::printSelect(cuda::SelectOp op,
                                           ModuleTranslation &text) const {
  if (op.getKind() == cuda::SelectKind::Row)
    return op.emitOpError() << "of a whole row has no CUDA spelling";
  auto length = text.spell(op.getLength());
  auto column = text.spell(op.getLoad().getArgument(0));
  auto place = text.spell(op.getEmit().getArgument(0));
  auto index = text.spell(op.getEmit().getArgument(1));
  auto value = text.spell(op.getEmit().getArgument(2));
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
  os << ",\n[&](int " << column->text << ") {\n";
  os.indent();
  if (failed(text.printBlock(op.getLoad().front())))
    return failure();
  auto chunk = text.spell(op.getLoad().front().getTerminator()->getOperand(0));
  if (failed(chunk))
    return failure();
  os << "return " << chunk->text << ";\n";
  os.unindent();
  os << "},\n[&](int " << place->text << ", int " << index->text << ", float "
     << value->text << ") {\n";
  os.indent();
  if (failed(text.printBlock(op.getEmit().front())))
    return failure();
  os.unindent();
  os << "});\n";
  os.unindent();
  return success();
}

LogicalResult CUDATranslation::printPrefetch(cuda::PrefetchOp op,
                                             ModuleTranslation &text) const {
  auto element = spellElement(op.getBase(), op.getOffset(), text);
  if (failed(element))
    return failure();
  std::string condition;
  if (Value predicate = op.getPredicate()) {
    auto spelled = text.spell(predicate);
    if (failed(spelled))
      return failure();
    condition = spelled->text + ", ";
  }
  text.os() << op.getCallee() << "(" << condition << "&" << *element << ");\n";
  return success();
}

LogicalResult CUDATranslation::print(Operation *op,
                                     ModuleTranslation &text) const {
  if (auto pool = dyn_cast<cuda::PoolOp>(op))
    return printPool(pool, text);
  if (auto pool = dyn_cast<cuda::PoolOnlineOp>(op))
    return printPoolOnline(pool, text);
  if (auto select = dyn_cast<cuda::SelectOp>(op))
    return printSelect(select, text);
  if (isa<cuda::WaitForPredecessorsOp, cuda::LaunchSuccessorsOp>(op)) {
    text.os() << cast<cuda::DeviceCallOpInterface>(op).getCallee() << "();\n";
    return success();
  }
  if (auto prefetch = dyn_cast<cuda::PrefetchOp>(op))
    return printPrefetch(prefetch, text);
  auto store = cast<cuda::StoreOp>(op);
  auto element = spellElement(store.getBase(), store.getOffset(), text);
  auto value = text.spell(store.getValue());
  if (failed(element) || failed(value))
    return failure();
  if (!isa<VectorType>(store.getValue().getType())) {
    text.os() << *element << " = " << value->text << ";\n";
    return success();
  }
  text.os() << store.getCallee();
  if (store.getAlign())
    text.os() << "<" << store.getAlign() << ">";
  text.os() << "(";
  if (Value chunks = store.getChunks()) {
    auto count = text.spell(chunks);
    if (failed(count))
      return failure();
    text.os() << count->text << ", ";
  }
  text.os() << "&" << *element << ", " << value->text;
  if (store.getStride())
    text.os() << ", " << strideBytes(store.getStride(), store.getBase());
  text.os() << ");\n";
  return success();
}

void dsv4::registerCUDACUDATranslation(DialectRegistry &registry) {
  registry.insert<cuda::CUDADialect>();
  registry.addExtension(+[](MLIRContext *, cuda::CUDADialect *dialect) {
    dialect->addInterfaces<CUDATranslation>();
  });
}
