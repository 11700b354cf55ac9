//===- RecordLayout.h - Where the bytes of a record are -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The one place that computes record bytes, page bytes and byte offsets.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_RECORDLAYOUT_H
#define DSV4_DIALECT_RECORDLAYOUT_H

#include "dsv4/Dialect/DSV4.h"

namespace dsv4 {

/// Bits of one stored element of `type`.
int64_t getElementBits(mlir::Type type);

/// Byte positions of everything a cache of `page` entries a page stores.
///
/// Entry `slot` of page `p` keeps the bytes of a field
///   * in row:   at p * pageBytes + slot * rowBytes + offset,
///   * in tail:  at p * pageBytes + page * rowBytes + slot * tailBytes +
///   offset,
///   * in array: at (p * page + slot) * bytes of the array of that field.
class RecordLayout {
public:
  RecordLayout(RecordAttr record, int64_t page);
  explicit RecordLayout(CacheType type)
      : RecordLayout(type.getRecord(), type.getPage()) {}

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

  /// Where the bytes of a field are: `base + page * pageStride + slot *
  /// slotStride`, in the pages or in the field's own array.
  struct Position {
    int64_t base = 0;
    int64_t pageStride = 0;
    int64_t slotStride = 0;
    /// Alignment in bytes that holds in every entry, from a 16-byte aligned
    /// buffer; at most 16.
    int64_t alignment = 1;
    bool inArray = false;
  };
  Position getPosition(FieldAttr field) const;
  Position getPosition(unsigned fieldIndex) const;

private:
  RecordAttr record;
  int64_t page;
  int64_t rowBytes = 0, tailBytes = 0, recordBytes = 0, pageBytes = 0;
  llvm::SmallVector<int64_t> offsets;
};

/// Byte offset of every field in its placement, one after another except where
/// `at` says otherwise.
llvm::SmallVector<int64_t> getFieldOffsets(llvm::ArrayRef<FieldAttr> fields);

} // namespace dsv4

#endif // DSV4_DIALECT_RECORDLAYOUT_H
