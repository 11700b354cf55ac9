//===- CUDAToCUDATranslation.cpp - Spellings of cuda ops -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "dsv4/Dialect/CUDA.h"

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
};

/// base[offset], without the widening of the offset: an index is an index.
FailureOr<std::string> spellElement(Value base, Value offset,
                                    ModuleTranslation &text) {
  auto pointer = text.spellWithin(base, Precedence::Postfix);
  auto index = text.spell(offset);
  if (failed(pointer) || failed(index))
    return failure();
  return *pointer + "[" + index->text + "]";
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
  bool evictLast = op.getPolicy() == cuda::LoadPolicy::EvictLast;
  if (op.getAlign() || evictLast)
    call += ", " + std::to_string(op.getAlign());
  if (evictLast)
    call += ", dsv4::evict_last";
  call += ">(";
  if (Value predicate = op.getPredicate()) {
    auto condition = text.spell(predicate);
    if (failed(condition))
      return failure();
    call += condition->text + ", ";
  }
  call += "&" + *element;
  if (op.getStride())
    call += ", " + std::to_string(strideBytes(op.getStride(), op.getBase()));
  return Spelling{call + ")", Precedence::Postfix};
}

FailureOr<Spelling> CUDATranslation::spell(Operation *op,
                                           ModuleTranslation &text) const {
  if (auto load = dyn_cast<cuda::LoadOp>(op))
    return spellLoad(load, text);
  auto source = text.spell(op->getOperand(0));
  if (failed(source))
    return failure();
  if (auto swap = dyn_cast<cuda::SwapNibblesOp>(op))
    return Spelling{swap.getCallee().str() + "(" + source->text + ")",
                    Precedence::Postfix};
  if (auto dequantize = dyn_cast<cuda::DequantizeOp>(op)) {
    auto factors = text.spell(dequantize.getFactors());
    auto element = text.spellType(
        cast<VectorType>(dequantize.getTile().getType()).getElementType(),
        op->getLoc());
    if (failed(factors) || failed(element))
      return failure();
    return Spelling{dequantize.getCallee().str() + "<" + *element + ">(" +
                        source->text + ", " + factors->text + ")",
                    Precedence::Postfix};
  }
  auto expand = cast<cuda::ExpandOp>(op);
  auto tile = cast<VectorType>(expand.getTile().getType());
  std::string arguments = std::to_string(tile.getDimSize(1));
  if (cast<VectorType>(expand.getFactors().getType()).getRank() == 1)
    arguments = std::to_string(tile.getDimSize(0)) + ", " + arguments;
  return Spelling{expand.getCallee().str() + "<" + arguments + ">(" +
                      source->text + ")",
                  Precedence::Postfix};
}

LogicalResult CUDATranslation::print(Operation *op,
                                     ModuleTranslation &text) const {
  if (isa<cuda::WaitForPredecessorsOp, cuda::LaunchSuccessorsOp>(op)) {
    text.os() << cast<cuda::DeviceCallOpInterface>(op).getCallee() << "();\n";
    return success();
  }
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
  text.os() << "(&" << *element << ", " << value->text;
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
