//===- RecordLayout.h - Where the bytes of a record are ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes record bytes, page bytes and byte offsets. No other code does.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LAYOUT_RECORDLAYOUT_H
#define DSV4_LAYOUT_RECORDLAYOUT_H

#include "dsv4-layout/Record.h"

namespace dsv4::layout {

/// Byte positions of everything that a cache with `page` entries per page
/// stores.
///
/// Entry `slot` of page `p` stores a field
///   * in row:   at p * pageBytes + slot * rowBytes + offset,
///   * in tail:  at p * pageBytes + page * rowBytes + slot * tailBytes +
///   offset,
///   * in array: at (p * page + slot) * bytes of the field, in its own array.
class RecordLayout {
public:
  /// The maximum number of entries per page.
  static constexpr int64_t kMaxPage = 1 << 20;

  /// `record` is valid and `page` between 1 and kMaxPage.
  RecordLayout(const Record &record, int64_t page);

  /// Bytes of an entry's row fields, of its tail fields, and of all its fields
  /// (arrays per entry included, padding of the page not).
  int64_t getRowBytes() const { return rowBytes; }
  int64_t getTailBytes() const { return tailBytes; }
  int64_t getRecordBytes() const { return recordBytes; }
  /// Bytes of a page of row and tail fields, padded to the record's alignment;
  /// 0 when every field is in an array.
  int64_t getPageBytes() const { return pageBytes; }
  /// Whether any field is in the pages.
  bool hasPages() const { return pageBytes != 0; }

  /// The position of a field: `base + page * pageStride + slot * slotStride`,
  /// in the pages or in the field's own array.
  struct Position {
    int64_t base = 0;
    int64_t pageStride = 0;
    int64_t slotStride = 0;
    /// Alignment in bytes that holds in every entry, from a 16-byte aligned
    /// buffer; at most 16.
    int64_t alignment = 1;
    bool inArray = false;
  };
  const Position &getPosition(size_t field) const { return positions[field]; }

private:
  int64_t rowBytes = 0, tailBytes = 0, recordBytes = 0, pageBytes = 0;
  std::vector<Position> positions;
};

/// Byte offset of every field in its placement: one after another, except where
/// a field has an offset of its own. 0 for arrays.
std::vector<int64_t> getFieldOffsets(const Record &record);

/// Why a cache of `record` with `page` entries per page is not valid, or an
/// empty string. The text begins with the clause of `!dsv4.cache` that does not
/// hold.
std::string explainInvalid(const Record &record, int64_t page);

} // namespace dsv4::layout

#endif // DSV4_LAYOUT_RECORDLAYOUT_H
