//===- CUDARegions.h - Text of cuda ops with regions -*- C++ -*- -===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls that are given what their regions do, as lambdas.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TARGET_CUDA_DIALECT_CUDAREGIONS_H
#define DSV4_LIB_TARGET_CUDA_DIALECT_CUDAREGIONS_H

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Target/CUDA/ModuleTranslation.h"

namespace dsv4 {

mlir::LogicalResult printPool(cuda::PoolOp op, ModuleTranslation &text);
mlir::LogicalResult printPoolOnline(cuda::PoolOnlineOp op,
                                    ModuleTranslation &text);
mlir::LogicalResult printSelect(cuda::SelectOp op, ModuleTranslation &text);

} // namespace dsv4

#endif // DSV4_LIB_TARGET_CUDA_DIALECT_CUDAREGIONS_H
