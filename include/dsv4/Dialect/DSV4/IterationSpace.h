//===- IterationSpace.h - Rows that are numbers -----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The iteration space of most kernels has all axes of the row operand but the
/// last. Where a row is one number, that operand may have no axis for it.
///
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4_ITERATIONSPACE_H
#define DSV4_DIALECT_DSV4_ITERATIONSPACE_H

#include "dsv4/Dialect/DSV4/KernelOps.h"

namespace dsv4 {

/// Whether all axes of the row operand of `op` are its iteration space.
bool hasRowsOfNumbers(RowwiseOpInterface op);

/// The axes of the iteration space of `op`: constants, names of dims, or "?".
llvm::SmallVector<std::string> describeIterationSpace(RowwiseOpInterface op);

/// How many axes the iteration space of a kernel of row-wise ops has.
int64_t getSpaceRank(KernelOp kernel);

/// The operand that determines the number of rows of a lowered kernel, and how
/// many of its leading axes they have.
struct RowsOf {
  unsigned operand;
  int64_t axes;
};
RowsOf getRowsOf(KernelOp kernel);
void setRowsOf(KernelOp kernel, RowsOf rows);

} // namespace dsv4

#endif // DSV4_DIALECT_DSV4_ITERATIONSPACE_H
