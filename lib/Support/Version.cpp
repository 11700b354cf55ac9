//===- Version.cpp - What --version prints --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Support/Version.h"

#include "dsv4.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

void dsv4::setVersionPrinter(StringRef tool,
                             std::function<void(raw_ostream &)> printMore) {
  cl::SetVersionPrinter(
      [tool = tool.str(), printMore = std::move(printMore)](raw_ostream &out) {
        out << tool << " " << DSV4_VERSION / 10000 << "."
            << DSV4_VERSION / 100 % 100 << "." << DSV4_VERSION % 100
            << ", MLIR " LLVM_VERSION_STRING "\n";
        if (printMore)
          printMore(out);
      });
}
