//===- FuncToCUDATranslation.cpp - Spellings of func ops --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dsv4;

namespace {

class FuncTranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override {
    auto call = dyn_cast<func::CallOp>(op);
    if (!call || !text.isPrinted(call.getCallee()))
      return CUDATranslationDialectInterface::spell(op, text);
    SmallVector<std::string> arguments;
    for (Value operand : call.getOperands()) {
      auto argument = text.spell(operand);
      if (failed(argument))
        return failure();
      arguments.push_back(argument->text);
    }
    return Spelling{call.getCallee().str() + "(" + llvm::join(arguments, ", ") +
                        ")",
                    Precedence::Postfix};
  }
};

} // namespace

void dsv4::registerFuncCUDATranslation(DialectRegistry &registry) {
  registry.insert<func::FuncDialect>();
  registry.addExtension(+[](MLIRContext *, func::FuncDialect *dialect) {
    dialect->addInterfaces<FuncTranslation>();
  });
}
