//===- Pool.h - What the pooling ops share ----------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_DIALECT_CUDA_POOL_H
#define DSV4_LIB_DIALECT_CUDA_POOL_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace dsv4::cuda {

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

#endif // DSV4_LIB_DIALECT_CUDA_POOL_H
