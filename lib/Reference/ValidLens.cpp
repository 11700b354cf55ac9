//===- ValidLens.cpp - Numbers of valid entries ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

rt::Status Interpreter::countEntries(ValidLensOp op) {
  const Tensor tokens = values.at(op.getTokens());
  auto out = cast<ShapedType>(op.getOut().getType());
  int64_t pages = out.getRank() == 1 ? 1 : out.getShape().back();
  SmallVector<int64_t> shape = {tokens.size()};
  if (out.getRank() > 1)
    shape.push_back(pages);
  if (rt::Status status = checkShape(op, "outs", op.getOut(), shape); !status)
    return status;
  Tensor &lens = makeResult(op.getLens(), shape);
  for (int64_t row = 0; row < tokens.size(); ++row) {
    int64_t count = tokens.length(row);
    if (op.getPositions() && count >= 0)
      ++count;
    count = std::max<int64_t>(count, 0) / int64_t(op.getRatio().value_or(1));
    count = std::min<int64_t>(count, op.getWindow().value_or(INT32_MAX));
    for (int64_t i = 0; i < pages; ++i) {
      int64_t valid = count;
      if (op.getPage()) {
        int64_t page = *op.getPage();
        valid = std::clamp<int64_t>(count - i * page, 0, page);
      }
      lens.setIndex(row * pages + i, int32_t(valid));
    }
  }
  return {};
}
