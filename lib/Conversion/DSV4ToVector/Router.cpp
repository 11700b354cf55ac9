//===- Router.cpp - Row programs of gate, lookup, route_weights -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Dialect/CUDA.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace dsv4;

namespace {

struct GateLowering
    : RowLoweringInterface::ExternalModel<GateLowering, GateOp> {
  static Value reduce(cuda::ReduceKind kind, Value of, RowContext &row,
                      StringRef name) {
    int64_t extent = cast<VectorType>(of.getType()).getNumElements();
    auto one = VectorType::get({1}, row.getBuilder().getF32Type());
    return cuda::ReduceOp::create(row.getBuilder(), row.getLoc(name), one, kind,
                                  of, extent);
  }
  static Value buildPowers(RowContext &row, Value logits, Value most) {
    auto type = cast<VectorType>(logits.getType());
    Value below =
        arith::SubFOp::create(row.getBuilder(), row.getLoc(), logits,
                              row.repeat(most, type.getNumElements()));
    return cuda::ActivationOp::create(row.getBuilder(), row.getLoc("powers"),
                                      type, cuda::ActivationKind::Exp, below);
  }
  static Value buildQuotients(RowContext &row, Value powers, Value sum) {
    int64_t count = cast<VectorType>(powers.getType()).getNumElements();
    return arith::DivFOp::create(row.getBuilder(), row.getLoc("scores"), powers,
                                 row.repeat(sum, count));
  }
  /// Of a whole row the largest logit, the sum of the powers below it, and the
  /// scores.
  static SmallVector<Value> buildTerms(RowContext &row, Value logits) {
    Value most = reduce(cuda::ReduceKind::MaxNaN, logits, row, "most");
    Value powers = buildPowers(row, logits, most);
    Value sum = reduce(cuda::ReduceKind::Sum, powers, row, "power_sum");
    return {most, sum, buildQuotients(row, powers, sum)};
  }
  static Value takeLogits(GateOp op, RowContext &row) {
    Value logits = row.takeRow(op.getLogits(), "logits");
    return logits ? row.toF32(logits) : Value();
  }
  static Value buildSoftmax(GateOp op, RowContext &row) {
    auto build = [&] { return buildTerms(row, takeLogits(op, row)); };
    if (row.isWhole())
      return build()[2];
    SmallVector<Value> terms = row.atWholeRow(op, build);
    if (Value own = row.takeOwnColumns(terms[2]))
      return own;
    Value powers = buildPowers(row, takeLogits(op, row), terms[0]);
    return buildQuotients(row, powers, terms[1]);
  }

  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<GateOp>(operation);
    if (op.getFunction() == GateFunction::Softmax)
      return SmallVector<RowValue>{{buildSoftmax(op, row)}};
    Value logits = takeLogits(op, row);
    if (!logits)
      return failure();
    Value scores = cuda::ActivationOp::create(
        row.getBuilder(), row.getLoc("scores"), logits.getType(),
        op.getFunction() == GateFunction::Sigmoid
            ? cuda::ActivationKind::Sigmoid
            : cuda::ActivationKind::SqrtSoftplus,
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
    int64_t places = cast<ShapedType>(op.getOut().getType()).getShape().back();
    Value id = row.loadIndex(row.getBuffer(op.getIds()), row.getRow(), "id");
    Value inTable =
        row.both(row.isNotNegative(id),
                 row.isBelow(id, row.getExtent(op.getTable(), 0)), "in_table");
    StoredVector stored = locateRow(row, op.getTable(), 0, places, "entries");
    stored.offset = row.mul(id, row.constant(places));
    stored.predicate = inTable;
    Value entries = buildRead(row, stored);
    auto type = cast<VectorType>(entries.getType());
    Value none = arith::ConstantOp::create(
        b, row.getLoc(),
        DenseElementsAttr::get(type, b.getI32IntegerAttr(-1).getValue()));
    Value found =
        arith::SelectOp::create(b, row.getLoc("found"), inTable, entries, none);
    return SmallVector<RowValue>{{found}};
  }
};

/// Emits the weights of a row, or of one place of a selection of the kernel.
class RouteWeightsBuilder {
public:
  RouteWeightsBuilder(RouteWeightsOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()),
        place(row.lookupPlace(op.getIndices())) {}

  Value build();

private:
  /// The scores with the indices at hand; sets `indices`.
  Value buildPicked();
  Value buildSum(Value picked);

  RouteWeightsOp op;
  RowContext &row;
  OpBuilder &b;
  Value place;   ///< What was selected for the place, if that is all there is.
  Value indices; ///< As i32: a vector, or of the place.
};

} // namespace

Value RouteWeightsBuilder::buildPicked() {
  bool uniform = op.getUniform();
  int64_t places = op.getPlaces();
  Value share = uniform ? row.splat(1.0 / places, place ? 1 : places) : Value();
  if (!place) {
    indices = row.takeRow(op.getIndices(), "indices");
    return uniform ? share : row.pick(op.getScores(), indices, "scores");
  }
  indices = arith::IndexCastOp::create(b, row.getLoc(), b.getI32Type(), place);
  if (uniform)
    return share;
  Value scores;
  Value column =
      arith::MaxSIOp::create(b, row.getLoc("column"), place, row.constant(0));
  row.atColumns(column, 1,
                [&] { scores = row.takeRow(op.getScores(), "scores"); });
  return scores;
}

Value RouteWeightsBuilder::buildSum(Value picked) {
  if (place)
    return cuda::PlaceSumOp::create(b, row.getLoc("sum"), picked.getType(),
                                    picked, op.getPlaces());
  return cuda::ReduceOp::create(b, row.getLoc("sum"),
                                VectorType::get({1}, b.getF32Type()),
                                cuda::ReduceKind::Sum, picked, op.getPlaces());
}

Value RouteWeightsBuilder::build() {
  Value picked = buildPicked();
  if (!picked)
    return {};
  int64_t count = cast<VectorType>(picked.getType()).getNumElements();
  Value weights = cuda::WhereValidOp::create(b, row.getLoc("picked"),
                                             picked.getType(), picked, indices,
                                             op.getExperts(), APFloat(0.0f));
  if (op.getRenormalize()) {
    constexpr double kLeastNormal = 0x1p-126;
    Value sum = arith::MaximumFOp::create(b, row.getLoc(), buildSum(weights),
                                          row.splat(kLeastNormal, 1));
    weights =
        arith::DivFOp::create(b, row.getLoc(), weights, row.repeat(sum, count));
  }
  if (op.getScale())
    weights = arith::MulFOp::create(
        b, row.getLoc(), weights,
        row.splat(op.getScale()->convertToFloat(), count));
  return weights;
}

namespace {
struct RouteWeightsLowering
    : RowLoweringInterface::ExternalModel<RouteWeightsLowering,
                                          RouteWeightsOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    Value weights =
        RouteWeightsBuilder(cast<RouteWeightsOp>(operation), row).build();
    if (!weights)
      return failure();
    return SmallVector<RowValue>{{weights}};
  }
};
} // namespace

void dsv4::attachRouterLowerings(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    GateOp::attachInterface<GateLowering>(*context);
    LookupOp::attachInterface<LookupLowering>(*context);
    RouteWeightsOp::attachInterface<RouteWeightsLowering>(*context);
  });
}
