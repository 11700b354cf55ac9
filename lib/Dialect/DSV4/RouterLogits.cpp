//===- RouterLogits.cpp - Logits of experts -------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpHelpers.h"

using namespace mlir;
using namespace dsv4;

void RouterLogitsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getLogits(), "logits");
}

//===----------------------------------------------------------------------===//
// RowwiseOpInterface, RowLayoutOpInterface, FusionOpInterface
//===----------------------------------------------------------------------===//

Value RouterLogitsOp::getRowOperand() { return getHidden(); }
bool RouterLogitsOp::acceptsProducer(OpOperand &) { return false; }
SmallVector<RowSegment> RouterLogitsOp::getRowSegments() { return {}; }

CooperativeWork RouterLogitsOp::getCooperativeWork() {
  CooperativeWork work;
  work.kind = RouterAttr::name;
  work.handsOverRows = true;
  return work;
}

/// The lanes that take columns of a row have all of it.
SmallVector<Access> RouterLogitsOp::getProvidedAccesses(OpResult) {
  return {Access::columns(1).withStatistics(getExperts())};
}

std::string RouterLogitsOp::getAccessNote(Access) {
  return "its blocks compute rows together, which the lanes of warps then hold";
}

ResultContract RouterLogitsOp::getContract(OpOperand &) {
  return ResultContract::bounded();
}

SmallVector<std::pair<TensorAxis, TensorAxis>> RouterLogitsOp::getTiedAxes() {
  SmallVector<std::pair<TensorAxis, TensorAxis>> pairs;
  tieAxes(getHidden(), getOut(), 1, pairs);
  return pairs;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// The extent of an axis that has to be a constant between 1 and `max`, or
/// nothing.
static std::optional<int64_t> findExtent(Value value, int64_t axis,
                                         int64_t max) {
  auto type = cast<ShapedType>(value.getType());
  if (!type.hasRank() || type.getRank() != 2)
    return std::nullopt;
  int64_t extent = type.getDimSize(axis);
  if (ShapedType::isDynamic(extent) || extent < 1 || extent > max)
    return std::nullopt;
  return extent;
}

LogicalResult RouterLogitsOp::verify() {
  auto depth = findExtent(getHidden(), 1, kMaxDepth);
  if (!depth)
    return emitOpError() << "router_logits_c1: expected 'hidden' of shape "
                            "[rows, H] with a constant H between 1 and "
                         << kMaxDepth << ", got " << getHidden().getType();
  auto experts = findExtent(getWeights(), 0, kMaxExperts);
  if (!experts || findExtent(getWeights(), 1, kMaxDepth) != depth)
    return emitOpError() << "router_logits_c2: expected 'weights' of shape [E, "
                         << *depth << "] with a constant E between 1 and "
                         << kMaxExperts << ", got " << getWeights().getType();
  SmallVector<int64_t> shape = {
      cast<ShapedType>(getHidden().getType()).getDimSize(0), *experts};
  if (!fitsShape(cast<ShapedType>(getOut().getType()), shape, 1))
    return emitOpError() << "router_logits_c3: expected 'outs' of shape "
                         << formatShape(shape) << ", got "
                         << getOut().getType();
  return success();
}
