//===- Version.h - What --version prints ------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_VERSION_H
#define DSV4_SUPPORT_VERSION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <functional>

namespace dsv4 {

/// Makes --version of `tool` print the version of dsv4 and of MLIR, and then
/// what `printMore` prints. Called before the command line is parsed.
void setVersionPrinter(llvm::StringRef tool,
                       std::function<void(llvm::raw_ostream &)> printMore = {});

} // namespace dsv4

#endif // DSV4_SUPPORT_VERSION_H
