//===- LengthOps.h - Ops that count entries of caches -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4_LENGTHOPS_H
#define DSV4_DIALECT_DSV4_LENGTHOPS_H

#include "dsv4/Dialect/DSV4/Base.h"

#define GET_OP_CLASSES
#include "DSV4LengthOps.h.inc"

#endif // DSV4_DIALECT_DSV4_LENGTHOPS_H
