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
  each(Compress) each(CompressPlan) each(Dequantize) each(PadAddScale)         \
      each(PagedAppend) each(PagedGather) each(Quantize) each(Router)          \
          each(RowToRow) each(Topk)

#define DSV4_DECLARE_LOWERING(Name)                                            \
  void attach##Name##Lowering(mlir::DialectRegistry &registry);
DSV4_ROW_LOWERINGS(DSV4_DECLARE_LOWERING)
#undef DSV4_DECLARE_LOWERING

/// The row of a dsv4.compress with `algorithm online`.
mlir::Value buildOnlineCompress(CompressOp op, RowContext &row);

} // namespace dsv4

#endif // DSV4_CONVERSION_ROWLOWERINGS_H
