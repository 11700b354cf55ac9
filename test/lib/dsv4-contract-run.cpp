//===- dsv4-contract-run.cpp - dsv4-run for ops under contracts -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractOps.h"

#include "dsv4/Run/Run.h"

int main(int argc, char **argv) {
  return dsv4::runMain(argc, argv,
                       {{"contract ops 1", [](mlir::DialectRegistry &registry) {
                           registry.insert<contract::ContractDialect>();
                         }}});
}
