//===- RouterLogits.cpp - Logits of experts, as tiles ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/Row.h"
#include "dsv4/Schedule/Limits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::row;

LogicalResult RouterLogitsOp::verify() {
  if (getDepth() < 1 || getDepth() > limits::kMaxRouterDepth)
    return emitOpError() << "router_logits_c1: expected a 'depth' between 1 "
                            "and "
                         << limits::kMaxRouterDepth << ", got "
                         << static_cast<int64_t>(getDepth());
  int64_t experts = getLogits().getType().getNumElements();
  if (experts > limits::kMaxRouterLogits)
    return emitOpError() << "router_logits_c2: expected at most "
                         << limits::kMaxRouterLogits << " experts, got "
                         << experts;
  for (auto [name, align] : {std::pair("hidden_align", getHiddenAlign()),
                             std::pair("weight_align", getWeightAlign())})
    if (!llvm::isPowerOf2_64(align))
      return emitOpError() << "router_logits_c3: expected '" << name
                           << "' to be a power of two, got "
                           << static_cast<int64_t>(align);
  return success();
}
