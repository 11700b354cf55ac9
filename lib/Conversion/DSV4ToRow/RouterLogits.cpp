//===- RouterLogits.cpp - Row program of router_logits --------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Dialect/Row/ScoreOps.h"

using namespace mlir;
using namespace dsv4;

namespace {
struct RouterLogitsLowering
    : RowLoweringInterface::ExternalModel<RouterLogitsLowering,
                                          RouterLogitsOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<RouterLogitsOp>(operation);
    OpBuilder &b = row.getBuilder();
    Value logits = row::RouterLogitsOp::create(
        b, row.getLoc("logits"),
        VectorType::get({op.getExperts()}, b.getF32Type()),
        row.getBuffer(op.getHidden()), row.getStride(op.getHidden(), 0),
        row.getBuffer(op.getWeights()), row.getStride(op.getWeights(), 0),
        op.getDepth(), getVectorAlignment(row, op.getHidden()),
        getVectorAlignment(row, op.getWeights()));
    if (!isYielded(op))
      return SmallVector<RowValue>{{logits}};
    // They are written as they come: no thread has a row of them.
    row::WriteTilesOp::create(b, row.getLoc(), logits,
                              row.getBuffer(op.getOut()),
                              row.getRowOffset(op.getOut(), "row_start"),
                              row.constant(op.getExperts()));
    return SmallVector<RowValue>{RowValue()};
  }
};
} // namespace

void dsv4::attachRouterLogitsLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    RouterLogitsOp::attachInterface<RouterLogitsLowering>(*context);
  });
}
