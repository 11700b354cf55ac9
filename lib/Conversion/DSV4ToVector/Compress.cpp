//===- Compress.cpp - Row program of dsv4.compress ------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a window are read in the region of a cuda.pool, each from where
// it is: the operands of the launch or the state.
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "RowContext.h"

#include "dsv4/Dialect/CUDA.h"

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
  void readPlan();
  /// Where a token of the window is.
  struct Source {
    Value inLaunch; ///< Rather than in the state.
    Value there;
    Value launchRow;
    Entry entry;
  };
  Source findToken(Value position);
  Entry findEntry(Value position);
  /// The D elements of `tensor` or of field `field` of the state, from column
  /// `column` on, as f32.
  Value readPart(const Source &source, Value tensor, unsigned field,
                 Value column, StringRef name);
  Value readBias(const Source &source, Value member, Value column);
  void buildMember(Value member);

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
  Value windowStart, request, position, token, isEntry;
};

} // namespace

void CompressBuilder::readPlan() {
  Value buffer = row.getBuffer(op.getPlan());
  Value start = row.mul(row.getRow(), row.constant(4));
  auto load = [&](int64_t column, StringRef name) {
    return row.loadIndex(buffer, row.add(start, row.constant(column)), name);
  };
  windowStart = load(0, "window_start");
  if (op.getState())
    request = load(1, "request");
  position = load(2, "first_position");
  token = load(3, "first_token");
  isEntry = row.isNotNegative(windowStart);
}

Entry CompressBuilder::findEntry(Value at) {
  auto state = cast<TypedValue<CacheType>>(op.getState());
  Value known = row.both(row.isNotNegative(request), row.isNotNegative(at));
  if (Value table = op.getPageTable())
    known = row.both(known, row.isBelow(request, row.getExtent(table, 0)));
  Entry entry = findEntryOfPosition(
      row, {state, op.getPageTable(), op.getRing()}, request, at, known);
  completeEntry(row, state, entry);
  return entry;
}

CompressBuilder::Source CompressBuilder::findToken(Value at) {
  Source source;
  Value behind = sub(at, position);
  source.launchRow = row.add(token, behind, "token");
  Value known = row.both(isEntry, row.isNotNegative(at));
  Value inRows =
      row.both(row.isNotNegative(source.launchRow),
               row.isBelow(source.launchRow, row.getExtent(op.getValues(), 0)));
  if (!op.getState()) {
    source.there = row.both(known, row.both(row.isNotNegative(behind), inRows),
                            "is_there");
    return source;
  }
  source.inLaunch =
      arith::CmpIOp::create(b, row.getLoc("in_launch"),
                            arith::CmpIPredicate::sge, at, position);
  source.entry = findEntry(at);
  source.there = row.both(
      known, select(source.inLaunch, inRows, source.entry.valid), "is_there");
  return source;
}

Value CompressBuilder::readPart(const Source &source, Value tensor,
                                unsigned field, Value column, StringRef name) {
  Type element = cast<ShapedType>(tensor.getType()).getElementType();
  int64_t bytes = getElementBits(element) / 8;
  StoredVector stored;
  stored.element = element;
  stored.extent = stored.readable = channels;
  stored.predicate = source.there;
  stored.name = name;
  stored.buffer = row.getBuffer(tensor);
  stored.offset = row.add(
      row.mul(source.launchRow, row.constant(columns)), column);
  stored.alignment = std::gcd<int64_t>(16, channels * bytes);
  if (!op.getState())
    return row.toF32(buildRead(row, stored));

  auto state = cast<TypedValue<CacheType>>(op.getState());
  FieldAttr part = state.getType().getRecord().getFields()[field];
  StoredVector kept = locateField(row, state, part, source.entry);
  // Of an array or of pages, in elements of the one or the other.
  Type cell = cast<MemRefType>(kept.buffer.getType()).getElementType();
  int64_t scale = bytes * 8 / getElementBits(cell);
  auto toCells = [&](Value index) {
    return row.mul(index, row.constant(scale));
  };
  kept.offset = row.add(kept.offset, toCells(column));
  if (scale != 1)
    stored.buffer = cuda::BytesOp::create(b, row.getLoc(), kept.buffer.getType(),
                                          stored.buffer);
  stored.offset =
      select(source.inLaunch, toCells(stored.offset), kept.offset);
  stored.buffer = select(source.inLaunch, stored.buffer, kept.buffer,
                         (name + "_memory").str());
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
  stored.offset = row.add(row.mul(inWindow, row.constant(columns)), column);
  stored.alignment = std::gcd<int64_t>(16, channels * 4);
  stored.name = "bias";
  // Scores of the state may have it.
  if (op.getBiased())
    stored.predicate = source.inLaunch;
  return buildRead(row, stored);
}

void CompressBuilder::buildMember(Value member) {
  Value at = row.add(windowStart, member);
  Value column = row.constant(0);
  if (op.getOverlap()) {
    Value window = row.constant(op.getWindow());
    at = sub(at, window);
    Value isOwn = row.isBelow(member, window);
    column = select(isOwn, column, row.constant(channels));
  }
  Source source = findToken(at);
  Value scores = readPart(source, op.getScores(), 1, column, "scores");
  Value values = readPart(source, op.getValues(), 0, column, "values");
  if (op.getBias())
    scores = arith::AddFOp::create(b, row.getLoc(), scores,
                                   readBias(source, member, column));
  cuda::PoolRowOp::create(b, row.getLoc(), source.there, scores, values);
}

Value CompressBuilder::build() {
  readPlan();
  auto type = VectorType::get({channels}, b.getF32Type());
  auto pool = cuda::PoolOp::create(b, row.getLoc("pooled"), type,
                                   op.getWindowRows());
  {
    OpBuilder::InsertionGuard saved(b);
    Type index = b.getIndexType();
    Block *body = b.createBlock(
        &pool.getBody(), {}, {index, index},
        {row.getLoc("member"), row.getLoc("team_lane")});
    buildMember(body->getArgument(0));
  }
  return row.fromF32(
      pool.getPooled(),
      cast<ShapedType>(op.getOut().getType()).getElementType());
}

namespace {
struct CompressLowering
    : RowLoweringInterface::ExternalModel<CompressLowering, CompressOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    Value entry = CompressBuilder(cast<CompressOp>(op), row).build();
    return SmallVector<RowValue>{{entry}};
  }
};
} // namespace

void dsv4::attachCompressLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    CompressOp::attachInterface<CompressLowering>(*context);
  });
}
