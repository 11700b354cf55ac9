//===- CompressPlan.cpp - Row program of dsv4.compress_plan ---------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheEntry.h"
#include "RowLowerings.h"

#include "dsv4/Dialect/Row.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// Emits the row program of one work list.
class PlanBuilder {
public:
  PlanBuilder(CompressPlanOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()) {}

  SmallVector<RowValue> build();

private:
  /// Element `at`, not negative if `condition` holds, of a tensor; -1 where
  /// there is none. Loads that follow each other have conditions of their own:
  /// one expression has one result.
  Value loadIf(Value condition, Value tensor, Value at, StringRef name);
  void findRequest();
  /// The tokens of the request in this launch.
  void findTokens();
  void buildTokenRow();
  void buildEntryRow();
  void findSlot();
  /// Number `value` of the row, if it is an entry.
  Value finish(Value value, StringRef name = "");

  void require(Value condition, StringRef name = "") {
    isEntry = row.both(isEntry, condition, name);
  }
  Value sub(Value lhs, Value rhs, StringRef name = "") {
    return arith::SubIOp::create(b, row.getLoc(name), lhs, rhs);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, row.getLoc(), predicate, lhs, rhs);
  }
  Value isAtMost(Value lhs, Value rhs) {
    return compare(arith::CmpIPredicate::sle, lhs, rhs);
  }

  CompressPlanOp op;
  RowContext &row;
  OpBuilder &b;
  /// Null as long as nothing is required.
  Value isEntry;
  Value request, nextRequest, isKnown, start, end;
  Value windowStart, firstPosition, firstToken, lastToken, slot;
};

} // namespace

Value PlanBuilder::loadIf(Value condition, Value tensor, Value at,
                          StringRef name) {
  Value isThere =
      row.both(condition, row.isBelow(at, row.getExtent(tensor, 0)));
  return row.loadIndexIf(
      isThere, tensor, [&] { return row.getOffset(tensor, at); }, -1, name);
}

void PlanBuilder::findRequest() {
  if (Value requests = op.getRequests()) {
    request = row.loadIndexOfRow(requests, "request");
  } else {
    Value starts = op.hasRowPerEntry() ? op.getEntryStarts() : op.getStarts();
    // All numbers but the last one begin a request.
    Value count = sub(row.getExtent(starts, 0), row.constant(1));
    request = row.search(starts, row.getRow(), count, "request");
  }
  isKnown = row.isNotNegative(request);
  isEntry = isKnown;
  nextRequest = row.add(request, row.constant(1));
  if (Value table = op.getPageTable())
    require(row.isBelow(request, row.getExtent(table, 0)));
}

void PlanBuilder::findTokens() {
  if (!op.getStarts())
    return;
  start = loadIf(isKnown, op.getStarts(), request, "start");
  end = loadIf(isKnown, op.getStarts(), nextRequest, "end");
}

void PlanBuilder::buildTokenRow() {
  Value token = row.getRow(), position;
  if (Value lengths = op.getLengths())
    position = sub(loadIf(isKnown, lengths, request, "length"), sub(end, token),
                   "position");
  else
    position = row.loadIndexOfRow(op.getPositions(), "position");
  if (op.getStarts())
    require(row.both(row.isNotNegative(start),
                     row.both(isAtMost(start, token), row.isBelow(token, end))),
            "is_of_request");
  int64_t window = op.getWindow();
  windowStart = sub(position, row.constant(window - 1), "window_start");
  require(compare(arith::CmpIPredicate::eq,
                  row.rem(position, row.constant(window)),
                  row.constant(window - 1)));
  lastToken = token;
  if (op.getStarts()) {
    firstPosition = sub(position, sub(token, start));
    firstToken = start;
  } else {
    // All of the window is in the state.
    firstPosition = row.add(position, row.constant(1));
    firstToken = row.constant(0);
  }
}

void PlanBuilder::buildEntryRow() {
  Value starts = op.getEntryStarts();
  Value first = loadIf(isKnown, starts, request, "first_entry");
  Value after = loadIf(isKnown, starts, nextRequest, "after_entries");
  Value hasStart = row.isNotNegative(start);
  require(row.both(hasStart, row.isNotNegative(first)));
  require(
      row.both(isAtMost(first, row.getRow()), row.isBelow(row.getRow(), after)),
      "is_of_request");
  if (Value lengths = op.getLengths())
    firstPosition = sub(loadIf(isKnown, lengths, request, "length"),
                        sub(end, start), "first_position");
  else
    firstPosition =
        loadIf(hasStart, op.getPositions(), start, "first_position");
  require(row.isNotNegative(firstPosition));
  Value window = row.constant(op.getWindow());
  Value number = row.add(row.div(firstPosition, window),
                         sub(row.getRow(), first), "number");
  windowStart = row.mul(number, window, "window_start");
  firstToken = start;
  // The launch must have the last token.
  lastToken =
      row.add(start,
              sub(row.add(windowStart, row.constant(op.getWindow() - 1)),
                  firstPosition),
              "last_token");
  require(row.isBelow(lastToken, end));
}

void PlanBuilder::findSlot() {
  if (Value slots = op.getSlots()) {
    slot = op.hasRowPerEntry() ? loadIf(isEntry, slots, lastToken, "slot")
                               : row.loadIndexOfRow(slots, "slot");
    require(row.isNotNegative(slot), "is_entry");
    return;
  }
  Value size = row.constant(*op.getPage());
  Value number = row.div(windowStart, row.constant(op.getWindow()), "number");
  Value page = lookupPage(row, op.getPageTable(), request,
                          row.div(number, size, "logical_page"), isEntry);
  slot = row.add(row.mul(page, size), row.rem(number, size), "slot");
  require(row.both(row.isNotNegative(page),
                   isAtMost(slot, row.constant(INT32_MAX))),
          "is_entry");
}

Value PlanBuilder::finish(Value value, StringRef name) {
  Value number = arith::SelectOp::create(b, row.getLoc(name), isEntry, value,
                                         row.constant(-1));
  return arith::IndexCastOp::create(b, row.getLoc(), b.getI32Type(), number);
}

SmallVector<RowValue> PlanBuilder::build() {
  findRequest();
  findTokens();
  if (op.hasRowPerEntry())
    buildEntryRow();
  else
    buildTokenRow();
  require(
      row.both(row.isNotNegative(windowStart),
               isAtMost(windowStart, row.constant(CompressOp::kMaxPosition))),
      op.hasSlots() ? "has_window" : "is_entry");
  if (op.hasSlots())
    findSlot();
  Value w = finish(windowStart, "w");
  SmallVector<RowValue> results = {
      {w, finish(request), finish(firstPosition), finish(firstToken)}};
  if (op.getOuts().size() > 1)
    results.push_back({w});
  if (op.hasSlots())
    results.push_back({finish(slot)});
  return results;
}

namespace {
struct CompressPlanLowering
    : RowLoweringInterface::ExternalModel<CompressPlanLowering,
                                          CompressPlanOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    return PlanBuilder(cast<CompressPlanOp>(op), row).build();
  }
};
} // namespace

void dsv4::attachCompressPlanLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    CompressPlanOp::attachInterface<CompressPlanLowering>(*context);
  });
}
