//===- CUDAOps.td - Ops of the cuda dialect -*- tablegen -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDA_OPS_TD
#define CUDA_OPS_TD

include "CUDAAccessOps.td"
include "CUDAElementOps.td"
include "CUDASectionOps.td"
include "CUDAWindowOps.td"
include "CUDASelectOps.td"
include "CUDATileOps.td"
include "CUDAScoreOps.td"

#endif // CUDA_OPS_TD
