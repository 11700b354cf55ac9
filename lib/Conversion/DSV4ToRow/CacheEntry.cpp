//===- CacheEntry.cpp - Entries of a cache, as row programs address them --===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheEntry.h"

#include "dsv4/Dialect/DSV4/BufferStrides.h"

#include <numeric>

using namespace mlir;
using namespace dsv4;

Value dsv4::lookupPage(RowContext &row, Value table, Value tableRow,
                       Value logicalPage, Value valid) {
  int64_t axis = cast<ShapedType>(table.getType()).getRank() - 1;
  Value pages = row.getExtent(table, axis);
  Value inTable = row.both(valid, row.isBelow(logicalPage, pages), "in_table");
  return row.loadIndexIf(
      inTable, table,
      [&] {
        return tableRow ? row.getOffset(table, {tableRow, logicalPage})
                        : row.getOffset(table, logicalPage);
      },
      -1, "page");
}

Value dsv4::lookupListedPage(RowContext &row, Value pages, Value indptr,
                             Value request, Value logicalPage, Value valid) {
  Value begin = row.loadIndexIf(
      valid, indptr, [&] { return row.getOffset(indptr, request); }, 0,
      "pages_begin");
  Value end = row.loadIndexIf(
      valid, indptr,
      [&] { return row.getOffset(indptr, row.add(request, row.constant(1))); },
      0, "pages_end");
  Value listed = row.add(begin, logicalPage, "listed_page");
  Value inList = row.both(row.isBelow(listed, end),
                          row.isBelow(listed, row.getExtent(pages, 0)));
  inList =
      row.both(row.both(valid, row.isNotNegative(begin)), inList, "in_list");
  return row.loadIndexIf(
      inList, pages, [&] { return row.getOffset(pages, listed); }, -1, "page");
}

void dsv4::completeEntry(RowContext &row, TypedValue<CacheType> cache,
                         CacheEntry &entry, bool isWritten) {
  Value pages = row.getExtent(cache, 0);
  if (isWritten)
    entry.valid = row::MayWriteOp::create(row.getBuilder(), row.getLoc("valid"),
                                          row.getBuilder().getI1Type(),
                                          entry.valid, entry.page, pages);
  else
    entry.valid =
        row.both(entry.valid, row.isBelow(entry.page, pages), "valid");
  findPageStart(row, cache, entry);
}

void dsv4::findPageStart(RowContext &row, TypedValue<CacheType> cache,
                         CacheEntry &entry) {
  RecordLayout layout = getLayout(cache.getType());
  if (!layout.hasPages())
    return;
  Value stride = row.getPageStride(cache, "");
  if (!stride)
    stride =
        row.constant(layout.getPageBytes(), row.getName(cache) + "_page_bytes");
  entry.pageStart = row.mul(entry.page, stride, "page_start");
}

CacheEntry dsv4::findEntryOfIndex(RowContext &row, CacheType cache, Value index,
                                  Value valid) {
  Value pageSize = row.constant(cache.getPage());
  CacheEntry entry;
  entry.page = row.div(index, pageSize, "page");
  entry.slot = row.rem(index, pageSize, "slot");
  entry.linear = index;
  entry.valid = valid;
  return entry;
}

CacheEntry dsv4::findEntryAtByte(RowContext &row, CacheType cache,
                                 Value offsets) {
  FieldAttr first = getFirstField(cache);
  RecordLayout::Position position = getPosition(cache, first);
  Value pageBytes = row.constant(position.pageStride, "page_bytes");
  Value bytes = row.constant(position.slotStride, first.getName() + "_bytes");
  Value pageSize = row.constant(cache.getPage());
  Value offset = row.loadWideOfRow(offsets, "offset");
  // Divisions of what is not negative are of unsigned numbers.
  Value start = row.max(offset, row.constant(0), "start");
  Value inPage = row.rem(start, pageBytes, "in_page");
  Value valid = row.isNotNegative(offset);
  if (position.base) {
    inPage = row.sub(inPage,
                     row.constant(position.base, first.getName() + "_offset"));
    valid = row.both(valid, row.isNotNegative(inPage));
  }
  CacheEntry entry;
  entry.page = row.narrow(row.div(start, pageBytes), "page");
  entry.slot = row.div(inPage, bytes, "slot");
  valid = row.both(valid, row.isNotNegative(entry.page));
  valid = row.both(valid, row.isBelow(entry.slot, pageSize));
  Value isStart = arith::CmpIOp::create(
      row.getBuilder(), row.getLoc(), arith::CmpIPredicate::eq,
      row.rem(inPage, bytes), row.constant(0));
  entry.valid = row.both(valid, isStart, "is_entry");
  entry.linear = row.add(row.mul(entry.page, pageSize), entry.slot, "entry");
  return entry;
}

CacheEntry dsv4::findEntryOfPosition(RowContext &row,
                                     const PositionLookup &lookup,
                                     Value request, Value position,
                                     Value valid) {
  CacheType cache = lookup.cache.getType();
  Value pageSize = row.constant(cache.getPage());
  if (lookup.ring)
    position = row.rem(position, row.constant(*lookup.ring), "in_ring");
  CacheEntry entry;
  if (lookup.pageTable) {
    Value logicalPage = row.div(position, pageSize, "logical_page");
    entry.page =
        lookup.indptr
            ? lookupListedPage(row, lookup.pageTable, lookup.indptr, request,
                               logicalPage, valid)
            : lookupPage(row, lookup.pageTable, request, logicalPage, valid);
    entry.slot = row.rem(position, pageSize, "slot");
    entry.linear = row.add(row.mul(entry.page, pageSize), entry.slot, "entry");
    entry.valid = row.both(valid, row.isNotNegative(entry.page));
    return entry;
  }
  int64_t ring = *lookup.ring;
  if (ring % cache.getPage() != 0)
    return findEntryOfIndex(
        row, cache,
        row.add(row.mul(request, row.constant(ring)), position, "entry"),
        valid);
  Value first = row.mul(request, row.constant(ring / cache.getPage()));
  entry.page = row.add(first, row.div(position, pageSize), "page");
  entry.slot = row.rem(position, pageSize, "slot");
  entry.linear = row.add(row.mul(entry.page, pageSize), entry.slot, "entry");
  entry.valid = valid;
  return entry;
}

StoredVector dsv4::locateField(RowContext &row, TypedValue<CacheType> cache,
                               FieldAttr field, const CacheEntry &entry) {
  std::string name = row.getName(cache) + "_" + field.getName().str();
  RecordLayout::Position position = getPosition(cache.getType(), field);
  StoredVector stored;
  stored.extent = stored.readable = field.getExtent();
  stored.element = field.getElement();
  stored.alignment = position.alignment;
  stored.interleave = field.getInterleave();
  stored.highFirst = field.getHighFirst();
  stored.predicate = entry.valid;
  stored.name = field.getName();
  bool isShared = field.getGroup() == FieldAttr::kPerTensor;
  int64_t slotStride = position.slotStride;
  // A page may begin wherever its stride leads.
  if (StridesAttr strides = row.getBufferStrides(cache, field)) {
    stored.alignment = std::gcd<int64_t>(strides.getAlign(), position.base);
    if (!isShared)
      slotStride = getEntryStride(strides).value_or(slotStride);
    if (cache.getType().getPage() > 1)
      stored.alignment = std::gcd(stored.alignment, slotStride);
  }
  if (position.inArray) {
    stored.buffer = row.getBuffer(cache, field.getName());
    Value bytes =
        isShared ? Value() : row.constant(slotStride, name + "_bytes");
    Value stride =
        isShared ? Value() : row.getPageStride(cache, field.getName());
    stored.offset = isShared ? row.constant(0)
                    : stride ? row.add(row.mul(entry.page, stride),
                                       row.mul(entry.slot, bytes))
                             : row.mul(entry.linear, bytes);
    return stored;
  }
  stored.buffer = row.getBuffer(cache);
  // Fields of a row share its stride; others have an array per page.
  bool isInRow = field.getPlacement() == Placement::Row;
  Value stride =
      row.constant(slotStride, isInRow ? row.getName(cache) + "_row_bytes"
                                       : name + "_bytes");
  stored.offset = row.add(entry.pageStart, row.mul(entry.slot, stride),
                          isInRow ? "entry" : "");
  if (position.base)
    stored.offset =
        row.add(stored.offset, row.constant(position.base, name + "_offset"));
  return stored;
}
