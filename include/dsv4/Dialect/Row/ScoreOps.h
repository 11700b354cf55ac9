//===- ScoreOps.h - Scores that come as tiles -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ROW_SCOREOPS_H
#define DSV4_DIALECT_ROW_SCOREOPS_H

#include "dsv4/Dialect/Row/Base.h"

#define GET_OP_CLASSES
#include "RowScoreOps.h.inc"

#endif // DSV4_DIALECT_ROW_SCOREOPS_H
