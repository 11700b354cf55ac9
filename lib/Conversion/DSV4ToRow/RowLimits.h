//===- RowLimits.h - How many elements of a row count -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_CONVERSION_ROWLIMITS_H
#define DSV4_CONVERSION_ROWLIMITS_H

#include "dsv4/Conversion/RowContext.h"

namespace dsv4 {

/// The lengths of rows, as `dsv4.topk` describes them.
struct RowLengths {
  mlir::Value lengths;
  std::optional<uint64_t> nextN, ratio;
};

/// The length of this row, at most `columns` and not negative.
mlir::Value buildRowLength(RowContext &row, const RowLengths &given,
                           mlir::Value columns, llvm::StringRef name);

} // namespace dsv4

#endif // DSV4_CONVERSION_ROWLIMITS_H
