//===- Diagnostics.h - MLIR diagnostics as one-line errors ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_DIAGNOSTICS_H
#define DSV4_SUPPORT_DIAGNOSTICS_H

#include "dsv4-runtime/Status.h"

#include "mlir/IR/Diagnostics.h"

namespace dsv4 {

/// Makes a tool print errors without the op that they are about, unless
/// --mlir-print-op-on-diagnostic is given. Called before the command line is
/// parsed.
void hideOpsInDiagnostics();

/// While it exists, keeps the first error of a context and drops the rest.
class FirstError : public mlir::ScopedDiagnosticHandler {
public:
  explicit FirstError(mlir::MLIRContext *context);

  /// The error in one line, "file:line:column: message".
  rt::Status status(rt::Code code) const;

private:
  std::string text;
};

} // namespace dsv4

#endif // DSV4_SUPPORT_DIAGNOSTICS_H
