//===- RouterLogits.cpp - Logits of experts, as tiles ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/Row.h"
#include "dsv4/Schedule/Limits.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::row;

LogicalResult RouterLogitsOp::verify() {
  Type hidden = getElementTypeOrSelf(getHidden().getType());
  Type weights = getElementTypeOrSelf(getWeights().getType());
  if (!hidden.isBF16() || !(weights.isBF16() || weights.isF32()))
    return emitOpError() << "router_logits_c1: expected 'hidden' of bf16 and "
                            "'weights' of bf16 or f32, got "
                         << hidden << " and " << weights;
  int64_t experts = getLogits().getType().getNumElements();
  if (getDepth() < 1 || getDepth() > limits::kMaxRouterDepth ||
      experts > limits::kMaxRouterLogits ||
      !llvm::isPowerOf2_64(getHiddenAlign()) ||
      !llvm::isPowerOf2_64(getWeightAlign()))
    return emitOpError() << "router_logits_c2: expected a 'depth' between 1 "
                            "and "
                         << limits::kMaxRouterDepth << ", at most "
                         << limits::kMaxRouterLogits
                         << " experts, and alignments that are powers of two, "
                            "got "
                         << getDepth() << ", " << experts << ", "
                         << getHiddenAlign() << " and " << getWeightAlign();
  return success();
}
