//===- ScoreOps.h - Scores, logits that come as tiles -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_CUDA_SCOREOPS_H
#define DSV4_DIALECT_CUDA_SCOREOPS_H

#include "dsv4/Dialect/CUDA/Base.h"
#include "dsv4/Dialect/DSV4Enums.h"

#define GET_OP_CLASSES
#include "CUDAScoreOps.h.inc"

#endif // DSV4_DIALECT_CUDA_SCOREOPS_H
