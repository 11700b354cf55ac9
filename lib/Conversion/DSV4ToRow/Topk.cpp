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

#include "RowLimits.h"
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
  /// The columns of the scores.
  Value buildColumns();
  /// The column after the last element of the row, which begins at `start`.
  Value buildEnd(Value columns);
  Value buildStart(Value columns);
  Value addBias(Value scores);
  /// The elements that were selected, without the bias.
  Value buildValues(Value scores, row::SelectOp select);
  /// The indices, with the offset of the row or the shared experts after them.
  Value buildIndices(Value indices);
  Value addOffset(Value indices);
  Value addShared(Value indices);
  /// Slots of the indices in a paged cache.
  Value buildSlots(Value indices);
  /// Finds the row of the page table.
  void findTableRow();
  /// The same of the request that has this row.
  void findRequest();
  Value buildSlot(Value index);

  TopkOp op;
  RowContext &row;
  OpBuilder &b;
  int64_t max = 0; ///< Elements a row may have.
  Value counts;    ///< Whether the row counts; null: all do.
  Value start;     ///< Where the row begins; null: at its first column.
  Value hasStart;  ///< Whether it may begin there.
  /// The row of the page table, and whether there is one; null: there is.
  Value tableRow, hasTableRow;
  Value firstPage; ///< Its first column of this row; null: 0.
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

Value TopkBuilder::buildColumns() {
  auto scores = cast<RankedTensorType>(op.getScores().getType());
  return isa<BlockArgument>(op.getScores())
             ? row.getExtent(op.getScores(), scores.getRank() - 1)
             : row.constant(scores.getShape().back());
}

Value TopkBuilder::buildStart(Value columns) {
  Value given = row.loadIndexOfRow(op.getStarts(), "given_start");
  Value start = arith::MaxSIOp::create(b, row.getLoc(), given, row.constant(0));
  start = arith::MinSIOp::create(b, row.getLoc("start"), start, columns);
  // No row begins before the first column.
  hasStart = row.isNotNegative(given);
  return start;
}

Value TopkBuilder::buildEnd(Value columns) {
  Location loc = row.getLoc();
  Value end = columns;
  if (op.getLengths()) {
    // Where nothing but lengths says so, they are the elements that count.
    end = buildRowLength(row, {op.getLengths(), op.getNextN(), op.getRatio()},
                         columns, counts ? "in_row" : "length");
    if (start)
      end = arith::MinSIOp::create(b, loc, row.add(start, end), columns);
  } else if (op.getEnds()) {
    end = row.loadIndexOfRow(op.getEnds(), "given_end");
    end = arith::MinSIOp::create(b, loc, end, columns);
  }
  bool isMoved = start || op.getEnds();
  // A row that does not count has no elements.
  if (Value exists = row.both(hasStart, counts))
    end = arith::SelectOp::create(b, row.getLoc(isMoved ? "" : "length"),
                                  exists, end, row.constant(0));
  if (!isMoved)
    return end;
  return arith::MaxSIOp::create(b, row.getLoc("end"), end,
                                start ? start : row.constant(0));
}

Value TopkBuilder::addOffset(Value indices) {
  Value offset = row.loadIndexOfRow(op.getOffsets(), "index_offset");
  auto type = cast<VectorType>(indices.getType());
  auto map = row::MapOp::create(b, row.getLoc("indices"), type, indices);
  OpBuilder::InsertionGuard saved(b);
  Value index =
      b.createBlock(&map.getBody(), {}, b.getIndexType(), row.getLoc("index"))
          ->getArgument(0);
  Value moved =
      arith::SelectOp::create(b, row.getLoc(), row.isNotNegative(index),
                              row.add(index, offset), row.constant(-1));
  Value stored =
      arith::IndexCastOp::create(b, row.getLoc(), type.getElementType(), moved);
  row::YieldOp::create(b, row.getLoc(), stored);
  return map.getMapped();
}

Value TopkBuilder::addBias(Value scores) {
  if (!op.getBias())
    return scores;
  Value bias = row.toF32(row.takeRow(op.getBias(), "bias", max));
  if (op.getOtherBias()) {
    Value other = row.loadIndexOfRow(op.getOtherRows(), "is_other");
    Value isOther = arith::CmpIOp::create(
        b, row.getLoc(), arith::CmpIPredicate::ne, other, row.constant(0));
    bias = arith::SelectOp::create(
        b, row.getLoc(), isOther,
        row.toF32(row.takeRow(op.getOtherBias(), "other_bias", max)), bias);
  }
  return arith::AddFOp::create(b, row.getLoc(), scores, bias);
}

Value TopkBuilder::buildSlot(Value index) {
  Value table = op.getPageTable();
  Value pages = row.getExtent(table, 1);
  int64_t page = *op.getPage();
  Value number = row.div(index, row.constant(page), "page_number");
  if (firstPage)
    number = row.add(firstPage, number, "column_of_page");
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

void TopkBuilder::findRequest() {
  Value starts = op.getCuSeqLens();
  // All numbers but the last one begin a request.
  Value requests =
      row.sub(row.getExtent(starts, 0), row.constant(1), "requests");
  tableRow = row.search(starts, row.getRow(), requests, "request");
  Value known = row.both(
      row.isBelow(tableRow, requests),
      row.isBelow(tableRow, row.getExtent(op.getPageTable(), 0)), "known");
  Value first = row.loadIndexIf(
      known, starts, [&] { return row.getOffset(starts, tableRow); }, -1,
      "first_row");
  Value end = row.loadIndexIf(
      known, starts,
      [&] { return row.getOffset(starts, row.add(tableRow, row.constant(1))); },
      -1, "end_row");
  Value begins =
      row.both(row.isNotNegative(first),
               arith::CmpIOp::create(b, row.getLoc(), arith::CmpIPredicate::sle,
                                     first, row.getRow()));
  // The number of a block, which a row may be, has no sign in the source.
  Value ends = row.both(row.isNotNegative(end), row.isBelow(row.getRow(), end));
  hasTableRow = row.both(begins, ends, "has_request");
}

void TopkBuilder::findTableRow() {
  if (op.getCuSeqLens())
    return findRequest();
  tableRow = row.getRow();
  if (op.getRequests())
    tableRow = row.loadIndexOfRow(op.getRequests(), "request");
  // Rows of one axis are tied to those of the table.
  if (op.getRequests() || row.getSpaceRank() != 1)
    hasTableRow =
        row.both(row.isNotNegative(tableRow),
                 row.isBelow(tableRow, row.getExtent(op.getPageTable(), 0)),
                 op.getRequests() ? "has_request" : "has_table_row");
}

Value TopkBuilder::buildSlots(Value indices) {
  auto type = cast<VectorType>(indices.getType());
  findTableRow();
  if (op.getPageStarts()) {
    firstPage = row.loadIndexOfRow(op.getPageStarts(), "first_page");
    hasTableRow = row.both(hasTableRow, row.isNotNegative(firstPage));
  }
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

Value TopkBuilder::addShared(Value indices) {
  int64_t k = op.getK(), ranks = op.getRanks();
  int64_t experts =
      cast<ShapedType>(op.getScores().getType()).getShape().back();
  Value all =
      row::SpliceOp::create(b, row.getLoc("experts"), indices.getType(),
                            indices, k, buildSequence(row, experts - k, ranks));
  if (!counts)
    return all;
  Value none = arith::ConstantOp::create(
      b, row.getLoc(),
      DenseElementsAttr::get(cast<VectorType>(all.getType()),
                             b.getI32IntegerAttr(-1).getValue()));
  return arith::SelectOp::create(b, row.getLoc(), counts, all, none);
}

Value TopkBuilder::buildIndices(Value indices) {
  if (op.getOffsets())
    return addOffset(indices);
  return op.getShared() ? addShared(indices) : indices;
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
    // As a selection returns its elements then.
    if (op.getNanFirst())
      values = arith::AddFOp::create(b, row.getLoc(), values,
                                     row.splat(0.0, op.getRanks()));
  }
  return row.fromF32(values, getElementTypeOrSelf(op.getValues().getType()));
}

/// The last axis of `scores` in the words of the function.
static std::string describeColumns(KernelOp kernel, Value scores) {
  int64_t axis = cast<ShapedType>(scores.getType()).getRank() - 1;
  std::string text = "axis " + std::to_string(axis);
  auto inner = dyn_cast<BlockArgument>(scores);
  auto argument =
      inner ? dyn_cast<BlockArgument>(kernel.getInputs()[inner.getArgNumber()])
            : BlockArgument();
  auto func =
      argument
          ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
          : FunctionOpInterface();
  if (!func)
    return text + " of the scores";
  unsigned index = argument.getArgNumber();
  text += " of argument '" + getArgumentName(func, index) + "'";
  StringRef dim = getDimName(func, index, axis);
  return dim.empty() ? text + ", which 'dsv4.dims' does not name"
                     : "dim '" + dim.str() + "' (" + text + ")";
}

FailureOr<SmallVector<RowValue>> TopkBuilder::build() {
  auto kernel = op->getParentOfType<KernelOp>();
  max = boundColumns(kernel, op.getCooperativeWork());
  if (max > TopkOp::kMaxColumns)
    return op.emitOpError()
           << "topk_c1: a row may have more than " << TopkOp::kMaxColumns
           << " elements, as nothing bounds "
           << describeColumns(kernel, op.getScores())
           << "; expected a constant number of columns, or a dim with the "
              "policy 'exact' or 'bucket' and its extent";
  max = std::max<int64_t>(max, 1);
  counts = buildRowCounts(row, op.getValidRows(), op.getPadding());
  Value columns = buildColumns();
  if (op.getStarts())
    start = buildStart(columns);
  Value end = buildEnd(columns);
  Value scores = row.toF32(row.takeRow(op.getScores(), "scores", max));
  int64_t ranks = op.getRanks();
  auto select = row::SelectOp::create(
      b, row.getLoc(), VectorType::get({ranks}, b.getI32Type()),
      VectorType::get({ranks}, b.getF32Type()), addBias(scores), start, end,
      convert(op.getOrder()), op.getSmallest(), op.getTiesHigh(),
      op.getNanFirst());
  select.setPadding(op.getSharedCount());
  if (op.getGroups()) {
    select.setGroups(*op.getGroups());
    select.setKeep(*op.getKeep());
    select.setBy(*op.getBy());
  }
  SmallVector<RowValue> results = {{buildIndices(select.getIndices())}};
  if (op.getValues())
    results.push_back({buildValues(scores, select)});
  if (op.getSlots())
    results.push_back({buildSlots(select.getIndices())});
  if (Value destination = op.getTokenExpertIndices())
    results.push_back({buildTokenExperts(row, destination)});
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
