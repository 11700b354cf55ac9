//===- PagedGather.cpp - Row program of dsv4.paged_gather -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheEntry.h"
#include "RowLowerings.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// The row of a ragged request.
struct RaggedRow {
  Value request, position;
  Value exists; ///< i1: whether the row is for a position at all.
};

/// Emits the row program of one gather.
class GatherBuilder {
public:
  GatherBuilder(PagedGatherOp op, RowContext &row)
      : op(op), row(row), cache(op.getCache().getType()) {}

  SmallVector<RowValue> build();

private:
  CacheEntry buildEntry();
  CacheEntry buildEntryOfIndex();
  CacheEntry buildEntryOfRequest();
  RaggedRow buildFlatRow();
  RaggedRow buildRowOfRequest();
  Value findPosition(Value request, Value known, Value nth, Value &exists);
  Value loadLength(Value lengths, Value request, Value known, StringRef name);
  Value isRequest(Value request);
  Value buildField(FieldAttr field, const CacheEntry &entry);
  Value copyField(FieldAttr field, const CacheEntry &entry);
  StoredVector locate(FieldAttr field, const CacheEntry &entry);

  PagedGatherOp op;
  RowContext &row;
  CacheType cache;
};

SmallVector<RowValue> GatherBuilder::build() {
  CacheEntry entry = buildEntry();
  SmallVector<RowValue> results;
  if (op.getOut()) {
    RowValue segments;
    for (FieldAttr field : cache.getRecord().getFields())
      if (field.isData())
        segments.push_back(buildField(field, entry));
    results.push_back(segments);
  }
  for (FieldAttr field : op.getCopiedFields())
    results.push_back({copyField(field, entry)});
  if (op.getMask())
    results.push_back({entry.valid});
  return results;
}

//===----------------------------------------------------------------------===//
// Rows of ragged requests
//===----------------------------------------------------------------------===//

/// A length of a request; a negative one counts as 0.
Value GatherBuilder::loadLength(Value lengths, Value request, Value known,
                                StringRef name) {
  std::string given = ("given_" + name).str();
  Value length =
      known
          ? row.loadIndexIf(
                known, lengths, [&] { return row.getOffset(lengths, request); },
                0, given, IntegerKind::Length)
          : row.loadIndexAt(lengths, request, given, IntegerKind::Length);
  return row.max(length, row.constant(0), name);
}

/// The position of row `nth` of a request with `seq_lens`, and whether there is
/// that row.
Value GatherBuilder::findPosition(Value request, Value known, Value nth,
                                  Value &exists) {
  Value length = loadLength(op.getSeqLens(), request, known, "seq_len");
  Value count = length;
  if (op.getGatherLens())
    count =
        row.min(loadLength(op.getGatherLens(), request, known, "gather_len"),
                length, "count");
  exists =
      row.both(known, row.both(row.isNotNegative(nth), row.isBelow(nth, count)),
               "exists");
  // Positions of rows that exist are below the length.
  if (!op.getGatherLens())
    return nth;
  return row.add(row.sub(length, count), nth, "position");
}

RaggedRow GatherBuilder::buildFlatRow() {
  bool isCumulative = bool(op.getCuSeqLens());
  Value starts = isCumulative ? op.getCuSeqLens() : op.getRowStarts();
  // All numbers but the last one begin a request.
  Value requests = row.getExtent(starts, 0);
  if (isCumulative)
    requests = row.sub(requests, row.constant(1), "requests");
  RaggedRow found;
  Value known;
  if (op.getRequests()) {
    found.request = row.loadIndexOfRow(op.getRequests(), "request");
    known = row.isNotNegative(found.request);
  } else {
    found.request = row.search(starts, row.getRow(), requests, "request");
  }
  known = row.both(known, row.isBelow(found.request, requests), "known");
  Value start = loadLength(starts, found.request, known, "start");
  bool isPosition = isCumulative && !op.getSeqStarts();
  Value nth = row.sub(row.getRow(), start, isPosition ? "position" : "nth");
  if (!isCumulative) {
    found.position = findPosition(found.request, known, nth, found.exists);
    return found;
  }
  Value end = row.loadIndexIf(
      known, starts,
      [&] {
        return row.getOffset(starts, row.add(found.request, row.constant(1)));
      },
      0, "end");
  found.exists = row.both(
      known, row.both(row.isNotNegative(nth), row.isBelow(row.getRow(), end)),
      "exists");
  found.position = nth;
  if (Value first = op.getSeqStarts()) {
    // There may be fewer of them than requests.
    Value given =
        row.both(known, row.isBelow(found.request, row.getExtent(first, 0)));
    found.position = row.add(
        loadLength(first, found.request, given, "seq_start"), nth, "position");
  }
  return found;
}

RaggedRow GatherBuilder::buildRowOfRequest() {
  RaggedRow found;
  Value rows = op.getRowOperand();
  found.request = row.getOuterIndex(rows, 1, "request");
  Value nth = row.rem(row.getRow(), row.getExtent(rows, 1, /*min=*/1), "nth");
  if (int64_t offset = op.getOffset().value_or(0))
    nth = row.sub(nth, row.constant(offset));
  // The rows before it, all of them perhaps, have no position.
  if (Value offset = op.getRowOffset())
    nth = row.sub(nth, loadLength(offset, row.constant(0), Value(), "offset"));
  found.position = findPosition(found.request, Value(), nth, found.exists);
  return found;
}

/// Whether the page table has this request, which is not negative.
Value GatherBuilder::isRequest(Value request) {
  if (Value indptr = op.getIndptr())
    return row.isBelow(row.add(request, row.constant(1)),
                       row.getExtent(indptr, 0));
  return row.isBelow(request, row.getExtent(op.getPageTable(), 0));
}

CacheEntry GatherBuilder::buildEntryOfRequest() {
  RaggedRow found = op.hasFlatRows() ? buildFlatRow() : buildRowOfRequest();
  row.storeIf(found.exists);
  Value valid = found.exists;
  if (op.hasFlatRows() || op.getIndptr())
    valid = row.both(valid, isRequest(found.request));
  return findEntryOfPosition(
      row, {op.getCache(), op.getPageTable(), std::nullopt, op.getIndptr()},
      found.request, found.position, valid);
}

//===----------------------------------------------------------------------===//
// Rows of indices
//===----------------------------------------------------------------------===//

CacheEntry GatherBuilder::buildEntryOfIndex() {
  Value indices = op.getIndices();
  if (op.getInBytes())
    return findEntryAtByte(row, op.getCache().getType(), indices);
  bool perToken = op.getRowRank() == 2;
  Value index = row.loadIndexOfRow(indices, "index");
  Value token;
  if (perToken && (op.getLengths() || op.getPageTable()))
    token = row.getOuterIndex(indices, 1, "token");
  else if (op.getRequests())
    token = row.getRow();

  Value valid = row.isNotNegative(index);
  Value lengths = op.getLengths();
  if (lengths && !op.hasLengthsPerRequest()) {
    // Of one token the length is of rank 0.
    ArrayRef<Value> at = token ? ArrayRef<Value>(token) : ArrayRef<Value>();
    Value length = row.loadIndexAt(lengths, at, "length", IntegerKind::Length);
    valid = row.both(valid, row.isBelow(index, length));
  }
  Value table = op.getPageTable();
  if (!table)
    return findEntryOfIndex(row, cache, index, valid);

  Value tableRow = token;
  if (Value requests = op.getRequests()) {
    tableRow = row.loadIndexAt(requests, token, "request");
    valid = row.both(
        valid, row.both(row.isNotNegative(tableRow), isRequest(tableRow)));
  } else if (op.getIndptr()) {
    valid = row.both(valid, isRequest(tableRow));
  }
  if (op.hasLengthsPerRequest()) {
    if (op.getIndptr())
      valid = row.both(valid, row.isBelow(tableRow, row.getExtent(lengths, 0)));
    // The length of a request that there is not must not be read.
    Value length = row.loadIndexIf(
        valid, lengths, [&] { return row.getOffset(lengths, tableRow); }, 0,
        "length", IntegerKind::Length);
    valid = row.both(valid, row.isBelow(index, length));
  }
  return findEntryOfPosition(
      row, {op.getCache(), table, std::nullopt, op.getIndptr()}, tableRow,
      index, valid);
}

CacheEntry GatherBuilder::buildEntry() {
  CacheEntry entry =
      op.isRagged() ? buildEntryOfRequest() : buildEntryOfIndex();
  // An index that is not valid has no page.
  if (op.getPageTable())
    entry.valid = row.isNotNegative(entry.page);
  completeEntry(row, op.getCache(), entry);
  return entry;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

StoredVector GatherBuilder::locate(FieldAttr field, const CacheEntry &entry) {
  StoredVector stored = locateField(row, op.getCache(), field, entry);
  // Padding after a field may be read with it where that makes the access a
  // power of two.
  int64_t bits = getElementBits(field.getElement());
  if (field.getPad() && bits == 8 && field.getPlacement() != Placement::Array &&
      llvm::isPowerOf2_64(field.getExtent() + field.getPad()))
    stored.readable = field.getExtent() + field.getPad();
  return stored;
}

Value GatherBuilder::buildField(FieldAttr field, const CacheEntry &entry) {
  SmallVector<StoredScales> scales;
  for (FieldAttr level : cache.getRecord().getScalesOf(field.getName())) {
    int64_t group = level.getGroup() > 0 ? level.getGroup() : field.getExtent();
    scales.push_back({locate(level, entry), group});
  }
  return buildDecode(row, locate(field, entry), scales,
                     cast<ShapedType>(op.getOut().getType()).getElementType());
}

/// The elements of a field, in the order in which they are stored.
Value GatherBuilder::copyField(FieldAttr field, const CacheEntry &entry) {
  StoredVector stored = locate(field, entry);
  stored.interleave = 1;
  stored.highFirst = false;
  return buildRead(row, stored);
}

struct PagedGatherLowering
    : RowLoweringInterface::ExternalModel<PagedGatherLowering, PagedGatherOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    return GatherBuilder(cast<PagedGatherOp>(op), row).build();
  }
};

} // namespace

void dsv4::attachPagedGatherLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    PagedGatherOp::attachInterface<PagedGatherLowering>(*context);
  });
}
