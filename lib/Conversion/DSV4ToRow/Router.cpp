//===- Router.cpp - Row programs of gate, lookup, route_weights -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Dialect/Row.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dsv4;

namespace {

struct GateLowering
    : RowLoweringInterface::ExternalModel<GateLowering, GateOp> {
  static Value reduce(row::ReduceKind kind, Value of, RowContext &row,
                      StringRef name) {
    int64_t extent = cast<VectorType>(of.getType()).getNumElements();
    auto one = VectorType::get({1}, row.getBuilder().getF32Type());
    return row::ReduceOp::create(row.getBuilder(), row.getLoc(name), one, kind,
                                 of, extent);
  }
  static Value buildPowers(RowContext &row, Value logits, Value max) {
    auto type = cast<VectorType>(logits.getType());
    Value below = arith::SubFOp::create(row.getBuilder(), row.getLoc(), logits,
                                        row.repeat(max, type.getNumElements()));
    return row::ActivationOp::create(row.getBuilder(), row.getLoc("powers"),
                                     type, row::ActivationKind::Exp, below);
  }
  static Value buildQuotients(RowContext &row, Value powers, Value sum) {
    int64_t count = cast<VectorType>(powers.getType()).getNumElements();
    return arith::DivFOp::create(row.getBuilder(), row.getLoc("scores"), powers,
                                 row.repeat(sum, count));
  }
  static Value buildSoftmax(RowContext &row, Value logits) {
    Value max = reduce(row::ReduceKind::MaxNaN, logits, row, "max_logit");
    Value powers = buildPowers(row, logits, max);
    Value sum = reduce(row::ReduceKind::Sum, powers, row, "power_sum");
    return buildQuotients(row, powers, sum);
  }

  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<GateOp>(operation);
    Value logits = row.toF32(row.takeRow(op.getLogits(), "logits"));
    if (op.getFunction() == GateFunction::Softmax)
      return SmallVector<RowValue>{{buildSoftmax(row, logits)}};
    Value scores = row::ActivationOp::create(
        row.getBuilder(), row.getLoc("scores"), logits.getType(),
        op.getFunction() == GateFunction::Sigmoid
            ? row::ActivationKind::Sigmoid
            : row::ActivationKind::SqrtSoftplus,
        logits);
    return SmallVector<RowValue>{{scores}};
  }
};

struct LookupLowering
    : RowLoweringInterface::ExternalModel<LookupLowering, LookupOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<LookupOp>(operation);
    OpBuilder &b = row.getBuilder();
    int64_t k = cast<ShapedType>(op.getOut().getType()).getShape().back();
    Value id = row.loadIndexOfRow(op.getIds(), "id");
    Value inTable =
        row.both(row.isNotNegative(id),
                 row.isBelow(id, row.getExtent(op.getTable(), 0)), "in_table");
    StoredVector stored = locateRow(row, op.getTable(), 0, k, "entries");
    stored.offset = row.getOffset(op.getTable(), id);
    stored.predicate = inTable;
    Value entries = row.toI32(buildRead(row, stored), "entries");
    auto type = cast<VectorType>(entries.getType());
    Value none = arith::ConstantOp::create(
        b, row.getLoc(),
        DenseElementsAttr::get(type, b.getI32IntegerAttr(-1).getValue()));
    Value found =
        arith::SelectOp::create(b, row.getLoc("found"), inTable, entries, none);
    return SmallVector<RowValue>{{found}};
  }
};

/// Emits the weights of a row, or of one rank of a selection of the kernel.
struct RouteWeightsLowering
    : RowLoweringInterface::ExternalModel<RouteWeightsLowering,
                                          RouteWeightsOp> {
  static Value renormalize(RowContext &row, Value weights) {
    constexpr double kMinNormal = 0x1p-126;
    OpBuilder &b = row.getBuilder();
    int64_t count = cast<VectorType>(weights.getType()).getNumElements();
    Value sum = row::ReduceOp::create(b, row.getLoc("sum"),
                                      VectorType::get({1}, b.getF32Type()),
                                      row::ReduceKind::Sum, weights, count);
    sum = arith::MaximumFOp::create(b, row.getLoc(), sum,
                                    row.splat(kMinNormal, 1));
    return arith::DivFOp::create(b, row.getLoc(), weights,
                                 row.repeat(sum, count));
  }

  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<RouteWeightsOp>(operation);
    OpBuilder &b = row.getBuilder();
    int64_t count = op.getK();
    Value indices = row.takeIndices(op.getIndices(), "indices");
    Value picked =
        op.getUniform()
            ? row.splat(1.0 / count, count)
            : row::GatherElementsOp::create(
                  b, row.getLoc("scores"),
                  VectorType::get({count}, b.getF32Type()),
                  row.toF32(row.takeRow(op.getScores(), "scores")), indices)
                  .getElements();
    Value weights = row::WhereValidOp::create(b, row.getLoc("picked"),
                                              picked.getType(), picked, indices,
                                              op.getExperts(), APFloat(0.0f));
    if (op.getRenormalize())
      weights = renormalize(row, weights);
    if (op.getScale())
      weights = arith::MulFOp::create(
          b, row.getLoc(), weights,
          row.splat(op.getScale()->convertToFloat(), count));
    return SmallVector<RowValue>{{weights}};
  }
};

} // namespace

void dsv4::attachRouterLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    GateOp::attachInterface<GateLowering>(*context);
    LookupOp::attachInterface<LookupLowering>(*context);
    RouteWeightsOp::attachInterface<RouteWeightsLowering>(*context);
  });
}
