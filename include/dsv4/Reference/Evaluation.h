//===- Evaluation.h - An op that is not dsv4's, in the oracle ---*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to the operands and results of an op with ReferenceInterface, one
// element at a time. Elements of a tensor are numbered row-major.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_REFERENCE_EVALUATION_H
#define DSV4_REFERENCE_EVALUATION_H

#include "dsv4-runtime/Status.h"

#include "mlir/IR/Operation.h"

namespace dsv4::reference {

class Interpreter;

class Evaluation {
public:
  Evaluation(Interpreter &interpreter, mlir::Operation *op)
      : interpreter(interpreter), op(op) {}

  /// Extents of an operand that the op reads.
  llvm::ArrayRef<int64_t> getShape(mlir::Value operand) const;
  /// An element of such an operand, exact.
  double getValue(mlir::Value operand, int64_t index) const;
  /// An element of indices.
  int32_t getIndex(mlir::Value operand, int64_t index) const;

  /// Makes result `number`, zeros of that shape. An error if its destination
  /// has another shape.
  rt::Status makeResult(unsigned number, llvm::ArrayRef<int64_t> shape);
  /// Stores `value`, rounded once to the type of the result.
  void setValue(unsigned number, int64_t index, double value);
  /// The same; a right result is at most `bound` away from `exact`. The bound
  /// covers every rounding, that to the type of the result too.
  void setBounded(unsigned number, int64_t index, double exact, double bound);

private:
  Interpreter &interpreter;
  mlir::Operation *op;
};

} // namespace dsv4::reference

#endif // DSV4_REFERENCE_EVALUATION_H
