//===- RecordLayout.cpp - Where the bytes of a record are -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/RecordLayout.h"

#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace dsv4;

SmallVector<int64_t> dsv4::getFieldOffsets(ArrayRef<FieldAttr> fields) {
  SmallVector<int64_t> offsets;
  int64_t end[2] = {0, 0};
  for (FieldAttr field : fields) {
    if (field.getPlacement() == Placement::Array) {
      offsets.push_back(0);
      continue;
    }
    int64_t &next = end[static_cast<unsigned>(field.getPlacement())];
    int64_t offset = field.getOffset() >= 0 ? field.getOffset() : next;
    offsets.push_back(offset);
    next = std::max(next, offset + field.getByteSize() + field.getPad());
  }
  return offsets;
}

RecordLayout::RecordLayout(RecordAttr record, int64_t page)
    : record(record), page(page), offsets(getFieldOffsets(record.getFields())) {
  for (auto [field, offset] : llvm::zip(record.getFields(), offsets)) {
    int64_t end = offset + field.getByteSize() + field.getPad();
    switch (field.getPlacement()) {
    case Placement::Row:
      rowBytes = std::max(rowBytes, end);
      break;
    case Placement::Tail:
      tailBytes = std::max(tailBytes, end);
      break;
    case Placement::Array:
      if (field.getGroup() != FieldAttr::kPerTensor)
        recordBytes += field.getByteSize();
      break;
    }
  }
  recordBytes += rowBytes + tailBytes;
  pageBytes = llvm::alignTo(page * (rowBytes + tailBytes), record.getAlign());
}

RecordLayout::Position RecordLayout::getPosition(FieldAttr field) const {
  for (auto [index, candidate] : llvm::enumerate(record.getFields()))
    if (candidate == field)
      return getPosition(index);
  llvm_unreachable("field of another record");
}

RecordLayout::Position RecordLayout::getPosition(unsigned index) const {
  FieldAttr field = record.getFields()[index];
  Position position;
  switch (field.getPlacement()) {
  case Placement::Row:
    position.base = offsets[index];
    position.pageStride = pageBytes;
    position.slotStride = rowBytes;
    break;
  case Placement::Tail:
    position.base = page * rowBytes + offsets[index];
    position.pageStride = pageBytes;
    position.slotStride = tailBytes;
    break;
  case Placement::Array:
    position.inArray = true;
    if (field.getGroup() != FieldAttr::kPerTensor) {
      position.slotStride = field.getByteSize();
      position.pageStride = page * field.getByteSize();
    }
    break;
  }
  // The strides only matter where there is a second page or slot; a page of one
  // entry has no second slot.
  int64_t alignment = std::gcd<int64_t>(16, position.base);
  alignment = std::gcd(alignment, position.pageStride);
  if (page > 1)
    alignment = std::gcd(alignment, position.slotStride);
  position.alignment = alignment;
  return position;
}
