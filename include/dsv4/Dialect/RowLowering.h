//===- RowLowering.h - Row programs under construction ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The interface for lowering a row-wise op: the row that it computes, and the
// rows that other ops of the same kernel have computed. Implemented by the
// conversion; declared here because the lowering interface names it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ROWLOWERING_H
#define DSV4_DIALECT_ROWLOWERING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace dsv4 {

/// A row as the segments that make it up, in order: vectors of rank 1, or one
/// scalar for a value with one element per row.
using RowValue = llvm::SmallVector<mlir::Value, 2>;

/// One axis of a tensor.
struct TensorAxis {
  mlir::Value tensor;
  int64_t axis;
};

/// `axis` has at least the extent of `min`, and both count blocks of
/// `multiple`: the extent of `axis` is a multiple of it.
struct AxisBound {
  TensorAxis axis, min;
  int64_t multiple = 1;
};

/// A segment of a row: its elements, and bits of one as it is stored.
struct RowSegment {
  int64_t extent;
  int64_t bits;
};

/// A level of scales: elements of the row that a scale covers, and the
/// interleave of their storage. Or elements that one thread must hold together.
struct ScaleGroup {
  int64_t extent;
  int64_t interleave;
  bool inVector = false; ///< Whole groups in a vector, several in a step.
};

/// The work for which an op needs more threads than the lanes of a row: the
/// kind of its schedule part, and the size of the problem. Numbers that only
/// one kind of part needs are not here: that part asks the op.
struct CooperativeWork {
  /// The name of the part: "dsv4.window". Empty: the lanes of a row do the op.
  llvm::StringRef kind;
  /// Rows of operands that one row of results needs; 0: not several.
  int64_t rows = 0;
  /// Elements of such a row. Of `source`: the maximum that the op takes.
  int64_t elements = 0;
  /// The operand whose rows it reads, if their length may be known at run time
  /// only.
  mlir::Value source;
  /// Whether the lanes of a warp then hold each row of the result.
  bool handsOverRows = false;

  explicit operator bool() const { return !kind.empty(); }
};

class RowContext;

/// The default of RowwiseOpInterface: the extents of all axes of the row
/// operand except the last, or those of the value that an op of the same kernel
/// computes it from.
llvm::SmallVector<int64_t> getDefaultIterationSpace(mlir::Operation *op);
/// Checks that an op of RowwiseOpInterface has the two interfaces for the
/// layout of its rows and for their accesses.
llvm::LogicalResult verifyRowwise(mlir::Operation *op);

} // namespace dsv4

#endif // DSV4_DIALECT_ROWLOWERING_H
