//===- Topk.cpp - Row program of dsv4.topk --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row.select of the scores, whatever op of the kernel they come from, and the
// results of the selected elements.
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Dialect/Row.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// Emits the row program of one selection.
class TopkBuilder {
public:
  TopkBuilder(TopkOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()) {}

  FailureOr<SmallVector<RowValue>> build();

private:
  /// The elements of the row that count.
  Value buildLength();
  Value addBias(Value scores);
  /// The elements that were selected, without the bias.
  Value buildValues(Value scores, row::SelectOp select);
  /// Slots of the indices in a paged cache.
  Value buildSlots(Value indices);
  Value buildSlot(Value index);

  TopkOp op;
  RowContext &row;
  OpBuilder &b;
  int64_t max = 0; ///< Elements a row may have.
  /// The row of the page table, and whether there is one.
  Value tableRow, hasTableRow;
};

} // namespace

static row::SelectOrder convert(TopkOrder order) {
  switch (order) {
  case TopkOrder::Unordered:
    return row::SelectOrder::Unordered;
  case TopkOrder::Sorted:
    return row::SelectOrder::Sorted;
  case TopkOrder::IndexAscending:
    return row::SelectOrder::IndexAscending;
  }
  llvm_unreachable("all orders are above");
}

Value TopkBuilder::buildLength() {
  auto scores = cast<RankedTensorType>(op.getScores().getType());
  Value all = isa<BlockArgument>(op.getScores())
                  ? row.getExtent(op.getScores(), scores.getRank() - 1)
                  : row.constant(scores.getShape().back());
  if (!op.getLengths())
    return all;
  Value given =
      row.loadIndexOfRow(op.getLengths(), op.getRatio() ? "position" : "given",
                         IntegerKind::Length);
  if (op.getRatio())
    given = row.div(row.add(given, row.constant(1)),
                    row.constant(*op.getRatio()), "complete");
  given = arith::MaxSIOp::create(b, row.getLoc(), given, row.constant(0));
  return arith::MinSIOp::create(b, row.getLoc("length"), given, all);
}

Value TopkBuilder::addBias(Value scores) {
  if (!op.getBias())
    return scores;
  Value bias = row.toF32(row.takeRow(op.getBias(), "bias", max));
  return arith::AddFOp::create(b, row.getLoc(), scores, bias);
}

Value TopkBuilder::buildSlot(Value index) {
  Value table = op.getPageTable();
  Value pages = row.getExtent(table, 1);
  int64_t page = *op.getPage();
  Value number = row.div(index, row.constant(page), "page_number");
  Value known = row.both(row.isNotNegative(index), row.isBelow(number, pages));
  Value entry = row.loadIndexIf(
      row.both(hasTableRow, known), table,
      [&] { return row.getOffset(table, {tableRow, number}); }, -1, "entry");
  Value slot = row.add(row.mul(entry, row.constant(page)),
                       row.rem(index, row.constant(page)), "slot");
  Value isSlot = row.both(row.isNotNegative(entry),
                          row.isBelow(slot, row.constant(int64_t(1) << 31)));
  return arith::SelectOp::create(b, row.getLoc(), isSlot, slot,
                                 row.constant(-1));
}

Value TopkBuilder::buildSlots(Value indices) {
  auto type = cast<VectorType>(indices.getType());
  tableRow = row.getRow();
  if (op.getRequests())
    tableRow = row.loadIndexOfRow(op.getRequests(), "request");
  // Rows of one axis are tied to those of the table.
  if (op.getRequests() || row.getSpaceRank() != 1)
    hasTableRow =
        row.both(row.isNotNegative(tableRow),
                 row.isBelow(tableRow, row.getExtent(op.getPageTable(), 0)),
                 op.getRequests() ? "has_request" : "has_table_row");
  auto map = row::MapOp::create(b, row.getLoc("slots"), type, indices);
  OpBuilder::InsertionGuard saved(b);
  Value index =
      b.createBlock(&map.getBody(), {}, b.getIndexType(), row.getLoc("index"))
          ->getArgument(0);
  Value slot = arith::IndexCastOp::create(b, row.getLoc(), b.getI32Type(),
                                          buildSlot(index));
  row::YieldOp::create(b, row.getLoc(), slot);
  return map.getMapped();
}

Value TopkBuilder::buildValues(Value scores, row::SelectOp select) {
  Value values = select.getValues();
  if (op.getBias()) {
    // The element was chosen by another number than it is.
    values = row::GatherElementsOp::create(
        b, row.getLoc("scores"), values.getType(), scores, select.getIndices());
    APFloat none = APFloat::getInf(APFloat::IEEEsingle(), !op.getSmallest());
    values = row::WhereValidOp::create(b, row.getLoc(), values.getType(),
                                       values, select.getIndices(),
                                       TopkOp::kMaxColumns, none);
  }
  return row.fromF32(values, getElementTypeOrSelf(op.getValues().getType()));
}

FailureOr<SmallVector<RowValue>> TopkBuilder::build() {
  auto kernel = op->getParentOfType<KernelOp>();
  max = boundColumns(kernel, op.getCooperativeWork());
  if (max > TopkOp::kMaxColumns)
    return op.emitOpError()
           << "topk_c1: a row may have more than " << TopkOp::kMaxColumns
           << " elements: run dsv4-specialize, which bounds a named axis";
  max = std::max<int64_t>(max, 1);
  Value length = buildLength();
  Value scores = row.toF32(row.takeRow(op.getScores(), "scores", max));
  int64_t k = op.getK();
  auto select = row::SelectOp::create(
      b, row.getLoc(), VectorType::get({k}, b.getI32Type()),
      VectorType::get({k}, b.getF32Type()), addBias(scores), length,
      convert(op.getOrder()), op.getSmallest());
  if (op.getGroups()) {
    select.setGroups(*op.getGroups());
    select.setKeep(*op.getKeep());
    select.setBy(*op.getBy());
  }
  SmallVector<RowValue> results = {{select.getIndices()}};
  if (op.getValues())
    results.push_back({buildValues(scores, select)});
  if (op.getSlots())
    results.push_back({buildSlots(select.getIndices())});
  return results;
}

namespace {
struct TopkLowering
    : RowLoweringInterface::ExternalModel<TopkLowering, TopkOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    return TopkBuilder(cast<TopkOp>(op), row).build();
  }
};
} // namespace

void dsv4::attachTopkLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    TopkOp::attachInterface<TopkLowering>(*context);
  });
}
