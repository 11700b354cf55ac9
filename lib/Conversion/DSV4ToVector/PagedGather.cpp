//===- PagedGather.cpp - Row program of dsv4.paged_gather -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowContext.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// One entry of a cache, as a row program addresses it.
struct Entry {
  Value page;      ///< Physical page.
  Value slot;      ///< Entry within the page.
  Value linear;    ///< page * page_size + slot, for array fields.
  Value pageStart; ///< Byte offset of the page, for page fields.
  Value valid;     ///< i1: whether anything may be read.
};

/// Emits the row program of one gather.
class GatherBuilder {
public:
  GatherBuilder(PagedGatherOp op, RowContext &row)
      : op(op), row(row), cache(op.getCache().getType()), layout(cache) {}

  SmallVector<RowValue> build() {
    Entry entry = buildEntry();
    RowValue pieces;
    for (FieldAttr field : cache.getRecord().getFields())
      if (!field.isScale())
        pieces.push_back(buildField(field, entry));
    SmallVector<RowValue> results = {pieces};
    if (op.getMask())
      results.push_back({entry.valid});
    return results;
  }

private:
  /// The page that holds `index`, -1 where the table has none.
  Value buildPageLookup(Value index, Value valid, Value logicalPage,
                        Value tableRow);
  Entry buildEntry();
  Value buildField(FieldAttr field, const Entry &entry);
  StoredVector locate(FieldAttr field, const Entry &entry);

  PagedGatherOp op;
  RowContext &row;
  CacheType cache;
  RecordLayout layout;
};

Value GatherBuilder::buildPageLookup(Value index, Value valid,
                                     Value logicalPage, Value tableRow) {
  OpBuilder &b = row.getBuilder();
  Value table = op.getPageTable();
  int64_t width = cast<ShapedType>(table.getType()).getRank() - 1;
  Value pages = row.getExtent(table, width);
  Value buffer = row.getBuffer(table);
  Value inTable = row.both(valid, row.isBelow(logicalPage, pages), "in_table");
  return row.loadIndexIf(
      inTable, buffer,
      [&] {
        if (!tableRow)
          return logicalPage;
        return row.add(row.mul(tableRow, pages), logicalPage);
      },
      -1, "page");
}

Entry GatherBuilder::buildEntry() {
  Value indices = op.getIndices();
  bool perToken = cast<ShapedType>(indices.getType()).getRank() == 2;
  Value index = row.loadIndex(row.getBuffer(indices), row.getRow(), "index");
  Value token;
  if (perToken && (op.getLengths() || op.getPageTable()))
    token = row.getOuterIndex(indices, 1, "token");

  Value valid = row.isNotNegative(index);
  if (Value lengths = op.getLengths()) {
    Value at = perToken ? token : row.constant(0);
    Value length = row.loadIndex(row.getBuffer(lengths), at, "length");
    valid = row.both(valid, row.isBelow(index, length));
  }

  Value pageSize = row.constant(cache.getPage());
  Entry entry;
  Value pages = row.getExtent(op.getCache(), 0);
  if (Value table = op.getPageTable()) {
    Value tableRow = token;
    if (cast<ShapedType>(table.getType()).getRank() == 1)
      tableRow = Value();
    if (Value requests = op.getRequests()) {
      tableRow = row.loadIndex(row.getBuffer(requests), token, "request");
      valid = row.both(
          valid, row.both(row.isNotNegative(tableRow),
                          row.isBelow(tableRow, row.getExtent(table, 0))));
    }
    Value logicalPage = row.div(index, pageSize, "logical_page");
    entry.page = buildPageLookup(index, valid, logicalPage, tableRow);
    entry.slot = row.rem(index, pageSize, "slot");
    entry.linear = row.add(row.mul(entry.page, pageSize), entry.slot, "entry");
    valid = row.isNotNegative(entry.page);
  } else {
    entry.page = row.div(index, pageSize, "page");
    entry.slot = row.rem(index, pageSize, "slot");
    entry.linear = index;
  }
  entry.valid = row.both(valid, row.isBelow(entry.page, pages), "valid");
  if (layout.hasPages())
    entry.pageStart =
        row.mul(entry.page, row.constant(layout.getPageBytes()), "page_start");
  return entry;
}

StoredVector GatherBuilder::locate(FieldAttr field, const Entry &entry) {
  RecordLayout::Position position = layout.getPosition(field);
  StoredVector stored;
  stored.extent = stored.readable = field.getExtent();
  stored.element = field.getElement();
  stored.alignment = position.alignment;
  stored.interleave = field.getInterleave();
  stored.highFirst = field.getHighFirst();
  stored.predicate = entry.valid;
  stored.name = field.getName();
  if (position.inArray) {
    stored.buffer = row.getBuffer(op.getCache(), field.getName());
    stored.offset =
        field.getGroup() == FieldAttr::kPerTensor
            ? row.constant(0)
            : row.mul(entry.linear, row.constant(position.slotStride));
    return stored;
  }
  stored.buffer = row.getBuffer(op.getCache());
  Value inPage = row.mul(entry.slot, row.constant(position.slotStride));
  stored.offset =
      row.add(entry.pageStart, inPage,
              field.getPlacement() == Placement::Row ? "entry" : "");
  if (position.base)
    stored.offset = row.add(stored.offset, row.constant(position.base));
  // Padding behind a field may be read with it where that makes the access a
  // power of two.
  int64_t bits = getElementBits(field.getElement());
  if (field.getPad() && bits == 8 &&
      llvm::isPowerOf2_64(field.getExtent() + field.getPad()))
    stored.readable = field.getExtent() + field.getPad();
  return stored;
}

Value GatherBuilder::buildField(FieldAttr field, const Entry &entry) {
  SmallVector<StoredFactors> factors;
  for (FieldAttr level : cache.getRecord().getScalesOf(field.getName())) {
    int64_t group = level.getGroup() > 0 ? level.getGroup() : field.getExtent();
    factors.push_back({locate(level, entry), group});
  }
  return buildDecode(row, locate(field, entry), factors,
                     cast<ShapedType>(op.getOut().getType()).getElementType());
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
