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

Value dsv4::buildRowCounts(RowContext &row, Value validRows, Value padding) {
  Value counts;
  if (validRows)
    counts =
        row.isBelow(row.getRow(), row.loadIndexAt(validRows, row.constant(0),
                                                  row.getName(validRows),
                                                  IntegerKind::Length));
  if (!padding)
    return counts;
  Value padded = row.loadIndexOfRow(padding, row.getName(padding));
  Value isRow =
      arith::CmpIOp::create(row.getBuilder(), row.getLoc(),
                            arith::CmpIPredicate::eq, padded, row.constant(0));
  return row.both(counts, isRow);
}

Value dsv4::buildSequence(RowContext &row, int64_t start, int64_t count) {
  OpBuilder &b = row.getBuilder();
  return row::SequenceOp::create(b, row.getLoc(),
                                 VectorType::get({count}, b.getI32Type()),
                                 row.constant(start), row.constant(1));
}

Value dsv4::repeatInteger(RowContext &row, int32_t number, int64_t count) {
  OpBuilder &b = row.getBuilder();
  auto type = VectorType::get({count}, b.getI32Type());
  return arith::ConstantOp::create(
      b, row.getLoc(),
      DenseElementsAttr::get(type, b.getI32IntegerAttr(number).getValue()));
}

Value dsv4::buildTokenExperts(RowContext &row, Value destination) {
  OpBuilder &b = row.getBuilder();
  auto type = cast<RankedTensorType>(destination.getType());
  int64_t axes = type.getRank() - 1;
  Value rows = row.constant(1);
  for (int64_t axis = 0; axis < axes; ++axis)
    rows = axis == 0 ? row.getExtent(destination, axis)
                     : row.mul(rows, row.getExtent(destination, axis));
  return row::SequenceOp::create(
      b, row.getLoc("token_experts"),
      VectorType::get({type.getShape().back()}, b.getI32Type()), row.getRow(),
      rows);
}

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
  /// The row of the table if `exists`, and after it the shared experts.
  static Value buildWithShared(LookupOp op, RowContext &row, Value id,
                               Value exists) {
    OpBuilder &b = row.getBuilder();
    int64_t k = cast<ShapedType>(op.getTable().getType()).getShape().back();
    int64_t columns = k + op.getSharedCount();
    auto type = VectorType::get({columns}, getElementTypeOrSelf(op.getTable()));
    StoredVector stored = locateRow(row, op.getTable(), 0, k, "entries");
    Value read = arith::SelectOp::create(b, row.getLoc("table_row"), exists, id,
                                         row.constant(0));
    stored.offset = row.getOffset(op.getTable(), read);
    // A column of the table by its number: nothing is read of the others.
    Value column = arith::SelectOp::create(b, row.getLoc("columns"), exists,
                                           buildSequence(row, 0, columns),
                                           repeatInteger(row, -1, columns));
    Value entries = row::GatherElementsOp::create(
        b, row.getLoc("entries"), type, buildRead(row, stored), column);
    entries = row.toI32(entries, "entries");
    return row::SpliceOp::create(
        b, row.getLoc(), entries.getType(), entries, k,
        buildSequence(row, static_cast<int64_t>(*op.getExperts()) - k,
                      columns));
  }

  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<LookupOp>(operation);
    OpBuilder &b = row.getBuilder();
    int64_t columns = cast<ShapedType>(op.getOut().getType()).getShape().back();
    Value id = row.loadIndexOfRow(op.getIds(), "id");
    Value exists =
        row.both(row.isNotNegative(id),
                 row.isBelow(id, row.getExtent(op.getTable(), 0)), "in_table");
    exists = row.both(exists,
                      buildRowCounts(row, op.getValidRows(), op.getPadding()),
                      "exists");
    Value entries;
    if (op.getShared()) {
      entries = buildWithShared(op, row, id, exists);
    } else {
      StoredVector stored =
          locateRow(row, op.getTable(), 0, columns, "entries");
      stored.offset = row.getOffset(op.getTable(), id);
      stored.predicate = exists;
      entries = row.toI32(buildRead(row, stored), "entries");
    }
    Value none = repeatInteger(row, -1, columns);
    Value found =
        arith::SelectOp::create(b, row.getLoc("found"), exists, entries, none);
    SmallVector<RowValue> results = {{found}};
    if (op.getTokenExperts())
      results.push_back({buildTokenExperts(row, op.getOuts().back())});
    return results;
  }
};

struct MapIndicesLowering
    : RowLoweringInterface::ExternalModel<MapIndicesLowering, MapIndicesOp> {
  /// The entries of the table, and -1 for an index that has none.
  static Value buildEntries(RowContext &row, Value table, Value indices) {
    OpBuilder &b = row.getBuilder();
    auto type = cast<VectorType>(indices.getType());
    int64_t count = cast<ShapedType>(table.getType()).getDimSize(0);
    // A rank reads an element whatever its index is.
    Value read = arith::MinSIOp::create(
        b, row.getLoc(), indices,
        repeatInteger(row, int32_t(count - 1), type.getNumElements()));
    Value entries = row::GatherElementsOp::create(
        b, row.getLoc("entries"),
        VectorType::get(type.getShape(), getElementTypeOrSelf(table)),
        row.takeRow(table, "table"), read);
    return row::WhereValidOp::create(b, row.getLoc("mapped"), type,
                                     row.toI32(entries, "entries"), indices,
                                     count, APFloat(0.0f));
  }

  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    auto op = cast<MapIndicesOp>(operation);
    Value mapped = row.takeIndices(op.getIndices(), "indices");
    if (op.getTable())
      mapped = buildEntries(row, op.getTable(), mapped);
    if (Value counts =
            buildRowCounts(row, op.getValidRows(), op.getPadding())) {
      int64_t columns = cast<VectorType>(mapped.getType()).getNumElements();
      mapped = arith::SelectOp::create(row.getBuilder(), row.getLoc("mapped"),
                                       counts, mapped,
                                       repeatInteger(row, -1, columns));
    }
    return SmallVector<RowValue>{{mapped}};
  }
};

/// Emits the weights of a row, or of one rank of a selection of the kernel.
class WeightsBuilder {
public:
  WeightsBuilder(RouteWeightsOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()), columns(op.getColumns()) {}

  Value build();

private:
  /// Scores of the experts that are routed to, and zeros.
  Value buildPicked(Value routed);
  Value buildSum(Value weights);
  Value divide(Value weights, Value sum);
  /// With `shared` in the columns of shared experts that `indices` name.
  Value addShared(Value weights, Value indices, Value shared);

  RouteWeightsOp op;
  RowContext &row;
  OpBuilder &b;
  int64_t columns;
};

Value WeightsBuilder::buildPicked(Value routed) {
  Value picked =
      op.getUniform()
          ? row.splat(1.0 / op.getK(), columns)
          : row::GatherElementsOp::create(
                b, row.getLoc("scores"),
                VectorType::get({columns}, b.getF32Type()),
                row.toF32(row.takeRow(op.getScores(), "scores")), routed)
                .getElements();
  if (op.getNanZero())
    picked = row::ActivationOp::create(b, row.getLoc(), picked.getType(),
                                       row::ActivationKind::NaNToZero, picked);
  return row::WhereValidOp::create(b, row.getLoc("picked"), picked.getType(),
                                   picked, routed, op.getExperts(),
                                   APFloat(0.0f));
}

Value WeightsBuilder::buildSum(Value weights) {
  return row::ReduceOp::create(b, row.getLoc("sum"),
                               VectorType::get({1}, b.getF32Type()),
                               row::ReduceKind::Sum, weights, columns);
}

Value WeightsBuilder::divide(Value weights, Value sum) {
  constexpr double kMinNormal = 0x1p-126;
  sum =
      arith::MaximumFOp::create(b, row.getLoc(), sum, row.splat(kMinNormal, 1));
  return arith::DivFOp::create(b, row.getLoc(), weights,
                               row.repeat(sum, columns));
}

Value WeightsBuilder::addShared(Value weights, Value indices, Value shared) {
  shared = row::WhereValidOp::create(
      b, row.getLoc("shared"), shared.getType(), shared, indices,
      op.getExperts() + op.getSharedCount(), APFloat(0.0f));
  return row::SpliceOp::create(b, row.getLoc("all"), weights.getType(), weights,
                               op.getK(), shared);
}

Value WeightsBuilder::build() {
  Value indices = row.takeIndices(op.getIndices(), "indices"), routed = indices;
  if (op.getShared())
    routed = row::SpliceOp::create(b, row.getLoc("routed"), indices.getType(),
                                   indices, op.getK(),
                                   repeatInteger(row, -1, columns));
  Value weights = buildPicked(routed), sum;
  if (op.getRenormalize() || op.getOfSum())
    sum = buildSum(weights);
  if (auto part = op.getOfSum()) {
    Value shared = arith::MulFOp::create(b, row.getLoc(), sum,
                                         row.splat(part->convertToFloat(), 1));
    weights = addShared(weights, indices, row.repeat(shared, columns));
  }
  if (op.getRenormalize())
    weights = divide(weights, sum);
  if (op.getScale())
    weights = arith::MulFOp::create(
        b, row.getLoc(), weights,
        row.splat(op.getScale()->convertToFloat(), columns));
  if (auto given = op.getWeight())
    weights = addShared(weights, indices,
                        row.splat(given->convertToFloat(), columns));
  return weights;
}

struct RouteWeightsLowering
    : RowLoweringInterface::ExternalModel<RouteWeightsLowering,
                                          RouteWeightsOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *operation,
                                            RowContext &row) const {
    return SmallVector<RowValue>{
        {WeightsBuilder(cast<RouteWeightsOp>(operation), row).build()}};
  }
};

} // namespace

void dsv4::attachRouterLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    GateOp::attachInterface<GateLowering>(*context);
    LookupOp::attachInterface<LookupLowering>(*context);
    MapIndicesOp::attachInterface<MapIndicesLowering>(*context);
    RouteWeightsOp::attachInterface<RouteWeightsLowering>(*context);
  });
}
