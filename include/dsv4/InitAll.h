//===- InitAll.h - Registration of everything dsv4 has ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_INITALL_H
#define DSV4_INITALL_H

#include "dsv4/Pipelines/Pipelines.h"
#include "dsv4/Target/CUDA/TranslateToCUDA.h"

#include "mlir/IR/DialectRegistry.h"

namespace dsv4 {

/// Every dialect between L0 and source, with its lowerings and printed forms.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Every pass and pipeline of dsv4, and the passes of MLIR that they use.
void registerAllPasses();

} // namespace dsv4

#endif // DSV4_INITALL_H
