//===- Interpreter.h - What a function of dsv4 ops computes -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle: the ops' formulas, one element at a time, in double precision. It
// shares no code with the conversions, the device library or the host target,
// so that agreement with them is evidence. It reads functions before
// specialisation: one block of dsv4 ops on tensors and caches, with
// tensor.empty for results that only feed other ops.
//
// A cache is memory: ops read and write it in program order. Tensors are
// values: an op reads what its operands held when they were made, and every
// destination is written after the last op. A value reaches the
// destination it is tied to, through other ops' `outs` if need be, when it is
// returned or nothing uses it. A destination whose values only feed other ops
// is scratch, and is left alone.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_REFERENCE_INTERPRETER_H
#define DSV4_REFERENCE_INTERPRETER_H

#include "dsv4-runtime/Status.h"
#include "dsv4/Reference/Numerics.h"
#include "dsv4/Signature.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::tensor {
class ExtractSliceOp;
} // namespace mlir::tensor

namespace dsv4::reference {

/// One binding of the function's Signature, in order: host memory, shape in
/// stored elements. No alignment is needed; the data of a buffer without
/// elements may be null.
struct Buffer {
  std::vector<int64_t> shape;
  void *data; ///< The first element.
  /// Bytes from one element to the next along every axis, or none: contiguous,
  /// row-major. Elements along the last axis follow each other.
  std::vector<int64_t> strides = {};
  /// Bytes before the first element and after the last that are to stay as they
  /// are, too.
  int64_t margin = 0;
};

/// The elements of a buffer in row-major order, and back. A binding says how
/// many bytes one has.
std::vector<char> pack(const rt::Binding &binding, const Buffer &buffer);
void unpack(const rt::Binding &binding, const Buffer &buffer,
            llvm::ArrayRef<char> elements);
/// Bytes from the first element of a buffer to the end of the last.
int64_t getSpan(const rt::Binding &binding, const Buffer &buffer);
/// The axes that count rows: all but the last, or an only axis with a stride.
size_t countRowAxes(const rt::Binding &binding);
/// The first element of row `row` along the last axis.
char *getRow(const rt::Binding &binding, const Buffer &buffer, int64_t row);
/// Says which bytes between the elements, or around them, two buffers of one
/// layout do not share, or "".
std::string explainGaps(const rt::Binding &binding, const Buffer &got,
                        const Buffer &expected);

/// Executes `func`; destinations are written in place, and only if the whole
/// function succeeds. Caches are written when their op runs.
rt::Status interpret(mlir::func::FuncOp func, llvm::ArrayRef<Buffer> buffers);

/// A line for every append that promises `unique` entries and gets one of them
/// twice, and for every online compression with a segment that writes an entry
/// that another reads or writes. Their results are not specified. Nothing for
/// buffers that interpret() refuses.
std::vector<std::string> findSharedEntries(mlir::func::FuncOp func,
                                           llvm::ArrayRef<Buffer> buffers);

/// A line for every operand with indices out of range: starts of rows that
/// decrease or exceed the rows, starts and ends beyond a row, entries beyond
/// the pool that a gather reads. Kernels skip them. Nothing for buffers that
/// interpret() refuses.
std::vector<std::string> findOutOfRangeIndices(mlir::func::FuncOp func,
                                               llvm::ArrayRef<Buffer> buffers);

/// Puts what a `topk` without an order has selected in the order that
/// interpret() gives it, so that results can be compared: index ascending,
/// padding last, and the other destinations with it. A row that was selected
/// whole must have this order already.
void sortUnordered(mlir::func::FuncOp func, const Signature &signature,
                   llvm::ArrayRef<Buffer> buffers);

/// The signature of a function that interpret() can execute, or why there is
/// none.
rt::Result<Signature> readSignature(mlir::func::FuncOp func);

/// Bytes of a binding of that shape, or nothing if an extent is negative or the
/// size does not fit 63 bits.
std::optional<int64_t> getByteSize(const rt::Binding &binding,
                                   llvm::ArrayRef<int64_t> shape);

/// The extent of an axis of an argument, if it is known.
using ExtentOf =
    llvm::function_ref<std::optional<int64_t>(mlir::BlockArgument, int64_t)>;
/// The value of an index that extents of arguments determine, or nothing.
std::optional<int64_t> findIndex(mlir::OpFoldResult index, ExtentOf extentOf);
/// Elements [begin, begin + count) of an axis.
struct Span {
  int64_t begin, count;
};
/// What a slice has of every axis of its source of that shape; nothing if it is
/// not part of it.
std::optional<std::vector<Span>> findSpans(mlir::tensor::ExtractSliceOp op,
                                           llvm::ArrayRef<int64_t> shape,
                                           ExtentOf extentOf);
/// Calls `visit` for every row of a slice of a contiguous tensor of that shape,
/// with its first byte in the tensor and in the slice, and its bytes.
void visitRows(
    llvm::ArrayRef<Span> spans, llvm::ArrayRef<int64_t> shape, int64_t bits,
    llvm::function_ref<void(int64_t at, int64_t row, int64_t bytes)> visit);

/// The format of elements of `type`, if they are numbers with one.
std::optional<Format> getFormat(mlir::Type type);

} // namespace dsv4::reference

#endif // DSV4_REFERENCE_INTERPRETER_H
