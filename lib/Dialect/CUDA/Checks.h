//===- Checks.h - What verifiers of cuda ops share --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_DIALECT_CUDA_CHECKS_H
#define DSV4_LIB_DIALECT_CUDA_CHECKS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace dsv4::cuda {

inline bool isLaneCount(int64_t lanes) {
  return lanes >= 1 && lanes <= 32 && llvm::isPowerOf2_64(lanes);
}

/// Whether an argument of a region is a number: an index until cuda-legalize
/// gives it a width.
inline bool isOffset(mlir::Type type) {
  return type.isIndex() || type.isInteger(32) || type.isInteger(64);
}

/// Sets the range of a region's argument to [min, max].
inline void setArgumentRange(mlir::BlockArgument argument, int64_t min,
                             int64_t max, mlir::SetIntRangeFn setRange) {
  unsigned width =
      mlir::ConstantIntRanges::getStorageBitwidth(argument.getType());
  setRange(argument, mlir::ConstantIntRanges::range(
                         llvm::APInt(width, min, /*isSigned=*/true),
                         llvm::APInt(width, max, /*isSigned=*/true),
                         /*isSigned=*/true));
}

/// Whether a row of `channels` is whole lanes of `part`, of which there are no
/// more than threads; in a cluster in one piece, and as many in every block.
inline bool isPartOfRow(mlir::VectorType part, int64_t channels,
                        int64_t threads, int64_t cluster) {
  int64_t width = part.getNumElements();
  if (channels % width != 0 || cluster < 1)
    return false;
  if (part.getRank() == 1)
    return cluster == 1 && channels == width;
  // Not their product, which may overflow.
  return static_cast<int64_t>(llvm::divideCeil(channels / width, cluster)) <=
             threads &&
         (cluster == 1 ||
          (part.getDimSize(0) == 1 && channels / width % cluster == 0));
}

} // namespace dsv4::cuda

#endif // DSV4_LIB_DIALECT_CUDA_CHECKS_H
