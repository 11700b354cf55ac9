//===- OpHelpers.h - What verifiers of several ops share --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_DIALECT_OPHELPERS_H
#define DSV4_LIB_DIALECT_OPHELPERS_H

#include "dsv4/Dialect/DSV4.h"

#include "mlir/IR/TypeUtilities.h"

namespace dsv4 {

/// Extents agree where both are known.
inline bool compatible(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  return mlir::succeeded(mlir::verifyCompatibleShape(a, b));
}

/// "[?, 448]".
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// Ties the first `count` axes of two tensors.
void tieAxes(mlir::Value a, mlir::Value b, int64_t count,
             llvm::SmallVectorImpl<std::pair<TensorAxis, TensorAxis>> &pairs);

/// Shape of the scales of `level` for data of shape `data`; fails where the
/// group does not divide the row.
mlir::FailureOr<llvm::SmallVector<int64_t>>
getScaleShape(llvm::ArrayRef<int64_t> data, ScaleAttr level);

/// The one segment of a row of `value`.
llvm::SmallVector<RowSegment> getOneSegment(mlir::Value value);

/// Whether `type` has rows: rank >= 1 and a constant last extent between 1 and
/// RecordAttr::kMaxRowExtent.
bool hasRows(mlir::Type type);

//===----------------------------------------------------------------------===//
// Shared syntax: results have the types of the destinations, so the text does
// not repeat them.
//===----------------------------------------------------------------------===//

inline mlir::ParseResult
parseTiedVariadic(mlir::OpAsmParser &, llvm::ArrayRef<mlir::Type> destinations,
                  llvm::SmallVectorImpl<mlir::Type> &results) {
  llvm::append_range(results, destinations);
  return mlir::success();
}
inline void printTiedVariadic(mlir::OpAsmPrinter &, mlir::Operation *,
                              mlir::TypeRange, mlir::TypeRange) {}

inline mlir::ParseResult parseTiedResult(mlir::OpAsmParser &,
                                         mlir::Type destination,
                                         mlir::Type &result) {
  result = destination;
  return mlir::success();
}
inline void printTiedResult(mlir::OpAsmPrinter &, mlir::Operation *, mlir::Type,
                            mlir::Type) {}

inline mlir::ParseResult parseTiedResults(mlir::OpAsmParser &,
                                          mlir::Type destination,
                                          mlir::Type mask, mlir::Type &result,
                                          mlir::Type &valid) {
  result = destination;
  valid = mask;
  return mlir::success();
}
inline void printTiedResults(mlir::OpAsmPrinter &, mlir::Operation *,
                             mlir::Type, mlir::Type, mlir::Type, mlir::Type) {}

} // namespace dsv4

#endif // DSV4_LIB_DIALECT_OPHELPERS_H
