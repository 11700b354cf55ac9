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
  /// Finds the segment of the row, that of its token or one of its request.
  void findSegment();
  void findFirstOfSegment();
  void findSlot();
  SmallVector<RowValue> buildWindows();
  SmallVector<RowValue> buildSegments();
  /// Number `value` of the row, if `condition` holds.
  Value finishIf(Value condition, Value value, StringRef name = "");
  /// The same, if the row is an entry.
  Value finish(Value value, StringRef name = "") {
    return finishIf(isEntry, value, name);
  }

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
  /// Of a segment: its number among those of the request in a row for each, and
  /// its tokens.
  Value number, count;
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
    slot = op.hasRowPerEntry() || op.isOnline()
               ? loadIf(isEntry, slots, lastToken, "slot")
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

Value PlanBuilder::finishIf(Value condition, Value value, StringRef name) {
  Value number = arith::SelectOp::create(b, row.getLoc(name), condition, value,
                                         row.constant(-1));
  return arith::IndexCastOp::create(b, row.getLoc(), b.getI32Type(), number);
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// Finds the token that a row is counted from, and its position.
void PlanBuilder::findFirstOfSegment() {
  firstToken = row.getRow();
  number = row.constant(0);
  require(row.isNotNegative(start));
  if (op.hasRowPerEntry()) {
    Value starts = op.getEntryStarts();
    Value first = loadIf(isKnown, starts, request, "first_segment");
    Value after = loadIf(isKnown, starts, nextRequest, "after_segments");
    require(row.both(row.isNotNegative(first),
                     row.both(isAtMost(first, row.getRow()),
                              row.isBelow(row.getRow(), after))));
    number = row.sub(row.getRow(), first);
    firstToken = start;
  } else {
    require(isAtMost(start, firstToken));
  }
  require(row.isBelow(firstToken, end), "is_of_request");
  if (Value lengths = op.getLengths())
    firstPosition = row.sub(loadIf(isKnown, lengths, request, "length"),
                            row.sub(end, firstToken), "position_of_token");
  else if (op.hasRowPerEntry())
    firstPosition =
        loadIf(isEntry, op.getPositions(), start, "position_of_token");
  else
    firstPosition = row.loadIndexOfRow(op.getPositions(), "position_of_token");
}

void PlanBuilder::findSegment() {
  findFirstOfSegment();
  Value window = row.constant(op.getWindow());
  require(row.isNotNegative(firstPosition));
  if (!op.hasRowPerEntry()) {
    Value begins = compare(arith::CmpIPredicate::eq,
                           row.rem(firstPosition, window), row.constant(0));
    require(arith::OrIOp::create(
        b, row.getLoc(), begins,
        compare(arith::CmpIPredicate::eq, firstToken, start)));
  }
  number = row.add(row.div(firstPosition, window), number, "number");
  windowStart = row.mul(number, window, "window_start");
  Value position = row.max(firstPosition, windowStart, "position");
  firstToken =
      row.add(firstToken, row.sub(position, firstPosition), "first_token");
  require(
      row.both(row.isBelow(firstToken, end),
               isAtMost(windowStart, row.constant(CompressOp::kMaxPosition))),
      "is_segment");
  Value left = row.sub(row.add(windowStart, window), position, "left");
  count = row.min(left, row.sub(end, firstToken), "count");
  lastToken = row.sub(row.add(firstToken, count), row.constant(1));
  firstPosition = position;
}

SmallVector<RowValue> PlanBuilder::buildSegments() {
  findSegment();
  Value isSegment = isEntry;
  auto entryOf = [&](Value state, StringRef name) {
    return finishIf(isSegment, loadIf(isKnown, state, request, name));
  };
  SmallVector<RowValue> results = {
      {finishIf(isSegment, firstPosition), finishIf(isSegment, count),
       finishIf(isSegment, firstToken), entryOf(op.getFrom(), "from"),
       entryOf(op.getTo(), "to")}};
  require(compare(arith::CmpIPredicate::eq, row.add(firstPosition, count),
                  row.add(windowStart, row.constant(op.getWindow()))),
          op.hasSlots() ? "ends" : "is_entry");
  if (op.hasSlots())
    findSlot();
  if (op.getOuts().size() > 1)
    results.push_back({finish(windowStart, "w")});
  if (op.hasSlots())
    results.push_back({finish(slot)});
  return results;
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

SmallVector<RowValue> PlanBuilder::build() {
  findRequest();
  findTokens();
  return op.isOnline() ? buildSegments() : buildWindows();
}

SmallVector<RowValue> PlanBuilder::buildWindows() {
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
