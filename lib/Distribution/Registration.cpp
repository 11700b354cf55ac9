//===- Registration.cpp - Attaches how row ops are given to threads -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Models.h"

void dsv4::registerDistributions(mlir::DialectRegistry &registry) {
  attachAccessDistributions(registry);
  attachElementDistributions(registry);
  attachScalarDistributions(registry);
  attachScoreDistributions(registry);
  attachRouterDistributions(registry);
  attachSelectDistributions(registry);
  attachTileDistributions(registry);
  attachWindowDistributions(registry);
}
