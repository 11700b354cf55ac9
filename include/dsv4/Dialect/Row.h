//===- Row.h - The row dialect ----------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ROW_H
#define DSV4_DIALECT_ROW_H

#include "dsv4/Dialect/DSV4.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dsv4 {
class Distribution;

namespace row {

/// Which elements of a row a value has: one for `group` elements of a row of
/// `row` elements, in memory permuted by `interleave`.
struct Footprint {
  int64_t row = 0;
  int64_t group = 1;
  int64_t interleave = 1;
};

/// How an op reads an operand that is a row.
enum class Access {
  Row,     ///< The elements that the footprint names.
  Whole,   ///< The whole row, whichever elements of the result are wanted.
  Columns, ///< Vectors of neighbouring elements, in an order of its own.
  Elements ///< Single elements, by index.
};

/// What an op needs of an operand.
struct Demand {
  Access access = Access::Row;
  Footprint at;
};

/// Which threads do an op together.
enum class Scope {
  Lanes,  ///< Those that hold the row.
  Warp,   ///< A warp per row.
  Block,  ///< All threads of a block, or of a cluster.
};

} // namespace row
} // namespace dsv4

#include "RowDialect.h.inc"
#include "RowEnums.h.inc"

#include "RowInterfaces.h.inc"

#define GET_OP_CLASSES
#include "RowOps.h.inc"

#endif // DSV4_DIALECT_ROW_H
