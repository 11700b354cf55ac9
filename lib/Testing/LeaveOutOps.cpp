//===- LeaveOutOps.cpp - Makes a failing program smaller ------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own code, because MLIR's pass `reduction-tree` erases ops whose results are
// used, and then clones the invalid program.
//
//===----------------------------------------------------------------------===//

#include "dsv4/Testing/LeaveOutOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"

using namespace mlir;

namespace {

/// The ops that can be left out, the last one first.
SmallVector<Operation *> listOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (op != module && !op->hasTrait<OpTrait::IsTerminator>() &&
        (op->use_empty() || isa<DestinationStyleOpInterface>(op)))
      ops.push_back(op);
  });
  std::reverse(ops.begin(), ops.end());
  return ops;
}

void leaveOut(Operation *op) {
  if (auto tied = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      result.replaceAllUsesWith(tied.getTiedOpOperand(result)->get());
  op->erase();
}

struct LeaveOutOps : PassWrapper<LeaveOutOps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LeaveOutOps)

  LeaveOutOps() = default;
  LeaveOutOps(const LeaveOutOps &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "dsv4-leave-out-ops"; }
  StringRef getDescription() const override {
    return "Leaves out ops that a failure does not need";
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    Tester tester(test, /*testScriptArgs=*/{});
    if (!isInteresting(tester, module)) {
      module.emitError() << "the tester '" << StringRef(test)
                         << "' does not exit with 1 for the whole program: "
                            "there is nothing to keep";
      return signalPassFailure();
    }
    // What an op needs can be left out once the op is.
    bool changed = true;
    while (changed) {
      changed = false;
      for (size_t i = 0; i < listOps(module).size();) {
        OwningOpRef<ModuleOp> smaller = module.clone();
        leaveOut(listOps(*smaller)[i]);
        if (!isInteresting(tester, *smaller)) {
          ++i;
          continue;
        }
        module.getBodyRegion().takeBody(smaller->getBodyRegion());
        changed = true;
      }
    }
  }

  Option<std::string> test{
      *this, "test",
      llvm::cl::desc("program that exits with 1 for a file that still fails")};

private:
  static bool isInteresting(const Tester &tester, ModuleOp module) {
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    return succeeded(verify(module)) &&
           tester.isInteresting(module).first == Tester::Interestingness::True;
  }
};

} // namespace

void dsv4::registerLeaveOutOpsPass() { PassRegistration<LeaveOutOps>(); }
