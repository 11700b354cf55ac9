//===- Base.h - The row dialect, without its ops ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ROW_BASE_H
#define DSV4_DIALECT_ROW_BASE_H

#include "dsv4/Dialect/Access.h"
#include "dsv4/Dialect/DSV4/Base.h"
#include "dsv4/Dialect/TileSource.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

namespace dsv4 {
class Distribution;

namespace row {

/// The elements of a row that a value has: one for `group` elements of a row of
/// `row` elements, permuted in memory by `interleave`.
struct Footprint {
  int64_t row = 0;
  int64_t group = 1;
  int64_t interleave = 1;
};

/// The elements and the access that an op needs of an operand.
struct Demand {
  Footprint at;
  /// None: the operand is accessed like the result. `row` is the whole row, for
  /// any elements of the result.
  std::optional<Access> access = std::nullopt;
};

/// The threads that run an op together.
enum class Scope {
  Lanes, ///< Those that hold the row.
  Warp,  ///< A warp per row.
  Block, ///< All threads of a block, or of a cluster.
};

/// The op means the same on a row and on a fragment of it, and becomes the
/// device call of the same name.
template <typename Op>
class SameOnFragments : public mlir::OpTrait::TraitBase<Op, SameOnFragments> {};

} // namespace row
} // namespace dsv4

#include "RowDialect.h.inc"
#include "RowEnums.h.inc"

#include "RowInterfaces.h.inc"

#endif // DSV4_DIALECT_ROW_BASE_H
