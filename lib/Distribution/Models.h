//===- Models.h - Families of row ops that threads share --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_DISTRIBUTION_MODELS_H
#define DSV4_LIB_DISTRIBUTION_MODELS_H

#include "dsv4/Transforms/DistributionModel.h"

namespace dsv4 {

void attachRouterDistributions(mlir::DialectRegistry &registry);
void attachScoreDistributions(mlir::DialectRegistry &registry);
void attachSelectDistributions(mlir::DialectRegistry &registry);
void attachTileDistributions(mlir::DialectRegistry &registry);
void attachWindowDistributions(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_LIB_DISTRIBUTION_MODELS_H
