//===- RowLowerings.cpp - Lowerings of dsv4 ops, and what they share ------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Conversion/RowContext.h"
#include "dsv4/Dialect/RecordLayout.h"
#include "dsv4/Passes.h"
#include "dsv4/Schedule/Limits.h"

#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

int64_t dsv4::getVectorAlignment(RowContext &row, Value tensor) {
  constexpr int64_t max = limits::kMaxAccessBits / 8;
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t bytes =
      type.getShape().back() * getElementBits(type.getElementType()) / 8;
  return std::min(max, row.getRowAlignment(tensor, std::gcd(max, bytes)));
}

void dsv4::registerRowLowerings(DialectRegistry &registry) {
#define DSV4_ATTACH_LOWERING(Name) attach##Name##Lowering(registry);
  DSV4_ROW_LOWERINGS(DSV4_ATTACH_LOWERING)
#undef DSV4_ATTACH_LOWERING
}
