//===- Record.h - What a KV cache stores for one entry ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record is the byte layout of one entry of a KV cache. The attribute
// `#dsv4.record` of the dsv4 dialect holds the same.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LAYOUT_RECORD_H
#define DSV4_LAYOUT_RECORD_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dsv4::layout {

/// Type of a stored element, named as MLIR names it.
enum class ElementType {
  I4,
  I32,
  F4E2M1FN,
  F8E4M3FN,
  F8E8M0FNU,
  BF16,
  F16,
  F32
};

/// Bits of one stored element: 4, 8, 16 or 32.
int64_t getBits(ElementType type);
/// "f8E4M3FN".
std::string_view getName(ElementType type);
/// The types that elements of a field may have, for messages.
std::string_view describeElements(bool isScale);
/// Whether values of a row may have this type.
bool isDataType(ElementType type);
/// Whether scales may have this type.
bool isScaleType(ElementType type);

/// Where a field is stored.
enum class Placement {
  Row,  ///< With the other row fields of its entry, from the page's start.
  Tail, ///< With the other tail fields of its entry, after all rows of a page.
  Array ///< In an array of its own, [pages, page, extent].
};

/// One stored field of a record.
struct Field {
  /// `group` of one scale per entry, and of one scale per cache.
  static constexpr int64_t kPerRow = -1;
  static constexpr int64_t kPerTensor = -2;

  std::string name;
  int64_t extent = 0; ///< Elements.
  ElementType element = ElementType::BF16;
  Placement placement = Placement::Row;
  std::string scales = ""; ///< The data field it scales, or empty.
  int64_t group = 0;       ///< Of a scale: how many elements it covers.
  int64_t pad = 0;         ///< Unused bytes after the field.
  int64_t interleave =
      1;               ///< Scale s is stored at (s % n) * (extent / n) + s / n.
  int64_t offset = -1; ///< Bytes from the start of the entry, or -1.
  bool highFirst =
      false; ///< The even element of a 4-bit pair is the high nibble.

  bool isScale() const { return !scales.empty(); }
  /// Metadata, such as the position of an entry's token, is not part of the
  /// row.
  bool isMetadata() const { return element == ElementType::I32; }
  bool isData() const { return !isScale() && !isMetadata(); }
  /// Bytes of the stored elements, without padding.
  int64_t getByteSize() const { return (extent * getBits(element) + 7) / 8; }
};

/// The fields of one entry in storage order. The data fields, in that order,
/// are the entry's row of values.
struct Record {
  /// The maximum number of fields, and of values in a row.
  static constexpr size_t kMaxFields = 64;
  static constexpr int64_t kMaxRowExtent = 65536;

  std::vector<Field> fields;
  int64_t align = 1; ///< A page is padded to a multiple of this, in bytes.
};

/// Why `field` is not valid, or an empty string.
std::string explainInvalid(const Field &field);

/// Why `record`, whose single fields are valid, is not; or an empty string. The
/// text begins with the clause of `#dsv4.record` that does not hold.
std::string explainInvalid(const Record &record);

/// The record that public sources call `name`, or null. docs/Records.md lists
/// who uses which.
const Record *findKnownRecord(std::string_view name);
/// Names of all known records, in the order of docs/Records.md.
const std::vector<std::string_view> &getKnownRecordNames();

} // namespace dsv4::layout

#endif // DSV4_LAYOUT_RECORD_H
