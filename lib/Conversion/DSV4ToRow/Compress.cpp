//===- Compress.cpp - Row program of dsv4.compress ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The regions of a row.window_reduce read the rows of a window, from the
// operands of the launch or from the state.
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

/// Emits the row program of one compression.
class CompressBuilder {
public:
  CompressBuilder(CompressOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()), channels(op.getChannels()),
        columns(channels * (op.getOverlap() ? 2 : 1)) {}

  Value build();

private:
  void readPlan(Value entry);
  /// Where a token of the window is.
  struct Source {
    Value there;    ///< Null: it is known to be.
    Value inLaunch; ///< Rather than in the state. Null: it is known to be.
    /// Of its first columns, in elements of values and scores.
    Value valuesOffset, scoresOffset;
    CacheEntry entry, scoreEntry; ///< Of one state both are one.
  };
  Source findToken(Value at, Value member);
  /// Where row `member` of the window is in the launch.
  void findInLaunch(Value member, Source &source);
  CacheEntry findEntry(TypedValue<CacheType> state, Value table, Value at);
  /// The D elements of `tensor`, which is values or scores, or of their field
  /// of the state, from column `column` on, as f32.
  Value readPart(const Source &source, Value tensor, bool isScores,
                 Value column, StringRef name);
  Value readBias(const Source &source, Value member, Value column);
  /// Begins a region of a member: its argument, and where its columns begin.
  std::pair<Value, Value> beginMember(Region &region);
  void buildOffsets(Region &region);
  /// Scores or values of a member, where all tokens are in the launch. The pool
  /// adds the bias.
  void buildPart(Region &region, Value tensor, bool isScores, StringRef name);
  /// A member wherever it is, and whether it is.
  void buildMember(Region &region);

  Value select(Value condition, Value yes, Value no, StringRef name = "") {
    return arith::SelectOp::create(b, row.getLoc(name), condition, yes, no);
  }
  Value sub(Value lhs, Value rhs, StringRef name = "") {
    return arith::SubIOp::create(b, row.getLoc(name), lhs, rhs);
  }

  CompressOp op;
  RowContext &row;
  OpBuilder &b;
  int64_t channels, columns;
  /// Of the plan; the position of the first row, and how far after it rows of
  /// the launch are.
  Value windowStart, request, position, firstRow, shift, isEntry;
  Value allInLaunch;
  /// Where the first row is in values and scores.
  Value valuesStart, scoresStart;
};

} // namespace

void CompressBuilder::readPlan(Value entry) {
  auto load = [&](int64_t column, StringRef name) {
    return row.loadIndexAt(op.getPlan(), {entry, row.constant(column)}, name);
  };
  Value given = load(0, "window_start");
  if (op.getState())
    request = load(1, "request");
  position = load(2, "first_position");
  Value token = load(3, "first_token");
  // With bounds, positions of the window have 32 bits.
  Value last = row.constant(CompressOp::kMaxPosition);
  isEntry =
      row.both(row.isNotNegative(given),
               arith::CmpIOp::create(b, row.getLoc(), arith::CmpIPredicate::sle,
                                     given, last),
               "is_entry");
  windowStart = arith::MinSIOp::create(
      b, row.getLoc(op.getOverlap() ? "" : "first_at"),
      arith::MaxSIOp::create(b, row.getLoc(), given, row.constant(-1)), last);
  firstRow = windowStart;
  if (op.getOverlap())
    firstRow = sub(windowStart, row.constant(op.getWindow()), "first_at");
  shift = sub(token, position, "shift");

  // Most windows of a prefill are in the launch as a whole.
  Value first = row.add(firstRow, shift, "first_in_launch");
  Value after = row.add(first, row.constant(op.getWindowRows() - 1));
  allInLaunch = row.both(
      row.both(isEntry, row.both(row.isNotNegative(firstRow),
                                 arith::CmpIOp::create(
                                     b, row.getLoc(), arith::CmpIPredicate::sge,
                                     firstRow, position))),
      row.both(row.isNotNegative(first),
               row.isBelow(after, row.getExtent(op.getValues(), 0))),
      "all_in_launch");
  // A row of the launch is an i32; if none of the window is one, none is read.
  auto cast = [&](Type type, Value value) -> Value {
    return arith::IndexCastOp::create(b, row.getLoc(), type, value);
  };
  first = cast(b.getIndexType(), cast(b.getI32Type(), first));
  valuesStart =
      row.mul(first, row.getStride(op.getValues(), 0), "launch_start");
  scoresStart = valuesStart;
  if (row.getStrides(op.getValues()) || row.getStrides(op.getScores()))
    scoresStart =
        row.mul(first, row.getStride(op.getScores(), 0), "scores_start");
}

CacheEntry CompressBuilder::findEntry(TypedValue<CacheType> state, Value table,
                                      Value at) {
  Value known = row.isNotNegative(request);
  // What is before position 0 is not there; its entry only must have no sign.
  at = arith::MaxSIOp::create(b, row.getLoc(), at, row.constant(0));
  if (table)
    known = row.both(known, row.isBelow(request, row.getExtent(table, 0)));
  CacheEntry entry = findEntryOfPosition(row, {state, table, op.getRing()},
                                         request, at, known);
  completeEntry(row, state, entry);
  return entry;
}

void CompressBuilder::findInLaunch(Value member, Source &source) {
  source.valuesOffset =
      row.add(valuesStart, row.mul(member, row.getStride(op.getValues(), 0)));
  source.scoresOffset = source.valuesOffset;
  if (scoresStart != valuesStart)
    source.scoresOffset =
        row.add(scoresStart, row.mul(member, row.getStride(op.getScores(), 0)));
}

CompressBuilder::Source CompressBuilder::findToken(Value at, Value member) {
  Source source;
  Value launchRow = row.add(at, shift, "token");
  findInLaunch(member, source);
  Value known = row.both(isEntry, row.isNotNegative(at));
  Value inRows =
      row.both(row.isNotNegative(launchRow),
               row.isBelow(launchRow, row.getExtent(op.getValues(), 0)));
  Value inLaunch = arith::CmpIOp::create(
      b, row.getLoc("in_launch"), arith::CmpIPredicate::sge, at, position);
  if (!op.getState()) {
    source.there = row.both(known, row.both(inLaunch, inRows), "is_there");
    return source;
  }
  source.inLaunch = inLaunch;
  source.entry = findEntry(op.getState(), op.getPageTable(), at);
  source.scoreEntry = source.entry;
  Value valid = source.entry.valid;
  if (op.getScoreState()) {
    source.scoreEntry =
        findEntry(op.getScoreState(), op.getScorePageTable(), at);
    valid = row.both(valid, source.scoreEntry.valid, "in_both");
  }
  source.there = row.both(known, select(inLaunch, inRows, valid), "is_there");
  return source;
}

Value CompressBuilder::readPart(const Source &source, Value tensor,
                                bool isScores, Value column, StringRef name) {
  Type element = cast<ShapedType>(tensor.getType()).getElementType();
  int64_t bytes = getElementBits(element) / 8;
  StoredVector stored;
  stored.element = element;
  stored.extent = stored.readable = channels;
  stored.predicate = source.there;
  stored.name = name;
  stored.buffer = row.getBuffer(tensor);
  stored.offset =
      row.add(isScores ? source.scoresOffset : source.valuesOffset, column);
  stored.alignment =
      std::gcd<int64_t>(row.getRowAlignment(tensor, 16), channels * bytes);
  if (!source.inLaunch)
    return row.toF32(buildRead(row, stored));

  auto state =
      isScores && op.getScoreState() ? op.getScoreState() : op.getState();
  FieldAttr part = isScores ? state.getType().getRecord().getFields().back()
                            : state.getType().getRecord().getFields().front();
  StoredVector kept = locateField(row, state, part,
                                  isScores ? source.scoreEntry : source.entry);
  // A cache is memory of bytes.
  auto toBytes = [&](Value index) {
    return row.mul(index, row.constant(bytes));
  };
  kept.offset = row.add(kept.offset, toBytes(column));
  // One address of either, which is all that lanes need to know of it.
  auto locate = [&](const StoredVector &there) -> Value {
    return row::BytesOp::create(b, row.getLoc(), kept.buffer.getType(),
                                there.buffer, there.offset);
  };
  Value inLaunch = locate(stored), inState = locate(kept);
  stored.buffer =
      select(source.inLaunch, inLaunch, inState, (name + "_memory").str());
  stored.offset = row.constant(0);
  stored.alignment = std::gcd(stored.alignment, kept.alignment);
  return row.toF32(buildRead(row, stored));
}

Value CompressBuilder::readBias(const Source &source, Value member,
                                Value column) {
  StoredVector stored;
  stored.element = b.getF32Type();
  stored.extent = stored.readable = channels;
  stored.buffer = row.getBuffer(op.getBias());
  Value inWindow = row.rem(member, row.constant(op.getWindow()));
  stored.offset = row.getOffset(op.getBias(), {inWindow, column});
  stored.alignment =
      std::gcd<int64_t>(row.getRowAlignment(op.getBias(), 16), channels * 4);
  stored.name = "bias";
  // Strides of a launch are no constants of the members of a window.
  if (source.there && row.getStrides(op.getBias())) {
    auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
    stored.buffer = row::BytesOp::create(b, row.getLoc("bias_memory"), bytes,
                                         stored.buffer, stored.offset);
    stored.offset = row.constant(0);
  }
  // Scores of the state may have it.
  if (op.getBiased())
    stored.predicate = source.inLaunch;
  return buildRead(row, stored);
}

std::pair<Value, Value> CompressBuilder::beginMember(Region &region) {
  Value member =
      b.createBlock(&region, {}, b.getIndexType(), row.getLoc("member"))
          ->getArgument(0);
  Value column = row.constant(0);
  if (op.getOverlap())
    column = select(row.isBelow(member, row.constant(op.getWindow())), column,
                    row.constant(channels));
  return {member, column};
}

void CompressBuilder::buildOffsets(Region &region) {
  OpBuilder::InsertionGuard saved(b);
  auto [member, column] = beginMember(region);
  row::YieldOp::create(b, row.getLoc(), readBias(Source(), member, column));
}

void CompressBuilder::buildPart(Region &region, Value tensor, bool isScores,
                                StringRef name) {
  OpBuilder::InsertionGuard saved(b);
  auto [member, column] = beginMember(region);
  Source source;
  findInLaunch(member, source);
  row::YieldOp::create(b, row.getLoc(),
                       readPart(source, tensor, isScores, column, name));
}

void CompressBuilder::buildMember(Region &region) {
  OpBuilder::InsertionGuard saved(b);
  auto [member, column] = beginMember(region);
  Source source = findToken(row.add(firstRow, member, "at"), member);
  Value scores =
      readPart(source, op.getScores(), /*isScores=*/true, column, "scores");
  Value values =
      readPart(source, op.getValues(), /*isScores=*/false, column, "values");
  if (op.getBias())
    scores = arith::AddFOp::create(b, row.getLoc(), scores,
                                   readBias(source, member, column));
  row::WindowRowOp::create(b, row.getLoc(), source.there, scores, values);
}

Value CompressBuilder::build() {
  auto type = VectorType::get({channels}, b.getF32Type());
  auto reduce = row::WindowReduceOp::create(b, row.getLoc("pooled"), type,
                                            op.getWindowRows());
  {
    OpBuilder::InsertionGuard saved(b);
    b.createBlock(&reduce.getBody());
    readPlan(row.getRow());
    auto window = row::WindowOp::create(b, row.getLoc(), allInLaunch);
    buildPart(window.getScores(), op.getScores(), /*isScores=*/true, "scores");
    buildPart(window.getValues(), op.getValues(), /*isScores=*/false, "values");
    buildMember(window.getAny());
  }
  if (op.getBias())
    buildOffsets(reduce.getOffsets());
  return row.fromF32(reduce.getReduced(),
                     cast<ShapedType>(op.getOut().getType()).getElementType());
}

namespace {
struct CompressLowering
    : RowLoweringInterface::ExternalModel<CompressLowering, CompressOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    auto compress = cast<CompressOp>(op);
    Value entry = compress.isOnline() ? buildOnlineCompress(compress, row)
                                      : CompressBuilder(compress, row).build();
    return SmallVector<RowValue>{{entry}};
  }
};
} // namespace

void dsv4::attachCompressLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    CompressOp::attachInterface<CompressLowering>(*context);
  });
}
