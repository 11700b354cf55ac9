//===- SCFToCUDATranslation.cpp - Spellings of scf ops ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Target/CUDA/ModuleTranslation.h"

#include "dsv4/Dialect/CUDA/ElementOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dsv4;

namespace {

class SCFTranslation : public CUDATranslationDialectInterface {
public:
  using CUDATranslationDialectInterface::CUDATranslationDialectInterface;

  /// An `scf.if` with a result is a conditional expression: its branches hold
  /// expressions alone.
  FailureOr<Spelling> spell(Operation *op,
                            ModuleTranslation &text) const override {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch || branch.getNumResults() != 1)
      return op->emitOpError() << "has no CUDA spelling";
    for (Region *region : branch.getRegions())
      for (Operation &inner : region->front().without_terminator())
        if (inner.getNumResults() != 1 ||
            !getEmittedName(inner.getLoc()).empty())
          return inner.emitOpError()
                 << "has no CUDA spelling within a conditional expression";
    auto condition = text.spellWithin(branch.getCondition(), Precedence::Or);
    auto values = text.spellPair(branch.thenYield().getOperand(0),
                                 branch.elseYield().getOperand(0));
    if (failed(condition) || failed(values))
      return failure();
    return spellChoice(*condition, *values);
  }

  /// for (int i = 0; i < 7168; i += 1024)
  LogicalResult printLoop(scf::ForOp loop, ModuleTranslation &text) const {
    if (loop.getNumResults() != 0)
      return loop.emitOpError() << "has no CUDA spelling with results";
    auto bounds = text.spellPair(loop.getLowerBound(), loop.getUpperBound());
    auto step = text.spell(loop.getStep());
    auto type = text.spellType(loop.getInductionVar().getType(), loop.getLoc());
    auto name = text.declare(loop.getInductionVar());
    if (failed(bounds) || failed(step) || failed(type) || failed(name))
      return failure();
    text.os() << "for (" << *type << " " << *name << " = " << bounds->first.text
              << "; " << *name << " < "
              << bounds->second.within(Precedence::Relational) << "; " << *name
              << " += " << step->text << ") {\n";
    text.os().indent();
    if (failed(text.printBlock(*loop.getBody())))
      return failure();
    text.os().unindent();
    text.os() << "}\n";
    return success();
  }

  LogicalResult print(Operation *op, ModuleTranslation &text) const override {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return printLoop(loop, text);
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch)
      return CUDATranslationDialectInterface::print(op, text);
    auto condition = text.spell(branch.getCondition());
    if (failed(condition))
      return failure();
    text.os() << "if (" << condition->text << ") {\n";
    text.os().indent();
    bool hasElse =
        branch.elseBlock() && !branch.elseBlock()->without_terminator().empty();
    auto printElse = [&] {
      text.os().unindent();
      text.os() << "} else {\n";
      text.os().indent();
    };
    LogicalResult printed =
        hasElse ? text.printBranches(*branch.thenBlock(), *branch.elseBlock(),
                                     printElse)
                : text.printBlock(*branch.thenBlock());
    text.os().unindent();
    text.os() << "}\n";
    return printed;
  }
};

} // namespace

void dsv4::registerSCFCUDATranslation(DialectRegistry &registry) {
  registry.insert<scf::SCFDialect>();
  registry.addExtension(+[](MLIRContext *, scf::SCFDialect *dialect) {
    dialect->addInterfaces<SCFTranslation>();
  });
}
