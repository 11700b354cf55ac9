//===- Signature.h - What a caller passes to a function --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SIGNATURE_H
#define DSV4_SIGNATURE_H

#include "dsv4-runtime/Program.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <optional>
#include <string>

namespace mlir::tensor {
class ExtractSliceOp;
} // namespace mlir::tensor

namespace dsv4 {

/// The buffers that a function's arguments stand for.
///
/// Every tensor argument is one binding under its name, with its row-major
/// storage: a last axis of packed 4-bit elements counts bytes, i1 is a byte. A
/// cache is a binding `[pages, page_bytes]` of bytes under its name if any
/// field is in its pages, and one `NAME.FIELD` for every array field,
/// `[pages, page, bytes of an entry]` of bytes (the bytes of one scale for a
/// scale of the whole cache). Bindings of an argument with `dsv4.strides` have
/// strides, and a dim for each that is known at run time only.
struct Signature {
  std::vector<rt::Binding> bindings;
  std::vector<rt::Dim> dims;
  /// Name and index of the first binding of every argument.
  std::vector<std::string> argumentNames;
  llvm::SmallVector<unsigned> firstBinding;
  /// Whether the contents of a binding before the launch matter: those of all
  /// bindings except destinations. They matter for a cache that an append
  /// writes.
  llvm::SmallVector<bool> holdsInput;

  /// The binding of an argument, or of an array field of a cache argument.
  unsigned getBinding(unsigned argument, llvm::StringRef field = "") const;
  /// The extent of an axis of an argument (a cache: axis 0, its pages).
  rt::Extent getExtent(unsigned argument, int64_t axis) const;
};

/// The signature of a function, before or after specialisation. Fails with a
/// diagnostic on an argument type that no caller can pass. An argument with
/// `dsv4.view` has no binding: its first one is that of the argument that it is
/// a slice of.
mlir::FailureOr<Signature> getSignature(mlir::func::FuncOp func);

/// The extent of an axis of an argument, or a constant, such as that of a
/// slice.
struct BoundedExtent {
  std::optional<std::pair<unsigned, int64_t>> argument;
  int64_t constant = 0;
};

/// An axis that has at least the extent of another one, and is a multiple of a
/// number (AxisBound).
struct ExtentBound {
  BoundedExtent axis, min;
  int64_t multiple = 1;
};

/// Gives axes that the ops of a function tie, or that have the same name, one
/// name and, if one of them is constant, that extent. A contradiction is an
/// error, and so are an argument that is both read and a destination, and a
/// cache with rings of two lengths. Called before getSignature, because the
/// runtime compares extents by name.
///
/// With `bounds`, lists what the runtime compares besides: axes that have at
/// least the extent of another one.
mlir::LogicalResult
unifyDims(mlir::func::FuncOp func,
          llvm::SmallVectorImpl<ExtentBound> *bounds = nullptr);

/// Checks that every slice of an argument is memory that a launch can address;
/// an error otherwise. unifyDims() does.
mlir::LogicalResult checkSlices(mlir::func::FuncOp func);

/// An error if an argument has `dsv4.view`: a launch trusts what it says, and
/// only makeViews() writes it.
mlir::LogicalResult refuseViews(mlir::func::FuncOp func);

/// Makes every slice of an argument an argument of its own, with `dsv4.view`.
/// Called when extents have their names.
mlir::LogicalResult makeViews(mlir::func::FuncOp func);

/// The axes of the source that the result of a slice has.
llvm::SmallVector<int64_t> getKeptAxes(mlir::tensor::ExtractSliceOp op);

/// An error if one of `dims` is none of the function, or has another extent
/// there.
rt::Status checkDims(mlir::func::FuncOp func, const Signature &signature,
                     const std::map<std::string, int64_t> &dims);

/// Selects from the extents of all dims those that `func` is compiled for:
/// exact dims, and bounds of buckets.
std::map<std::string, int64_t>
selectDims(mlir::func::FuncOp func, const std::map<std::string, int64_t> &dims);

/// The function `entry` of a program, or the only one if that is empty.
/// Declarations do not count.
rt::Result<mlir::func::FuncOp> findEntry(mlir::ModuleOp module,
                                         const std::string &entry);

/// Gives results the types of their destinations, after those of arguments have
/// changed, and the function its type.
void refineResultTypes(mlir::func::FuncOp func);

} // namespace dsv4

#endif // DSV4_SIGNATURE_H
