//===- dsv4-reduce.cpp - Reduces failing programs ---------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/InitAll.h"
#include "dsv4/Support/Version.h"
#include "dsv4/Testing/LeaveOutOps.h"

#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  dsv4::setVersionPrinter("dsv4-reduce");
  mlir::DialectRegistry registry;
  dsv4::registerAllDialects(registry);
  dsv4::registerAllPasses();
  dsv4::registerLeaveOutOpsPass();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
