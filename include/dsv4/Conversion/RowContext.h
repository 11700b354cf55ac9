//===- RowContext.h - Row programs under construction -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The functions to write the lowering of a row-wise op, of dsv4 or of another
// dialect.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_CONVERSION_ROWCONTEXT_H
#define DSV4_CONVERSION_ROWCONTEXT_H

#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/RecordLayout.h"
#include "dsv4/Dialect/Row/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

#include <utility>

namespace dsv4 {

/// Names a value: the emitted text gives it a line of its own under that name.
mlir::Location named(mlir::Location loc, llvm::StringRef name);

/// What an integer of an operand is for. It decides what an i64 means that i32
/// does not hold.
enum class IntegerKind {
  Index, ///< A slot, position, page, request or id: -1, which is none.
  Length ///< The nearest i32.
};

/// The context of a row-wise op while it becomes a row program: builders of
/// index arithmetic on the row, access to operands, and the rows that other ops
/// computed.
class RowContext {
public:
  RowContext(KernelOp kernel, mlir::OpBuilder &outside, mlir::OpBuilder &inside,
             mlir::Location loc, mlir::Value row)
      : kernel(kernel), outside(outside), inside(inside), loc(loc), row(row) {}

  mlir::OpBuilder &getBuilder() { return inside; }
  mlir::Location getLoc() const { return loc; }
  mlir::Location getLoc(llvm::StringRef name) const { return named(loc, name); }
  void setLoc(mlir::Location location) { loc = location; }

  /// The row, 0 <= row < rows, linear over the iteration space.
  mlir::Value getRow() const { return row; }
  /// Axes of the iteration space.
  int64_t getSpaceRank();
  /// Index of the row along the first axis of an iteration space of rank 2
  /// whose second axis is axis `axis` of `source`.
  mlir::Value getOuterIndex(mlir::Value source, int64_t axis,
                            llvm::StringRef name);
  /// Indices of the row along the first `count` axes of the iteration space.
  llvm::SmallVector<mlir::Value> getRowIndices(int64_t count);

  /// The caller's name of an operand; "" if another op computes it.
  std::string getName(mlir::Value source);
  /// The memory of an operand, or of an array field of a cache.
  mlir::Value getBuffer(mlir::Value source, llvm::StringRef field = "");
  /// The run-time extent of an axis of an operand, which is at least `min`.
  mlir::Value getExtent(mlir::Value source, int64_t axis, int64_t min = 0);
  /// Its maximum.
  int64_t boundExtent(mlir::Value source, int64_t axis);

  /// Index arithmetic; constants fold.
  mlir::Value constant(int64_t value);
  /// A number that the emitted source names; 0 and 1 need none.
  mlir::Value constant(int64_t value, const llvm::Twine &name);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value div(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value min(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  mlir::Value max(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");
  /// 0 <= value, value < bound, both.
  mlir::Value isNotNegative(mlir::Value value);
  mlir::Value isBelow(mlir::Value value, mlir::Value bound);
  mlir::Value both(mlir::Value lhs, mlir::Value rhs, llvm::StringRef name = "");

  /// Addresses in the buffer of a tensor operand count its elements (bytes, of
  /// 4-bit elements). Lowerings compute them with these functions alone.
  ///
  /// From one index of axis `axis` to the next.
  mlir::Value getStride(mlir::Value tensor, int64_t axis);
  /// From one page of a cache to the next, in the buffer of its pages or of an
  /// array field; null if the pages follow each other.
  mlir::Value getPageStride(mlir::Value cache, llvm::StringRef field);
  /// The `dsv4.strides` of an operand, or null: it is contiguous.
  StridesAttr getStrides(mlir::Value source);
  /// The same of the buffer of a cache that holds `field`.
  StridesAttr getBufferStrides(mlir::Value cache, FieldAttr field);
  /// The alignment in bytes of rows, `contiguous` where they follow each other.
  int64_t getRowAlignment(mlir::Value source, int64_t contiguous);
  /// The element with these indices; those of the last axes may be left out.
  mlir::Value getOffset(mlir::Value tensor,
                        llvm::ArrayRef<mlir::Value> indices);
  /// The row of a tensor that belongs to this row: its first axes are those of
  /// the iteration space, and it may have one more.
  mlir::Value getRowOffset(mlir::Value tensor, llvm::StringRef name = "");

  /// An element of a tensor of i32 or i64, as an index that i32 holds.
  mlir::Value loadIndexAt(mlir::Value tensor,
                          llvm::ArrayRef<mlir::Value> indices,
                          llvm::StringRef name,
                          IntegerKind kind = IntegerKind::Index);
  /// The element of this row, of a tensor with one for each, or one for all
  /// rows along the axes of the iteration space that it lacks.
  mlir::Value loadIndexOfRow(mlir::Value tensor, llvm::StringRef name,
                             IntegerKind kind = IntegerKind::Index);
  /// The element of this row without any narrowing, as loadIndexOfRow takes it.
  mlir::Value loadWideOfRow(mlir::Value tensor, llvm::StringRef name);
  /// An index of 64 bits as one that i32 holds; -1 for others.
  mlir::Value narrow(mlir::Value index, llvm::StringRef name);
  /// The element at `offset` if the condition holds; otherwise nothing is read,
  /// and the value is `otherwise`. `offset` is called at the load.
  mlir::Value loadIndexIf(mlir::Value condition, mlir::Value tensor,
                          llvm::function_ref<mlir::Value()> offset,
                          int64_t otherwise, llvm::StringRef name,
                          IntegerKind kind = IntegerKind::Index);

  /// The last of the first `count` elements of a tensor of ascending integers
  /// that is at most `value`, or the first (`row.search`).
  mlir::Value search(mlir::Value tensor, mlir::Value value, mlir::Value count,
                     llvm::StringRef name);

  /// The results of the op are stored only where this holds. For ops that skip
  /// rows.
  void storeIf(mlir::Value condition) { storeCondition = condition; }
  /// What storeIf() was called with since the last time, or null.
  mlir::Value takeStoreCondition() {
    return std::exchange(storeCondition, mlir::Value());
  }

  /// Elements [begin, begin + count) of the row of an operand, as they are
  /// stored: computed in this kernel, or read. A rank of one less than the
  /// iteration space has gives rows of one element; without axes for rows all
  /// of them have one.
  mlir::Value takeRow(mlir::Value operand, int64_t begin, int64_t count,
                      llvm::StringRef name);
  /// The whole row. If the extent is known at run time only, the row has its
  /// bound, or `max` elements.
  mlir::Value takeRow(mlir::Value operand, llvm::StringRef name,
                      int64_t max = 0);
  /// The whole row of an operand of indices, as i32.
  mlir::Value takeIndices(mlir::Value operand, llvm::StringRef name);
  /// Indices, a row of i32 or i64, as i32.
  mlir::Value toI32(mlir::Value indices, llvm::StringRef name);

  /// The same in fp32.
  mlir::Value toF32(mlir::Value vector, llvm::StringRef name = "");
  /// From fp32, to nearest even; f32 stays as it is.
  mlir::Value fromF32(mlir::Value vector, mlir::Type element,
                      llvm::StringRef name = "");
  /// As elements of another type; the same type is copied bit by bit.
  mlir::Value copy(mlir::Value vector, mlir::Type element);
  /// `count` times one f32.
  mlir::Value splat(double value, int64_t count);
  /// Every value of a vector `times` times in a row.
  mlir::Value repeat(mlir::Value vector, int64_t times,
                     llvm::StringRef name = "");

  /// The rows of values computed in this kernel.
  void setRow(mlir::Value value, RowValue segments) { rows[value] = segments; }
  /// The row of `value` if an op of this kernel computed it, else empty.
  RowValue lookupRow(mlir::Value value) const { return rows.lookup(value); }

private:
  /// The same as getRowOffset, of a tensor with strides.
  mlir::Value getStridedRowOffset(mlir::Value tensor, llvm::StringRef name);
  /// The integer at `offset` of the buffer of a tensor, as i32.
  mlir::Value loadInteger(mlir::Value tensor, mlir::Value offset,
                          llvm::StringRef name, IntegerKind kind);
  mlir::Value loadIndex(mlir::Value tensor, mlir::Value offset,
                        llvm::StringRef name, IntegerKind kind);

  KernelOp kernel;
  mlir::OpBuilder &outside;
  mlir::OpBuilder &inside;
  mlir::Location loc;
  mlir::Value row;
  mlir::Value storeCondition;
  llvm::DenseMap<mlir::Value, RowValue> rows;
};

/// The position of the stored elements of one field of one row, and the
/// condition for reading them.
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
  /// The number of elements, if it is known at run time only, and a divisor of
  /// it.
  mlir::Value length;
  int64_t multiple = 1;
  /// From one run of `run` elements to the next, or null: they are one run. It
  /// and the offset then count elements, not those of the buffer.
  mlir::Value stride;
  int64_t run = 1;
  llvm::StringRef name;
};

/// One level of scales of a row.
struct StoredScales {
  StoredVector vector;
  int64_t group = 0; ///< Elements of the row a scale covers.
};

/// Reads `stored`, elements in logical order.
mlir::Value buildRead(RowContext &row, const StoredVector &stored);

/// Elements [begin, begin + count) of row `row` of a tensor.
StoredVector locateRow(RowContext &row, mlir::Value tensor, int64_t begin,
                       int64_t count, llvm::StringRef name);

/// A tensor with one row per row of the iteration space, or one value per row.
StoredVector locateWholeRow(RowContext &row, mlir::Value tensor,
                            llvm::StringRef name);

/// Elements, stored or computed by another op of the kernel, times scales, as
/// in buildDecode. `elements` has rank 1.
mlir::Value buildScale(RowContext &row, mlir::Value elements,
                       llvm::ArrayRef<StoredScales> scales, mlir::Type result);

/// Reads stored elements and decodes them:
/// ((element * factor_0) * factor_1) ..., every product rounded to fp32, the
/// result rounded to nearest even into `result`. Elements that already have
/// that type and no scales are copied.
mlir::Value buildDecode(RowContext &row, const StoredVector &data,
                        llvm::ArrayRef<StoredScales> scales, mlir::Type result);

} // namespace dsv4

#endif // DSV4_CONVERSION_ROWCONTEXT_H
