//===- RowContext.h - Row programs under construction -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_CONVERSION_ROWCONTEXT_H
#define DSV4_CONVERSION_ROWCONTEXT_H

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace dsv4 {

/// Names a value: the emitted text gives it a line of its own under that name.
mlir::Location named(mlir::Location loc, llvm::StringRef name);

/// What a row-wise op sees while it becomes a row program: builders of index
/// arithmetic on the row, access to operands, and the rows other ops computed.
class RowContext {
public:
  RowContext(KernelOp kernel, mlir::OpBuilder &outside, mlir::OpBuilder &inside,
             mlir::Location loc, mlir::Value row)
      : kernel(kernel), outside(outside), inside(inside), loc(loc), row(row) {}

  mlir::OpBuilder &getBuilder() { return inside; }
  mlir::Location getLoc() const { return loc; }
  mlir::Location getLoc(llvm::StringRef name) const { return named(loc, name); }
  void setLoc(mlir::Location location) { loc = location; }

  /// The row, 0 <= row < rows, linear over the row space.
  mlir::Value getRow() const { return row; }
  /// Index of the row along the first axis of a row space of rank 2 whose
  /// second axis is axis `axis` of `source`.
  mlir::Value getOuterIndex(mlir::Value source, int64_t axis,
                            llvm::StringRef name);

  /// The memory of an operand, or of an array field of a cache.
  mlir::Value getBuffer(mlir::Value source, llvm::StringRef field = "");
  /// The run-time extent of an axis of an operand; `min` is what is known of
  /// it.
  mlir::Value getExtent(mlir::Value source, int64_t axis, int64_t min = 0);

  /// Index arithmetic; constants fold.
  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value div(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  /// 0 <= value, value < bound, both.
  mlir::Value isNotNegative(mlir::Value value);
  mlir::Value isBelow(mlir::Value value, mlir::Value bound);
  mlir::Value both(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  /// The i32 element at `offset` of a flat buffer, as index.
  mlir::Value loadIndex(mlir::Value buffer, mlir::Value offset,
                        llvm::StringRef name);

  /// The rows of values computed in this kernel.
  void setRow(mlir::Value value, RowValue pieces) { rows[value] = pieces; }
  /// The row of `value` if an op of this kernel computed it, else empty.
  RowValue lookupRow(mlir::Value value) const { return rows.lookup(value); }

private:
  KernelOp kernel;
  mlir::OpBuilder &outside;
  mlir::OpBuilder &inside;
  mlir::Location loc;
  mlir::Value row;
  llvm::DenseMap<mlir::Value, RowValue> rows;
};

/// Where the stored elements of one field of one row are, and whether they may
/// be read at all.
struct StoredVector {
  mlir::Value buffer;    ///< Flat; of bytes, or of `element`.
  mlir::Value offset;    ///< In elements of the buffer.
  mlir::Value predicate; ///< i1, or null: always.
  int64_t extent = 0;    ///< Elements.
  int64_t readable = 0;  ///< Elements that may be read, padding included.
  mlir::Type element;
  int64_t alignment = 1; ///< Bytes.
  int64_t interleave = 1;
  bool highFirst = false;
  llvm::StringRef name;
};

/// One level of factors of a row.
struct StoredFactors {
  StoredVector vector;
  int64_t group = 0; ///< Elements of the row a factor covers.
};

/// Elements, stored or computed by another op of the kernel, times factors, as
/// buildDecode has it. `elements` has rank 1.
mlir::Value buildScale(RowContext &row, mlir::Value elements,
                       llvm::ArrayRef<StoredFactors> factors,
                       mlir::Type result);

/// Reads stored elements and decodes them:
/// ((element * factor_0) * factor_1) ..., every product rounded to fp32, the
/// result rounded to nearest even into `result`. Elements that already have
/// that type and no factors are copied.
mlir::Value buildDecode(RowContext &row, const StoredVector &data,
                        llvm::ArrayRef<StoredFactors> factors,
                        mlir::Type result);

void attachPagedGatherLowering(mlir::DialectRegistry &registry);
void attachDequantizeLowering(mlir::DialectRegistry &registry);

} // namespace dsv4

#endif // DSV4_CONVERSION_ROWCONTEXT_H
