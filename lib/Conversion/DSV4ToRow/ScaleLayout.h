//===- ScaleLayout.h - Scales in other orders than that of rows -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_CONVERSION_SCALELAYOUT_H
#define DSV4_CONVERSION_SCALELAYOUT_H

#include "dsv4/Conversion/RowContext.h"

namespace dsv4 {

/// Where `layout`, which is not row-major, has the `groups` scales of a row, of
/// type `element`, in `tensor`. An error if it has strides that the layout
/// leaves no room for.
llvm::FailureOr<StoredVector> locateScales(RowContext &row, mlir::Value tensor,
                                           mlir::Type element, int64_t groups,
                                           ScaleLayout layout);

/// Stores the scales of a row, which cover `group` elements each, where
/// `layout`, which is not row-major, has them in `destination`. An error if it
/// has strides that the layout leaves no room for.
llvm::LogicalResult storeScales(RowContext &row, mlir::Value destination,
                                mlir::Value scales, int64_t group,
                                ScaleLayout layout);

} // namespace dsv4

#endif // DSV4_CONVERSION_SCALELAYOUT_H
