//===- IndexScore.cpp - Row program of dsv4.index_score -------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row.index_score, whose regions find where a row and its pages are. The
// scores are rows of the kernel, or written as they come.
//
//===----------------------------------------------------------------------===//

#include "CacheEntry.h"
#include "RowLimits.h"
#include "RowLowerings.h"

#include "dsv4/Dialect/DSV4/BufferStrides.h"

#include "dsv4/Dialect/Row/ScoreOps.h"

#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

/// Keys of a page of an array of keys, which has none.
static constexpr int64_t kArrayPage = limits::kScoreTileKeys;
/// Bytes of the widest access, which alignments beyond are of no use for.
static constexpr int64_t kMaxAlign = limits::kMaxAccessBits / 8;

namespace {

/// Where vectors of pages are, in bytes.
struct PagedVectors {
  Value buffer, page, entry; ///< Of one page, and of one entry, to the next.
  int64_t base = 0, alignment = 1;
  int64_t pageAlignment =
      kMaxAlign;          ///< Of the first of a page, at most kMaxAlign.
  int64_t entryBytes = 0; ///< `entry` where it is a constant, else 0.
};

/// Emits the row program of one op.
class ScoreBuilder {
public:
  ScoreBuilder(IndexScoreOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()) {}

  FailureOr<SmallVector<RowValue>> build();

private:
  PagedVectors locate(FieldAttr field);
  PagedVectors locate(Value array);
  row::IndexScoreOp createScores(int64_t max);
  /// The first key of the row and the number of its keys.
  std::pair<Value, Value> buildKeys();
  void buildRow(Region &region);
  void buildPage(Region &region);
  Value findPage(Value number);

  IndexScoreOp op;
  RowContext &row;
  OpBuilder &b;
  Value columns; ///< Of the row.
};

/// Bits of an element of a tensor.
int64_t getBits(Value tensor) {
  return getElementBits(getElementTypeOrSelf(tensor.getType()));
}

} // namespace

PagedVectors ScoreBuilder::locate(FieldAttr field) {
  auto cache = cast<TypedValue<CacheType>>(Value(op.getCache()));
  RecordLayout::Position position = getPosition(cache.getType(), field);
  std::string name = row.getName(cache) + "_" + field.getName().str();
  StringRef own = position.inArray ? field.getName() : "";
  PagedVectors vectors;
  vectors.buffer = row.getBuffer(cache, own);
  vectors.page = row.getPageStride(cache, own);
  if (!vectors.page)
    vectors.page =
        row.constant(position.pageStride,
                     position.inArray ? name + "_page_bytes"
                                      : row.getName(cache) + "_page_bytes");
  vectors.entry = row.constant(position.slotStride, name + "_bytes");
  vectors.entryBytes = position.slotStride;
  vectors.base = position.base;
  vectors.alignment = position.alignment;
  StridesAttr strides = row.getBufferStrides(cache, field);
  if (std::optional<int64_t> entry = getEntryStride(strides)) {
    vectors.entry = row.constant(*entry, name + "_bytes");
    vectors.entryBytes = *entry;
  }
  int64_t page = strides ? strides.getAlign() : position.pageStride;
  vectors.pageAlignment =
      std::gcd(std::gcd(vectors.pageAlignment, page), position.base);
  if (strides)
    vectors.alignment = std::gcd(vectors.pageAlignment, vectors.entryBytes);
  return vectors;
}

PagedVectors ScoreBuilder::locate(Value array) {
  auto type = cast<RankedTensorType>(array.getType());
  int64_t bytes = std::max<int64_t>(getBits(array) / 8, 1);
  PagedVectors vectors;
  vectors.buffer = row.getBuffer(array);
  vectors.entry = row.mul(row.getStride(array, 0), row.constant(bytes));
  vectors.page = row.mul(vectors.entry, row.constant(kArrayPage));
  vectors.alignment =
      type.getRank() > 1 ? getVectorAlignment(row, array) : bytes;
  // A row may begin with any key.
  StridesAttr strides = row.getStrides(array);
  int64_t elements = ShapedType::getNumElements(type.getShape().drop_front());
  if (!strides || strides.getStrides().empty())
    vectors.entryBytes = elements * getBits(array) / 8;
  else if (!ShapedType::isDynamic(strides.getStrides()[0]))
    vectors.entryBytes = strides.getStrides()[0];
  if (op.getStarts())
    vectors.pageAlignment = vectors.alignment;
  else if (strides)
    vectors.pageAlignment =
        std::gcd<int64_t>(vectors.pageAlignment, strides.getAlign());
  return vectors;
}

row::IndexScoreOp ScoreBuilder::createScores(int64_t max) {
  FieldAttr scaleField = op.getCache() ? op.getKeyScaleField() : FieldAttr();
  PagedVectors keys, scales;
  if (op.getCache()) {
    keys = locate(op.getKeyField());
    if (scaleField)
      scales = locate(scaleField);
  } else {
    keys = locate(op.getKeys());
    if (op.getKeyScales())
      scales = locate(op.getKeyScales());
  }
  Value queryScales, scaleHead;
  if (op.getScales()) {
    queryScales = row.getBuffer(op.getScales());
    scaleHead = row.getStride(op.getScales(), 1);
  }
  // Most requests have keys of their own.
  const bool knowsReaders =
      op.getCache() && !op.getRequests() && !op.getIndptr();
  int64_t page = op.getCache()
                     ? cast<CacheType>(op.getCache().getType()).getPage()
                     : kArrayPage;
  return row::IndexScoreOp::create(
      b, row.getLoc("scores"), VectorType::get({max}, b.getF32Type()),
      row.getBuffer(op.getQueries()), row.getStride(op.getQueries(), 1),
      queryScales, scaleHead, row.getBuffer(op.getWeights()), keys.buffer,
      keys.page, keys.entry, scales.buffer, scales.page, scales.entry,
      op.getKeepRest() ? row.constant(0) : columns, op.getHeads(), op.getDim(),
      page, keys.base, scales.base, getVectorAlignment(row, op.getQueries()),
      keys.alignment, scales.alignment,
      std::gcd(keys.pageAlignment, scales.pageAlignment), keys.entryBytes,
      scales.entryBytes, knowsReaders ? op.getNextN().value_or(1) : 0,
      op.getQueryFormat(), op.getKeyFormat());
}

std::pair<Value, Value> ScoreBuilder::buildKeys() {
  Value start = row.constant(0), hasStart, count = columns;
  if (op.getStarts()) {
    Value given = row.loadIndexOfRow(op.getStarts(), "given_start");
    hasStart = row.isNotNegative(given);
    start = row.max(given, row.constant(0), "start");
  }
  if (op.getLengths()) {
    count = buildRowLength(row, {op.getLengths(), op.getNextN(), op.getRatio()},
                           columns, "length");
  } else if (op.getEnds()) {
    Value end = row.loadIndexOfRow(op.getEnds(), "given_end");
    count = row.max(row.sub(end, start), row.constant(0));
    count = row.min(count, columns, "length");
  }
  if (op.getKeys()) {
    Value left = row.sub(row.getExtent(op.getKeys(), 0), start);
    count = row.min(count, row.max(left, row.constant(0)), "count");
  } else if (op.getStarts()) {
    // The number of a key is one of 32 bits.
    Value left = row.sub(row.constant(INT32_MAX), start);
    count = row.min(count, left, "count");
  }
  if (hasStart)
    count = arith::SelectOp::create(b, row.getLoc("count"), hasStart, count,
                                    row.constant(0));
  return {start, count};
}

void ScoreBuilder::buildRow(Region &region) {
  OpBuilder::InsertionGuard saved(b);
  b.createBlock(&region);
  auto [start, count] = buildKeys();
  Value at = row.getRow();
  Value scales =
      op.getScales() ? row.getOffset(op.getScales(), at) : row.constant(0);
  row::YieldOp::create(b, row.getLoc(),
                       ValueRange{row.getOffset(op.getQueries(), at), scales,
                                  row.getOffset(op.getWeights(), at), start,
                                  count});
}

Value ScoreBuilder::findPage(Value number) {
  Value table = op.getPageTable(), request = row.getRow(), valid;
  Value requests = op.getIndptr() ? row.sub(row.getExtent(op.getIndptr(), 0),
                                            row.constant(1), "requests")
                                  : row.getExtent(table, 0);
  if (op.getRequests()) {
    request = row.loadIndexOfRow(op.getRequests(), "request");
    valid = row.isNotNegative(request);
  } else if (op.getNextN()) {
    request = row.div(request, row.constant(*op.getNextN()), "request");
  }
  // Rows are tied to those of a table that has one for each.
  if (op.getRequests() || op.getNextN() || op.getIndptr())
    valid = row.both(valid, row.isBelow(request, requests));
  Value page = op.getIndptr() ? lookupListedPage(row, table, op.getIndptr(),
                                                 request, number, valid)
                              : lookupPage(row, table, request, number, valid);
  Value isPage = row.both(row.isNotNegative(page),
                          row.isBelow(page, row.getExtent(op.getCache(), 0)));
  return arith::SelectOp::create(b, row.getLoc(), isPage, page,
                                 row.constant(-1));
}

void ScoreBuilder::buildPage(Region &region) {
  OpBuilder::InsertionGuard saved(b);
  Value number =
      b.createBlock(&region, {}, b.getIndexType(), row.getLoc("number"))
          ->getArgument(0);
  // Keys in order are one page after another.
  Value page = op.getCache() ? findPage(number) : number;
  row::YieldOp::create(b, row.getLoc(), page);
}

FailureOr<SmallVector<RowValue>> ScoreBuilder::build() {
  auto type = cast<RankedTensorType>(op.getOut().getType());
  int64_t max = type.getDimSize(1);
  if (type.isDynamicDim(1)) {
    max = row.boundExtent(op.getOut(), 1);
    columns = row.getExtent(op.getOut(), 1);
  } else {
    columns = row.constant(max);
  }
  row::IndexScoreOp scores = createScores(std::max<int64_t>(max, 1));
  buildRow(scores.getRow());
  buildPage(scores.getPage());
  if (!isYielded(op))
    return SmallVector<RowValue>{{scores.getScores()}};
  // They are written as they come: no thread has a row of them.
  row::WriteTilesOp::create(
      b, row.getLoc(), scores.getScores(), row.getBuffer(op.getOut()),
      row.getRowOffset(op.getOut(), "row_start"), columns);
  return SmallVector<RowValue>{RowValue()};
}

namespace {
struct IndexScoreLowering
    : RowLoweringInterface::ExternalModel<IndexScoreLowering, IndexScoreOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    return ScoreBuilder(cast<IndexScoreOp>(op), row).build();
  }
};
} // namespace

void dsv4::attachIndexScoreLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    IndexScoreOp::attachInterface<IndexScoreLowering>(*context);
  });
}
