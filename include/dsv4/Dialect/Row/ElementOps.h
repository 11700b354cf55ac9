//===- ElementOps.h - Rows, their elements and memory -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ROW_ELEMENTOPS_H
#define DSV4_DIALECT_ROW_ELEMENTOPS_H

#include "dsv4/Dialect/Row/Base.h"

namespace dsv4::row {
// Their regions end in a yield.
class MapOp;
class IndexScoreOp;
class WindowReduceOp;
class WindowOp;
class WindowSegmentOp;
} // namespace dsv4::row

#define GET_OP_CLASSES
#include "RowElementOps.h.inc"

#endif // DSV4_DIALECT_ROW_ELEMENTOPS_H
