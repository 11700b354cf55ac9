//===- Models.h - How ops of row programs are distributed -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TRANSFORMS_DISTRIBUTION_MODELS_H
#define DSV4_LIB_TRANSFORMS_DISTRIBUTION_MODELS_H

#include "dsv4/Transforms/Distribution.h"

namespace dsv4 {

template <typename Model, typename Op>
using DistributionModel =
    row::DistributableOpInterface::ExternalModel<Model, Op>;

void attachAccessDistributions(mlir::DialectRegistry &registry);
void attachElementDistributions(mlir::DialectRegistry &registry);
void attachSelectDistributions(mlir::DialectRegistry &registry);
void attachWindowDistributions(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_LIB_TRANSFORMS_DISTRIBUTION_MODELS_H
