//===- ValidLens.cpp - Numbers of valid entries ---------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

#include "dsv4/Dialect/DSV4/IterationSpace.h"
#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;

#define GET_OP_CLASSES
#include "DSV4LengthOps.cpp.inc"

void ValidLensOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getLens(), "lens");
}

// No other op has a result of numbers alone, and so no operand with an axis for
// the elements of a row.
bool dsv4::hasRowsOfNumbers(RowwiseOpInterface op) {
  auto lens = dyn_cast<ValidLensOp>(op.getOperation());
  return lens && cast<ShapedType>(lens.getOut().getType()).getRank() == 1;
}

// The numbers of tokens have no axis but those of the iteration space.
Value ValidLensOp::getRowOperand() { return getOut(); }
SmallVector<RowSegment> ValidLensOp::getRowSegments() {
  if (hasRowsOfNumbers(*this))
    return {{1, getElementBits(getElementTypeOrSelf(getOut().getType()))}};
  return getOneSegment(getOut());
}
bool ValidLensOp::allowsMaskedTail() { return true; }
bool ValidLensOp::acceptsProducer(OpOperand &) { return false; }
SmallVector<std::pair<TensorAxis, TensorAxis>> ValidLensOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  tieAxes(getTokens(), getOut(), 1, pairs);
  return pairs;
}

LogicalResult ValidLensOp::verify() {
  if (bool(getPositions()) == bool(getLengths()))
    return emitOpError() << "valid_lens_c1: expected one of 'positions' and "
                            "'lengths', got "
                         << (getPositions() ? "both" : "neither");
  StringRef name = getPositions() ? "positions" : "lengths";
  RankedTensorType tokens = getTensor(getTokens());
  if (!tokens || tokens.getRank() != 1)
    return emitOpError() << "valid_lens_c1: expected '" << name
                         << "' of rank 1, got " << getTokens().getType();
  const std::pair<StringRef, IntegerAttr> numbers[] = {
      {"ratio", getRatioAttr()},
      {"window", getWindowAttr()},
      {"page", getPageAttr()}};
  for (auto [attribute, number] : numbers)
    if (number && (number.getInt() < 1 || number.getInt() > INT32_MAX))
      return emitOpError() << "valid_lens_c2: expected '" << attribute
                           << "' between 1 and 2^31 - 1, got "
                           << number.getInt();
  int64_t rows = tokens.getDimSize(0);
  auto out = cast<ShapedType>(getOut().getType());
  SmallVector<int64_t> single = {rows, 1}, alone = {rows};
  if (!getPageAttr() && !fitsShape(out, alone, 1) && !fitsShape(out, single, 1))
    return emitOpError() << "valid_lens_c3: expected 'outs' of shape "
                         << formatShape(alone) << " or " << formatShape(single)
                         << " without 'page', got " << getOut().getType();
  if (!getPageAttr())
    return success();
  if (failed(verifyHasRows(*this, getOut(), "valid_lens_c3", "outs")))
    return failure();
  int64_t columns = getTensor(getOut()).getShape().back();
  if (failed(verifyShape(*this, getOut(), {rows, columns}, "valid_lens_c3",
                         "outs")))
    return failure();
  auto page = static_cast<int64_t>(*getPage());
  if (columns <= INT32_MAX / page)
    return success();
  return emitOpError() << "valid_lens_c3: expected at most 2^31 - 1 entries, "
                          "got "
                       << columns << " pages of " << page;
}
