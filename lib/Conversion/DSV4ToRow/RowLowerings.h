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

void attachPagedGatherLowering(mlir::DialectRegistry &registry);
void attachCompressLowering(mlir::DialectRegistry &registry);
void attachDequantizeLowering(mlir::DialectRegistry &registry);
void attachQuantizeLowering(mlir::DialectRegistry &registry);
void attachRowToRowLowerings(mlir::DialectRegistry &registry);
void attachPagedAppendLowering(mlir::DialectRegistry &registry);
void attachTopkLowering(mlir::DialectRegistry &registry);
void attachRouterLowerings(mlir::DialectRegistry &registry);

/// The row of a dsv4.compress with `algorithm online`.
mlir::Value buildOnlineCompress(CompressOp op, RowContext &row);

} // namespace dsv4

#endif // DSV4_CONVERSION_ROWLOWERINGS_H
