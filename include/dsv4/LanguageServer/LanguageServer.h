//===- LanguageServer.h - MLIR's language server, and more ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LANGUAGESERVER_LANGUAGESERVER_H
#define DSV4_LANGUAGESERVER_LANGUAGESERVER_H

#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/ArrayRef.h"

namespace dsv4 {

/// Serves the dialects of `registry` on stdin and stdout until the client ends
/// the server, with the options of mlir-lsp-server. A hover over an op also
/// shows its documentation. That of dsv4's ops is known. `pages` has that of
/// others: each is what `mlir-tblgen -gen-dialect-doc` prints.
llvm::LogicalResult
runLanguageServer(int argc, char **argv, mlir::DialectRegistry &registry,
                  llvm::ArrayRef<llvm::StringRef> pages = {});

} // namespace dsv4

#endif // DSV4_LANGUAGESERVER_LANGUAGESERVER_H
