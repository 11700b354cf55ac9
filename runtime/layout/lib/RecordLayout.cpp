//===- RecordLayout.cpp - Where the bytes of a record are -----------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-layout/RecordLayout.h"

#include <algorithm>
#include <numeric>

using namespace dsv4::layout;

std::vector<int64_t> dsv4::layout::getFieldOffsets(const Record &record) {
  std::vector<int64_t> offsets;
  int64_t ends[2] = {0, 0};
  for (const Field &field : record.fields) {
    if (field.placement == Placement::Array) {
      offsets.push_back(0);
      continue;
    }
    int64_t &end = ends[field.placement == Placement::Tail];
    offsets.push_back(field.offset >= 0 ? field.offset : end);
    end = std::max(end, offsets.back() + field.getByteSize() + field.pad);
  }
  return offsets;
}

RecordLayout::RecordLayout(const Record &record, int64_t page) {
  std::vector<int64_t> offsets = getFieldOffsets(record);
  for (size_t i = 0; i < record.fields.size(); ++i) {
    const Field &field = record.fields[i];
    int64_t end = offsets[i] + field.getByteSize() + field.pad;
    if (field.placement == Placement::Row)
      rowBytes = std::max(rowBytes, end);
    else if (field.placement == Placement::Tail)
      tailBytes = std::max(tailBytes, end);
    else if (field.group != Field::kPerTensor)
      recordBytes += field.getByteSize();
  }
  recordBytes += rowBytes + tailBytes;
  int64_t bytes = page * (rowBytes + tailBytes);
  pageBytes = (bytes + record.align - 1) / record.align * record.align;

  for (size_t i = 0; i < record.fields.size(); ++i) {
    const Field &field = record.fields[i];
    Position position;
    if (field.placement == Placement::Array) {
      position.inArray = true;
      if (field.group != Field::kPerTensor) {
        position.slotStride = field.getByteSize();
        position.pageStride = page * field.getByteSize();
      }
    } else {
      bool isTail = field.placement == Placement::Tail;
      position.base = (isTail ? page * rowBytes : 0) + offsets[i];
      position.pageStride = pageBytes;
      position.slotStride = isTail ? tailBytes : rowBytes;
    }
    // The strides only matter where there is a second page or slot; a page of
    // one entry has no second slot.
    int64_t alignment = std::gcd<int64_t>(16, position.base);
    alignment = std::gcd(alignment, position.pageStride);
    if (page > 1)
      alignment = std::gcd(alignment, position.slotStride);
    position.alignment = alignment;
    positions.push_back(position);
  }
}

std::string dsv4::layout::explainInvalid(const Record &record, int64_t page) {
  if (page < 1 || page > RecordLayout::kMaxPage)
    return "cache_c1: expected between 1 and 2^20 entries per page, got " +
           std::to_string(page);
  RecordLayout layout(record, page);
  if (layout.getPageBytes() > INT32_MAX)
    return "cache_c1: expected less than 2^31 bytes per page, got " +
           std::to_string(layout.getPageBytes());
  for (size_t i = 0; i < record.fields.size(); ++i) {
    const Field &field = record.fields[i];
    int64_t bytes = std::max<int64_t>(getBits(field.element) / 8, 1);
    if (layout.getPosition(i).alignment % bytes != 0)
      return "cache_c2: field '" + field.name +
             "' is not aligned to its element size " + std::to_string(bytes) +
             " in every entry (row " + std::to_string(layout.getRowBytes()) +
             ", tail " + std::to_string(layout.getTailBytes()) + ", page " +
             std::to_string(layout.getPageBytes()) + " bytes)";
  }
  return "";
}
