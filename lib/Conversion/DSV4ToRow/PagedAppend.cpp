//===- PagedAppend.cpp - Row program of dsv4.paged_append -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheEntry.h"
#include "RowLowerings.h"

#include "dsv4/Dialect/Row.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dsv4;

namespace {

/// Emits the row program of one append.
class AppendBuilder {
public:
  AppendBuilder(PagedAppendOp op, RowContext &row)
      : op(op), row(row), b(row.getBuilder()), cache(op.getCache().getType()) {}

  void build();

private:
  /// Index of the entry in the pool, and what must hold for it to be written.
  void buildEntry();
  void buildRingEntry(Value position);
  void buildPagedEntry(Value position);
  void storeField(FieldAttr field, Value values);

  PagedAppendOp op;
  RowContext &row;
  OpBuilder &b;
  CacheType cache;
  CacheEntry entry;
};

} // namespace

void AppendBuilder::buildRingEntry(Value position) {
  int64_t ring = *op.getRing();
  Value lengths = op.getLengths();
  Value request = row.getRow();
  Value valid = row.isNotNegative(position);
  bool perToken = op.hasLengthsPerToken();
  if (op.getRequests()) {
    request = row.loadIndexOfRow(op.getRequests(), "request");
    Value exists =
        perToken ? row.isNotNegative(request)
                 : row.both(row.isNotNegative(request),
                            row.isBelow(request, row.getExtent(lengths, 0)));
    valid = row.both(valid, exists, "has_request");
  }
  if (op.getPageTable())
    valid = row.both(valid,
                     row.isBelow(request, row.getExtent(op.getPageTable(), 0)));
  // The length of a missing request must not be read.
  Value length = row.loadIndexIf(
      valid, lengths, [&] { return perToken ? row.getRow() : request; }, 0,
      "length", IntegerKind::Length);
  // A later position of the same launch takes the slot of an earlier one.
  Value kept = row.isBelow(length, row.add(position, row.constant(ring + 1)));
  valid = row.both(valid, kept);
  entry = findEntryOfPosition(row, {op.getCache(), op.getPageTable(), ring},
                              request, position, valid);
}

void AppendBuilder::buildPagedEntry(Value position) {
  Value request = row.getRow(), valid = row.isNotNegative(position);
  Value starts = op.getIndptr();
  if (op.getRequests()) {
    request = row.loadIndexOfRow(op.getRequests(), "request");
    Value bound = row.getExtent(starts ? starts : op.getPageTable(), 0);
    // The last number of 'indptr' is where the pages of the last request end.
    Value index = starts ? row.add(request, row.constant(1)) : request;
    valid = row.both(
        valid, row.both(row.isNotNegative(request), row.isBelow(index, bound)),
        "has_request");
  }
  entry = findEntryOfPosition(
      row, {op.getCache(), op.getPageTable(), std::nullopt, starts}, request,
      position, valid);
}

void AppendBuilder::buildEntry() {
  Value indices = op.getIndices();
  if (op.getInBytes()) {
    entry = findEntryAtByte(row, cache, indices);
    return completeEntry(row, op.getCache(), entry, /*isWritten=*/true);
  }
  bool isPosition = op.getRing() || op.getPageTable();
  Value index = row.loadIndexOfRow(indices, isPosition ? "position" : "entry");
  if (op.getRing()) {
    buildRingEntry(index);
  } else if (op.getPageTable()) {
    buildPagedEntry(index);
  } else {
    Value valid = row.isNotNegative(index);
    if (!op.getUnique()) {
      remark::missed(op.getLoc(), remark::RemarkOpts::name("repeats").category(
                                      "convert-dsv4-to-row"))
          << "'indices' may repeat, so every token looks for its slot among "
             "those of all later tokens, which grows with the square of the "
             "tokens; add 'unique' if no two tokens of a launch have one slot";
      Value last = row::IsLastOp::create(
          b, row.getLoc("is_last"), b.getI1Type(), row.getBuffer(indices),
          row.getRow(), row.getExtent(indices, 0, /*min=*/1));
      valid = row.both(valid, last);
    }
    entry = findEntryOfIndex(row, cache, index, valid);
  }
  completeEntry(row, op.getCache(), entry, /*isWritten=*/true);
}

void AppendBuilder::storeField(FieldAttr field, Value values) {
  StoredVector stored = locateField(row, op.getCache(), field, entry);
  Location loc = row.getLoc();
  Value buffer = stored.buffer, offset = stored.offset;
  // Zeros after a field fill it up to a power of two of bytes.
  int64_t bytes = field.getByteSize();
  int64_t pad =
      llvm::isPowerOf2_64(bytes + field.getPad()) ? field.getPad() : 0;
  if (field.isScale()) {
    FieldAttr data = cache.getRecord().getField(field.getScales().getValue());
    int64_t group = field.getGroup() > 0 ? field.getGroup() : data.getExtent();
    row::WriteOp::create(b, loc, values, buffer, offset, group,
                         stored.alignment, field.getInterleave(), pad);
    return;
  }
  if (field.isMetadata()) {
    // One lane writes what all of them have, as it does a scale per row.
    row::WriteOp::create(b, loc, values, buffer, offset,
                         RecordAttr::kMaxRowExtent, stored.alignment,
                         /*interleave=*/1, pad);
    return;
  }
  if (field.getHighFirst())
    values = row::SwapNibblesOp::create(b, loc, values.getType(), values);
  row::WriteOp::create(b, loc, values, buffer, offset, /*group=*/1,
                       stored.alignment);
  Value zero;
  for (int64_t i = 0; i < pad; ++i) {
    if (!zero)
      zero = arith::ConstantIntOp::create(b, loc, 0, 8);
    memref::StoreOp::create(
        b, loc, zero, buffer,
        ValueRange{row.add(offset, row.constant(bytes + i))});
  }
}

void AppendBuilder::build() {
  SmallVector<Value> values;
  SmallVector<FieldAttr> fields = op.getWrittenFields();
  for (auto [i, field, operand] : llvm::enumerate(fields, op.getFields()))
    values.push_back(row.takeRow(operand, op.getColumn(i), field.getExtent(),
                                 field.getName()));
  buildEntry();
  auto guard = scf::IfOp::create(b, row.getLoc(), entry.valid);
  OpBuilder::InsertionGuard saved(b);
  b.setInsertionPointToStart(guard.thenBlock());
  // The product with a run-time stride is found where it is needed: it takes
  // registers of what is computed before.
  if (StridesAttr strides = row.getStrides(op.getCache());
      strides && ShapedType::isDynamic(strides.getStrides()[0]))
    findPageStart(row, op.getCache(), entry);
  for (auto [field, value] : llvm::zip(fields, values))
    storeField(field, value);
}

namespace {
struct PagedAppendLowering
    : RowLoweringInterface::ExternalModel<PagedAppendLowering, PagedAppendOp> {
  FailureOr<SmallVector<RowValue>> buildRow(Operation *op,
                                            RowContext &row) const {
    AppendBuilder(cast<PagedAppendOp>(op), row).build();
    return SmallVector<RowValue>();
  }
};
} // namespace

void dsv4::attachPagedAppendLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DSV4Dialect *) {
    PagedAppendOp::attachInterface<PagedAppendLowering>(*context);
  });
}
