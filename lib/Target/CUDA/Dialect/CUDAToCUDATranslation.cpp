//===- CUDAToCUDATranslation.cpp - Spellings of cuda ops -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDARegions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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
  LogicalResult printPrefetch(cuda::PrefetchOp op,
                              ModuleTranslation &text) const;
  FailureOr<Spelling> spellGather(cuda::GatherOp op,
                                  ModuleTranslation &text) const;
  FailureOr<Spelling> spellWhereValid(cuda::WhereValidOp op,
                                      ModuleTranslation &text) const;
};

/// callee<template arguments>(operands, last arguments)
FailureOr<Spelling> spellCall(Operation *op, StringRef callee,
                              StringRef templateArguments,
                              ModuleTranslation &text,
                              ArrayRef<std::string> lastArguments = {}) {
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
  for (const std::string &argument : lastArguments)
    call += ", " + argument;
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
  // A tile of one number is written as that.
  std::string type;
  if (op.getValues().getDefiningOp<arith::ConstantOp>()) {
    auto spelled = text.spellType(op.getValues().getType(), op.getLoc());
    if (failed(spelled))
      return failure();
    type = *spelled;
  }
  SmallVector<std::string> last = {std::to_string(op.getCount())};
  if (!op.getOtherwise().isPosZero())
    last.push_back(spellBits(op.getOtherwise()));
  return spellCall(op, op.getCallee(), type, text, last);
}

FailureOr<Spelling> CUDATranslation::spell(Operation *op,
                                           ModuleTranslation &text) const {
  if (auto load = dyn_cast<cuda::LoadOp>(op))
    return spellLoad(load, text);
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
  if (auto keep = dyn_cast<cuda::KeepChunksOp>(op))
    return spellCall(op, keep.getCallee(), "", text,
                     spellBits(keep.getOtherwise()));
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
  } else if (auto last = dyn_cast<cuda::IsLastOp>(op)) {
    arguments = std::to_string(last.getLanes());
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
