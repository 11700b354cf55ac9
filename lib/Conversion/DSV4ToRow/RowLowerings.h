//===- RowLowerings.h - The row lowerings of dsv4's ops ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_CONVERSION_ROWLOWERINGS_H
#define DSV4_CONVERSION_ROWLOWERINGS_H

#include "dsv4/Conversion/RowContext.h"
#include "dsv4/Dialect/DSV4.h"

namespace dsv4 {

/// The files with lowerings: <Name>.cpp defines
/// attach<Name>Lowering.
#define DSV4_ROW_LOWERINGS(each)                                               \
  each(Compress) each(CompressPlan) each(Dequantize) each(IndexScore)          \
      each(PadAddScale) each(PagedAppend) each(PagedGather) each(Quantize)     \
          each(Router) each(RouterLogits) each(RowToRow) each(Topk)            \
              each(ValidLens)

#define DSV4_DECLARE_LOWERING(Name)                                            \
  void attach##Name##Lowering(mlir::DialectRegistry &registry);
DSV4_ROW_LOWERINGS(DSV4_DECLARE_LOWERING)
#undef DSV4_DECLARE_LOWERING

/// Whether the row is one of the first of `validRows` and not `padding`, where
/// they are given; null if neither is.
mlir::Value buildRowCounts(RowContext &row, mlir::Value validRows,
                           mlir::Value padding);
/// The alignment of the vectors along the last axis of a tensor in bytes, as
/// far as an access makes use of it.
int64_t getVectorAlignment(RowContext &row, mlir::Value tensor);
/// `count` integers from `start` on.
mlir::Value buildSequence(RowContext &row, int64_t start, int64_t count);
/// A row of i32 that has one number.
mlir::Value repeatInteger(RowContext &row, int32_t number, int64_t count);
/// The row of `destination`, whose columns are ranks: j * rows + row.
mlir::Value buildTokenExperts(RowContext &row, mlir::Value destination);

/// The row of a dsv4.compress with `algorithm online`.
mlir::Value buildOnlineCompress(CompressOp op, RowContext &row);

} // namespace dsv4

#endif // DSV4_CONVERSION_ROWLOWERINGS_H
