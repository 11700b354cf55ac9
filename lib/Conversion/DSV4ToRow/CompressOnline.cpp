//===- CompressOnline.cpp - Row program of the online dsv4.compress -------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of the kernel is one segment of a window: a row.window_reduce_online
// whose regions read the state, read a token, and write the state.
//
//===----------------------------------------------------------------------===//

#include "CacheEntry.h"
#include "RowLowerings.h"

#include "dsv4/Dialect/Row.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

namespace {

/// Emits the row program of one segment.
class SegmentBuilder {
public:
  SegmentBuilder(CompressOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()), channels(op.getChannels()),
        state(cast<TypedValue<CacheType>>(op.getState())) {}

  Value build();

private:
  void readPlan(Value segment);
  void buildBegin(Region &region);
  void buildMember(Region &region);
  void buildEnd(Region &region);

  /// Leaves the builder in a block of `region`.
  Block *enter(Region &region, ArrayRef<StringRef> indices);
  /// Row `at` of a tensor from the element `first` on, as f32.
  Value readRow(Value tensor, Value first, Value at, StringRef name);

  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs,
                StringRef name = "") {
    return arith::CmpIOp::create(b, row.getLoc(name), predicate, lhs, rhs);
  }

  CompressOp op;
  RowContext &row;
  OpBuilder &b;
  int64_t channels;
  TypedValue<CacheType> state;
  /// How many tokens there are, and where the first one and its row of the bias
  /// start, in elements of values, scores and bias.
  Value tokens, valuesStart, scoresStart, biasStart;
  Value ends; ///< Whether the window does.
  CacheEntry from, to;
};

} // namespace

void SegmentBuilder::readPlan(Value segment) {
  auto load = [&](int64_t column, StringRef name,
                  IntegerKind kind = IntegerKind::Index) {
    return row.loadIndexAt(op.getPlan(), {segment, row.constant(column)}, name,
                           kind);
  };
  Value position = load(0, "position");
  Value count = load(1, "count", IntegerKind::Length);
  Value token = load(2, "first_token");
  Value fromIndex = load(3, "from"), toIndex = load(4, "to");

  Value last = row.constant(CompressOp::kMaxPosition);
  Value window = row.constant(op.getWindow());
  Value begin = row.rem(
      arith::MaxSIOp::create(b, row.getLoc(), position, row.constant(0)),
      window, "segment_begin");
  auto min = [&](Value lhs, Value rhs) {
    return arith::MinSIOp::create(b, row.getLoc(), lhs, rhs);
  };
  auto minus = [&](Value lhs, Value rhs) {
    return arith::SubIOp::create(b, row.getLoc(), lhs, rhs);
  };
  Value there = min(min(count, minus(window, begin)),
                    minus(row.getExtent(op.getValues(), 0), token));
  there.getDefiningOp()->setLoc(row.getLoc("left"));
  Value isSegment = row.both(
      row.both(row.isNotNegative(position),
               compare(arith::CmpIPredicate::sle, position, last)),
      row.both(row.isNotNegative(token),
               compare(arith::CmpIPredicate::sgt, there, row.constant(0))),
      "is_segment");
  tokens = arith::SelectOp::create(b, row.getLoc("tokens"), isSegment, there,
                                   row.constant(0));
  Value end = row.add(begin, tokens);
  end.getDefiningOp()->setLoc(row.getLoc("segment_end"));
  ends = row.both(isSegment, compare(arith::CmpIPredicate::eq, end, window),
                  "ends");
  valuesStart =
      row.mul(token, row.getStride(op.getValues(), 0), "launch_start");
  scoresStart = valuesStart;
  if (row.getStrides(op.getValues()) || row.getStrides(op.getScores()))
    scoresStart =
        row.mul(token, row.getStride(op.getScores(), 0), "scores_start");
  biasStart = row.mul(begin, op.getBias() ? row.getStride(op.getBias(), 0)
                                          : row.constant(channels));

  Value isRead = row.both(row.both(isSegment, compare(arith::CmpIPredicate::sgt,
                                                      begin, row.constant(0))),
                          row.isNotNegative(fromIndex));
  from = findEntryOfIndex(row, state.getType(), fromIndex, isRead);
  completeEntry(row, state, from);
  from.valid.getDefiningOp()->setLoc(row.getLoc("known"));
  Value isWritten = row.both(row.both(isSegment, row.isBelow(end, window)),
                             row.isNotNegative(toIndex));
  to = findEntryOfIndex(row, state.getType(), toIndex, isWritten);
  completeEntry(row, state, to, /*isWritten=*/true);
  to.valid.getDefiningOp()->setLoc(row.getLoc("kept"));
}

Block *SegmentBuilder::enter(Region &region, ArrayRef<StringRef> indices) {
  Block *block = b.createBlock(&region);
  for (StringRef name : indices)
    block->addArgument(b.getIndexType(), row.getLoc(name));
  return block;
}

Value SegmentBuilder::readRow(Value tensor, Value first, Value at,
                              StringRef name) {
  StoredVector stored;
  stored.element = cast<ShapedType>(tensor.getType()).getElementType();
  stored.extent = stored.readable = channels;
  stored.buffer = row.getBuffer(tensor);
  stored.offset = row.add(first, row.mul(at, row.getStride(tensor, 0)));
  stored.alignment = row.getRowAlignment(
      tensor,
      std::gcd<int64_t>(16, channels * getElementBits(stored.element) / 8));
  stored.name = name;
  return buildRead(row, stored);
}

void SegmentBuilder::buildBegin(Region &region) {
  OpBuilder::InsertionGuard saved(b);
  enter(region, {});
  SmallVector<Value> kept;
  for (FieldAttr field : state.getType().getRecord().getFields()) {
    StoredVector stored = locateField(row, state, field, from);
    // The region runs for existing entries.
    stored.predicate = Value();
    kept.push_back(buildRead(row, stored));
  }
  row::YieldOp::create(b, row.getLoc(), kept);
}

void SegmentBuilder::buildMember(Region &region) {
  OpBuilder::InsertionGuard saved(b);
  Value member = enter(region, {"member"})->getArgument(0);
  SmallVector<Value> loaded = {
      readRow(op.getScores(), scoresStart, member, "scores"),
      readRow(op.getValues(), valuesStart, member, "values")};
  if (op.getBias())
    loaded.push_back(readRow(op.getBias(), biasStart, member, "bias"));
  row::YieldOp::create(b, row.getLoc(), loaded);
}

void SegmentBuilder::buildEnd(Region &region) {
  OpBuilder::InsertionGuard saved(b);
  Block *block = enter(region, {});
  auto type = VectorType::get({channels}, b.getF32Type());
  for (FieldAttr field : state.getType().getRecord().getFields()) {
    Value value = block->addArgument(type, row.getLoc(field.getName()));
    StoredVector stored = locateField(row, state, field, to);
    row::WriteOp::create(b, row.getLoc(), value, stored.buffer, stored.offset,
                         /*group=*/1, stored.alignment);
  }
  row::YieldOp::create(b, row.getLoc(), ValueRange());
}

Value SegmentBuilder::build() {
  auto type = VectorType::get({channels}, b.getF32Type());
  auto reduce = row::WindowReduceOnlineOp::create(b, row.getLoc("pooled"), type,
                                                  op.getWindow());
  {
    OpBuilder::InsertionGuard saved(b);
    enter(reduce.getBody(), {});
    readPlan(row.getRow());
    auto segment = row::WindowSegmentOp::create(b, row.getLoc(), tokens,
                                                from.valid, to.valid, ends);
    buildBegin(segment.getBegin());
    buildMember(segment.getMember());
    buildEnd(segment.getEnd());
  }
  return row.fromF32(reduce.getReduced(),
                     cast<ShapedType>(op.getOut().getType()).getElementType());
}

Value dsv4::buildOnlineCompress(CompressOp op, RowContext &row) {
  return SegmentBuilder(op, row).build();
}
