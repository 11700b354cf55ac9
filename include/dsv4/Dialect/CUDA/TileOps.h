//===- TileOps.h - What consumes tiles --------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_CUDA_TILEOPS_H
#define DSV4_DIALECT_CUDA_TILEOPS_H

#include "dsv4/Dialect/CUDA/Base.h"

namespace dsv4::cuda {
// Its regions end in a yield of tiles.
class IndexScoreOp;
} // namespace dsv4::cuda

#define GET_OP_CLASSES
#include "CUDATileOps.h.inc"

#endif // DSV4_DIALECT_CUDA_TILEOPS_H
