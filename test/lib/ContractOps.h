//===- ContractOps.h - Ops that are not compared exactly --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_LIB_CONTRACTOPS_H
#define DSV4_TEST_LIB_CONTRACTOPS_H

#include "dsv4/Dialect/DSV4/Base.h"

#include "ContractDialect.h.inc"

#define GET_OP_CLASSES
#include "ContractOps.h.inc"

#endif // DSV4_TEST_LIB_CONTRACTOPS_H
