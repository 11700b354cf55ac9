//===- tensor_cores.h - No matrix products on a CPU -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the stead of the device library's tensor_cores.cuh. A fragment of a matrix
// means nothing to a fiber, so the leaves that compute with them have twins:
// index_score.h and router_logits.h.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_TENSOR_CORES_H
#define DSV4_HOST_TENSOR_CORES_H

#endif // DSV4_HOST_TENSOR_CORES_H
