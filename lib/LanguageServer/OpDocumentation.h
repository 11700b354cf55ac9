//===- OpDocumentation.h - What a hover says of an op -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_LANGUAGESERVER_OPDOCUMENTATION_H
#define DSV4_LIB_LANGUAGESERVER_OPDOCUMENTATION_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace dsv4 {

/// The documentation of ops, as Markdown.
class OpDocumentation {
public:
  /// Adds the ops of a page that `mlir-tblgen -gen-dialect-doc` made.
  void addPage(llvm::StringRef page);

  /// The documentation of the op of that name, or nothing.
  llvm::StringRef lookup(llvm::StringRef op) const;

  /// Puts the documentation of the op into `message`, one of MLIR's language
  /// server, if it answers a hover over an op that has some.
  void addTo(std::string &message) const;

private:
  llvm::StringMap<std::string> texts;
};

} // namespace dsv4

#endif // DSV4_LIB_LANGUAGESERVER_OPDOCUMENTATION_H
