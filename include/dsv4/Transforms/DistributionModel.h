//===- DistributionModel.h - How a row op is given to threads ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TRANSFORMS_DISTRIBUTIONMODEL_H
#define DSV4_TRANSFORMS_DISTRIBUTIONMODEL_H

#include "dsv4/Transforms/Distribution.h"

namespace dsv4 {

/// The base of the models of a family.
template <typename Model, typename Op>
using DistributionModel =
    row::DistributableOpInterface::ExternalModel<Model, Op>;

/// Models of ops outside of families: reads, writes, elementwise ops, scalars.
void attachAccessDistributions(mlir::DialectRegistry &registry);
void attachElementDistributions(mlir::DialectRegistry &registry);
void attachScalarDistributions(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_TRANSFORMS_DISTRIBUTIONMODEL_H
