//===- Diagnostics.cpp - MLIR diagnostics as one-line errors ----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dsv4;

/// Hides the op in messages, unless the option asks for it.
void dsv4::hideOpsInDiagnostics() {
  registerMLIRContextCLOptions();
  auto &options = llvm::cl::getRegisteredOptions();
  auto found = options.find("mlir-print-op-on-diagnostic");
  if (found != options.end())
    static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(false);
}

/// The position in a file that `loc` contains, or null.
static FileLineColLoc findSource(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location part) {
    found = dyn_cast<FileLineColLoc>(part);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

FirstError::FirstError(MLIRContext *context)
    : ScopedDiagnosticHandler(context) {
  setHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error || !text.empty())
      return success();
    llvm::raw_string_ostream os(text);
    if (FileLineColLoc at = findSource(diagnostic.getLocation()))
      os << at.getFilename().getValue() << ":" << at.getLine() << ":"
         << at.getColumn() << ": ";
    os << diagnostic;
    std::replace(text.begin(), text.end(), '\n', ' ');
    return success();
  });
}

rt::Status FirstError::status(rt::Code code) const {
  return rt::Status(code, text.empty() ? "the compiler failed without saying "
                                         "why: please report this program"
                                       : text);
}
