//===- VectorToCUDATranslation.cpp - Spellings of vector ops ----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dsv4;

namespace {

class VectorTranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override {
    if (auto both = dyn_cast<vector::InterleaveOp>(op)) {
      auto evens = text.spell(both.getLhs()), odds = text.spell(both.getRhs());
      if (failed(evens) || failed(odds))
        return failure();
      return Spelling{"dsv4::interleave(" + evens->text + ", " + odds->text +
                          ")",
                      Precedence::Postfix};
    }
    if (auto number = dyn_cast<vector::BroadcastOp>(op);
        number && number.getSourceType().isF32())
      return text.spellFill(number.getResult());
    if (auto extract = dyn_cast<vector::ExtractOp>(op);
        extract && extract.getResult().getType().isF32() &&
        extract.getSourceVectorType().getNumElements() == 1) {
      auto source = text.spellWithin(extract.getSource(), Precedence::Postfix);
      if (failed(source))
        return failure();
      return Spelling{*source + "[0]", Precedence::Postfix};
    }
    auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op);
    if (!slice || slice.getSourceVectorType().getRank() != 1)
      return CUDATranslationDialectInterface::spell(op, text);
    auto source = text.spell(slice.getSource());
    if (failed(source))
      return failure();
    int64_t begin = cast<IntegerAttr>(slice.getOffsets()[0]).getInt();
    int64_t count = cast<IntegerAttr>(slice.getSizes()[0]).getInt();
    return Spelling{"dsv4::slice<" + std::to_string(begin) + ", " +
                        std::to_string(count) + ">(" + source->text + ")",
                    Precedence::Postfix};
  }

  StringRef getHeader(Operation *op) const override {
    return isa<vector::InterleaveOp, vector::DeinterleaveOp>(op)
               ? "rows/rows.cuh"
               : "";
  }
};

} // namespace

void dsv4::registerVectorCUDATranslation(DialectRegistry &registry) {
  registry.insert<vector::VectorDialect>();
  registry.addExtension(+[](MLIRContext *, vector::VectorDialect *dialect) {
    dialect->addInterfaces<VectorTranslation>();
  });
}
