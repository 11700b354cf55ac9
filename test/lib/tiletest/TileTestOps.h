//===- TileTestOps.h - Scores that come as tiles ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_LIB_TILETEST_TILETESTOPS_H
#define DSV4_TEST_LIB_TILETEST_TILETESTOPS_H

#include "dsv4/Dialect/CUDA.h"
#include "dsv4/Dialect/Row.h"
#include "dsv4/JIT/JIT.h"

#include "TileTestDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "TileTestAttrs.h.inc"

#define GET_OP_CLASSES
#include "TileTestOps.h.inc"

namespace tiletest {
/// The dialect and its device code, for a session.
dsv4::DialectExtension getExtension();
} // namespace tiletest

#endif // DSV4_TEST_LIB_TILETEST_TILETESTOPS_H
