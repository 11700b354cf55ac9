//===- GPUToCUDATranslation.cpp - Spellings of gpu ops ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace dsv4;

/// What CUDA has as an unsigned integer for each axis.
static Spelling spellBuiltin(StringRef name, gpu::Dimension dimension) {
  Spelling spelling{(name + stringifyDimension(dimension)).str(),
                    Precedence::Postfix};
  spelling.sign = Sign::Unsigned;
  return spelling;
}

namespace {

class GPUTranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override {
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
      return spellBuiltin("threadIdx.", id.getDimension());
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      return spellBuiltin("blockIdx.", id.getDimension());
    if (auto size = dyn_cast<gpu::GridDimOp>(op))
      return spellBuiltin("gridDim.", size.getDimension());
    return CUDATranslationDialectInterface::spell(op, text);
  }
};

} // namespace

void dsv4::registerGPUCUDATranslation(DialectRegistry &registry) {
  registry.insert<gpu::GPUDialect>();
  registry.addExtension(+[](MLIRContext *, gpu::GPUDialect *dialect) {
    dialect->addInterfaces<GPUTranslation>();
  });
}
