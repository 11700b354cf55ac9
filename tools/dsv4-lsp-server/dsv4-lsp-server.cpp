//===- dsv4-lsp-server.cpp - Language server for dsv4 programs --*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/InitAll.h"
#include "dsv4/LanguageServer/LanguageServer.h"
#include "dsv4/Support/Version.h"

int main(int argc, char **argv) {
  dsv4::setVersionPrinter("dsv4-lsp-server");
  mlir::DialectRegistry registry;
  dsv4::registerAllDialects(registry);
  return mlir::failed(dsv4::runLanguageServer(argc, argv, registry));
}
