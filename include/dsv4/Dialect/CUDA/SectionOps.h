//===- SectionOps.h - Rows section by section -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_CUDA_SECTIONOPS_H
#define DSV4_DIALECT_CUDA_SECTIONOPS_H

#include "dsv4/Dialect/CUDA/Base.h"

#define GET_OP_CLASSES
#include "CUDASectionOps.h.inc"

#endif // DSV4_DIALECT_CUDA_SECTIONOPS_H
