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

/// Emits the row program of one gather.
class GatherBuilder {
public:
  GatherBuilder(PagedGatherOp op, RowContext &row)
      : op(op), row(row), cache(op.getCache().getType()) {}

  SmallVector<RowValue> build() {
    CacheEntry entry = buildEntry();
    RowValue segments;
    for (FieldAttr field : cache.getRecord().getFields())
      if (field.isData())
        segments.push_back(buildField(field, entry));
    SmallVector<RowValue> results = {segments};
    if (op.getMask())
      results.push_back({entry.valid});
    return results;
  }

private:
  CacheEntry buildEntry();
  Value buildField(FieldAttr field, const CacheEntry &entry);
  StoredVector locate(FieldAttr field, const CacheEntry &entry);

  PagedGatherOp op;
  RowContext &row;
  CacheType cache;
};

CacheEntry GatherBuilder::buildEntry() {
  Value indices = op.getIndices();
  bool perToken = cast<ShapedType>(indices.getType()).getRank() == 2;
  Value index = row.loadIndexOfRow(indices, "index");
  Value token;
  if (perToken && (op.getLengths() || op.getPageTable()))
    token = row.getOuterIndex(indices, 1, "token");

  Value valid = row.isNotNegative(index);
  Value lengths = op.getLengths();
  if (lengths && !op.hasLengthsPerRequest()) {
    // Of one token the length is of rank 0.
    ArrayRef<Value> at = perToken ? ArrayRef<Value>(token) : ArrayRef<Value>();
    Value length = row.loadIndexAt(lengths, at, "length", IntegerKind::Length);
    valid = row.both(valid, row.isBelow(index, length));
  }

  CacheEntry entry;
  if (Value table = op.getPageTable()) {
    Value tableRow = token;
    if (cast<ShapedType>(table.getType()).getRank() == 1)
      tableRow = Value();
    if (Value requests = op.getRequests()) {
      tableRow = row.loadIndexAt(requests, token, "request");
      valid = row.both(
          valid, row.both(row.isNotNegative(tableRow),
                          row.isBelow(tableRow, row.getExtent(table, 0))));
    }
    if (op.hasLengthsPerRequest()) {
      // The length of a request that there is not must not be read.
      Value length = row.loadIndexIf(
          valid, lengths, [&] { return tableRow; }, 0, "length",
          IntegerKind::Length);
      valid = row.both(valid, row.isBelow(index, length));
    }
    entry = findEntryOfPosition(row, {op.getCache(), table, std::nullopt},
                                tableRow, index, valid);
    // An index that is not valid has no page.
    entry.valid = row.isNotNegative(entry.page);
  } else {
    entry = findEntryOfIndex(row, cache, index, valid);
  }
  completeEntry(row, op.getCache(), entry);
  return entry;
}

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
