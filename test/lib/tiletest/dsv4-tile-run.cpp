//===- dsv4-tile-run.cpp - dsv4-run for ops that give tiles ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileTestOps.h"

#include "dsv4/Run/Run.h"

int main(int argc, char **argv) {
  return dsv4::runMain(argc, argv, {tiletest::getExtension()});
}
