//===- MathToCUDATranslation.cpp - Spellings of math ops --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace dsv4;

namespace {

class MathTranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override {
    if (!isa<math::SqrtOp>(op))
      return CUDATranslationDialectInterface::spell(op, text);
    auto operand = text.spell(op->getOperand(0));
    if (failed(operand))
      return failure();
    return Spelling{"dsv4::sqrt(" + operand->text + ")", Precedence::Postfix};
  }

  StringRef getHeader(Operation *op) const override {
    return isa<math::SqrtOp>(op) ? "rows/rows.cuh" : "";
  }
};

} // namespace

void dsv4::registerMathCUDATranslation(DialectRegistry &registry) {
  registry.insert<math::MathDialect>();
  registry.addExtension(+[](MLIRContext *, math::MathDialect *dialect) {
    dialect->addInterfaces<MathTranslation>();
  });
}
