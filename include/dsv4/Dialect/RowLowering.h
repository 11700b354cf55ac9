//===- RowLowering.h - Row programs under construction -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What a row-wise op sees while it is lowered: the row it computes, and the
// rows of values that other ops of the same kernel have computed. Implemented
// by the conversion; declared here because the lowering interface names it.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ROWLOWERING_H
#define DSV4_DIALECT_ROWLOWERING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace dsv4 {

/// A row as the pieces that make it up, in order: vectors of rank 1, or one
/// scalar for a value with one element a row.
using RowValue = llvm::SmallVector<mlir::Value, 2>;

/// One axis of a tensor.
struct TensorAxis {
  mlir::Value tensor;
  int64_t axis;
};

/// A piece of a row: elements, and bits of one as it is stored.
struct RowPiece {
  int64_t extent;
  int64_t bits;
};

/// A level of factors: elements of the row a factor covers, and the interleave
/// of their storage. Or elements that one lane must hold.
struct RowGroup {
  int64_t extent;
  int64_t interleave;
  bool inChunk = false; ///< Whole groups in a chunk, several in a step.
};

/// Rows of operands that one row of results takes, and elements of each.
struct TeamWork {
  int64_t rows = 0, elements = 0;
  /// The most threads that have work if one takes `team` elements of a row;
  /// rows are taken in blocks of eight.
  int64_t getThreads(int64_t team) const {
    return elements / team * ((rows + 7) / 8);
  }
  /// How many times `team` elements of a row a thread takes, if not even all
  /// `threads` threads can have the row at once.
  int64_t getSteps(int64_t threads, int64_t team) const {
    int64_t chunks = elements / team, steps = 1;
    while (chunks % steps != 0 || chunks / steps > threads)
      ++steps;
    return steps;
  }
};

/// What is selected from a row.
struct Selection {
  int64_t places = 0;  ///< Elements that are selected; 0: none are.
  mlir::Value scores;  ///< What they are selected from.
  int64_t most = 0;    ///< Elements that a row may have.
  bool groups = false; ///< Whether groups of them are chosen first.
  bool again =
      false; ///< Whether what is selected is computed again, one by one.
};

class RowContext;

} // namespace dsv4

#endif // DSV4_DIALECT_ROWLOWERING_H
