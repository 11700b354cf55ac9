//===- dsv4-tile-opt.cpp - dsv4-opt for ops that give tiles ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTestOps.h"

#include "dsv4/InitAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dsv4::registerAllDialects(registry);
  tiletest::getExtension().registerDialects(registry);
  dsv4::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "dsv4 with ops that give tiles\n", registry));
}
