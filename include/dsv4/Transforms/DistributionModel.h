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

/// What a family derives its models from.
template <typename Model, typename Op>
using DistributionModel =
    row::DistributableOpInterface::ExternalModel<Model, Op>;

/// Models of the ops of no family: reads and writes, and ops of elements.
void attachAccessDistributions(mlir::DialectRegistry &registry);
void attachElementDistributions(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_TRANSFORMS_DISTRIBUTIONMODEL_H
