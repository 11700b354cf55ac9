//===- Topk.cpp - Row program of dsv4.topk --------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cuda.select whose first region computes a chunk of the scores, whatever op
// of the kernel they come from, and whose second stores what is in a place.
//
//===----------------------------------------------------------------------===//

#include "RowLowerings.h"

#include "dsv4/Dialect/CUDA.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// Emits the row program of one selection.
class TopkBuilder {
public:
  TopkBuilder(TopkOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()) {}

  LogicalResult build();

private:
  /// The elements of the row that count.
  Value buildLength();
  /// Whether a destination outlives the kernel.
  bool isWanted(Value destination);
  /// The scores of the columns at hand as f32, with the bias if `biased`.
  Value buildScores(bool biased);
  /// What is in a place, into the destinations.
  LogicalResult buildPlace(Value place, Value index, Value value);
  Value buildSlot(Value index);

  TopkOp op;
  RowContext &row;
  OpBuilder &b;
  /// The row of the page table, and whether there is one.
  Value tableRow, hasTableRow;
};

} // namespace

static cuda::SelectOrder convert(TopkOrder order) {
  switch (order) {
  case TopkOrder::Unordered:
    return cuda::SelectOrder::Unordered;
  case TopkOrder::Sorted:
    return cuda::SelectOrder::Sorted;
  case TopkOrder::IndexAscending:
    return cuda::SelectOrder::IndexAscending;
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
  Value given = row.loadIndex(row.getBuffer(op.getLengths()), row.getRow(),
                              op.getRatio() ? "position" : "given");
  if (op.getRatio())
    given = row.div(row.add(given, row.constant(1)),
                    row.constant(*op.getRatio()), "complete");
  given = arith::MaxSIOp::create(b, row.getLoc(), given, row.constant(0));
  return arith::MinSIOp::create(b, row.getLoc("length"), given, all);
}

Value TopkBuilder::buildScores(bool biased) {
  Value scores = row.takeRow(op.getScores(), "scores");
  if (!scores)
    return {};
  scores = row.toF32(scores);
  if (!biased || !op.getBias())
    return scores;
  Value bias;
  if (cast<RankedTensorType>(op.getBias().getType()).isDynamicDim(0)) {
    bias = row.takeRow(op.getBias(), "bias");
  } else {
    // One row for all.
    StoredVector stored = locatePart(row, op.getBias(), 1, "bias");
    stored.offset = row.getColumn();
    bias = buildRead(row, stored);
  }
  return arith::AddFOp::create(b, row.getLoc(), scores, bias);
}

bool TopkBuilder::isWanted(Value destination) {
  OpResult result = op.getTiedOpResult(
      &*llvm::find_if(op.getOutsMutable(), [&](OpOperand &out) {
        return out.get() == destination;
      }));
  return llvm::any_of(result.getUsers(), llvm::IsaPred<YieldOp>);
}

Value TopkBuilder::buildSlot(Value index) {
  Value table = op.getPageTable();
  Value pages = row.getExtent(table, 1);
  int64_t page = *op.getPage();
  Value number = row.div(index, row.constant(page), "page_number");
  Value known = row.both(row.isNotNegative(index), row.isBelow(number, pages));
  Value entry = row.loadIndexIf(
      row.both(hasTableRow, known), row.getBuffer(table),
      [&] { return row.add(row.mul(tableRow, pages), number); }, -1, "entry");
  Value slot = row.add(row.mul(entry, row.constant(page)),
                       row.rem(index, row.constant(page)), "slot");
  Value isSlot = row.both(row.isNotNegative(entry),
                          row.isBelow(slot, row.constant(int64_t(1) << 31)));
  return arith::SelectOp::create(b, row.getLoc(), isSlot, slot,
                                 row.constant(-1));
}

LogicalResult TopkBuilder::buildPlace(Value place, Value index, Value value) {
  Value at =
      row.add(row.mul(row.getRow(), row.constant(op.getPlaces())), place, "at");
  auto store = [&](Value what, Value destination) {
    memref::StoreOp::create(b, row.getLoc(), what, row.getBuffer(destination),
                            ValueRange{at});
  };
  auto toI32 = [&](Value what) {
    return arith::IndexCastOp::create(b, row.getLoc(), b.getI32Type(), what);
  };
  if (isWanted(op.getIndices()))
    store(toI32(index), op.getIndices());
  if (op.getSlots() && isWanted(op.getSlots()))
    store(toI32(buildSlot(index)), op.getSlots());
  if (!op.getValues() || !isWanted(op.getValues()))
    return success();
  Type element = getElementTypeOrSelf(op.getValues().getType());
  if (!op.getBias()) {
    if (!element.isF32())
      value = arith::TruncFOp::create(b, row.getLoc(), element, value);
    store(value, op.getValues());
    return success();
  }
  // The element was chosen by another number than it is.
  Value score;
  Value column =
      arith::MaxSIOp::create(b, row.getLoc(), index, row.constant(0));
  row.atColumns(column, 1, [&] { score = buildScores(/*biased=*/false); });
  if (!score)
    return failure();
  APFloat none = APFloat::getInf(APFloat::IEEEsingle(), !op.getSmallest());
  score = cuda::WhereValidOp::create(b, row.getLoc(), score.getType(), score,
                                     toI32(index), TopkOp::kMostColumns, none);
  row.storeElement(row.fromF32(score, element), op.getValues(), at);
  return success();
}

LogicalResult TopkBuilder::build() {
  auto kernel = op->getParentOfType<KernelOp>();
  int64_t most = boundColumns(kernel, op.getSelection());
  if (most > TopkOp::kMostColumns)
    return op.emitOpError()
           << "topk_c1: a row may have more than " << TopkOp::kMostColumns
           << " elements: run dsv4-specialize, which bounds a named axis";
  auto select = cuda::SelectOp::create(
      b, row.getLoc(), buildLength(), op.getPlaces(),
      std::max<int64_t>(most, 1), convert(op.getOrder()), op.getSmallest(),
      cuda::SelectKind::Row, /*threads=*/1, /*chunks=*/1, /*cluster=*/1,
      /*parts=*/1, /*workspace=*/Value());
  if (op.getGroups()) {
    select.setGroups(*op.getGroups());
    select.setKeep(*op.getKeep());
    select.setBy(*op.getBy());
  }
  if (op.getPageTable()) {
    OpBuilder::InsertionGuard saved(b);
    b.setInsertionPoint(select);
    tableRow = row.getRow();
    if (op.getRequests())
      tableRow = row.loadIndex(row.getBuffer(op.getRequests()), row.getRow(),
                               "request");
    // Rows of one axis are tied to those of the table.
    if (op.getRequests() || row.getSpaceRank() != 1)
      hasTableRow =
          row.both(row.isNotNegative(tableRow),
                   row.isBelow(tableRow, row.getExtent(op.getPageTable(), 0)),
                   op.getRequests() ? "has_request" : "has_table_row");
  }
  OpBuilder::InsertionGuard saved(b);
  Type index = b.getIndexType();
  Value column =
      b.createBlock(&select.getLoad(), {}, index, row.getLoc("column"))
          ->getArgument(0);
  Value scores;
  row.atColumns(column, row.getChunk(),
                [&] { scores = buildScores(/*biased=*/true); });
  if (!scores)
    return failure();
  cuda::SelectYieldOp::create(b, row.getLoc(), scores);
  Block *place = b.createBlock(
      &select.getEmit(), {}, {index, index, b.getF32Type()},
      {row.getLoc("place"), row.getLoc("index"), row.getLoc("value")});
  if (failed(buildPlace(place->getArgument(0), place->getArgument(1),
                        place->getArgument(2))))
    return failure();
  auto end = cuda::SelectYieldOp::create(b, row.getLoc(), ValueRange());
  row.setPlaces(op.getChosen().front(), place->getArgument(0),
                place->getArgument(1), end);
  return success();
}

namespace {
struct TopkLowering
    : RowLoweringInterface::ExternalModel<TopkLowering, TopkOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    auto topk = cast<TopkOp>(op);
    if (failed(TopkBuilder(topk, row).build()))
      return failure();
    // Places are stored one by one.
    return SmallVector<RowValue>(topk.getNumResults());
  }
};
} // namespace

void dsv4::attachTopkLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    TopkOp::attachInterface<TopkLowering>(*context);
  });
}
