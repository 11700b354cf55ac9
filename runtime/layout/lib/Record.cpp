//===- Record.cpp - Which records are valid -------------------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4-layout/Record.h"

#include "dsv4-layout/RecordLayout.h"

#include <algorithm>
#include <cstddef>

using namespace dsv4::layout;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

int64_t dsv4::layout::getBits(ElementType type) {
  switch (type) {
  case ElementType::I4:
  case ElementType::F4E2M1FN:
    return 4;
  case ElementType::F8E4M3FN:
  case ElementType::F8E8M0FNU:
    return 8;
  case ElementType::BF16:
  case ElementType::F16:
    return 16;
  case ElementType::I32:
  case ElementType::F32:
    return 32;
  }
  return 0;
}

std::string_view dsv4::layout::getName(ElementType type) {
  switch (type) {
  case ElementType::I4:
    return "i4";
  case ElementType::I32:
    return "i32";
  case ElementType::F4E2M1FN:
    return "f4E2M1FN";
  case ElementType::F8E4M3FN:
    return "f8E4M3FN";
  case ElementType::F8E8M0FNU:
    return "f8E8M0FNU";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F16:
    return "f16";
  case ElementType::F32:
    return "f32";
  }
  return "";
}

std::string_view dsv4::layout::describeElements(bool isScale) {
  return isScale ? "f8E8M0FNU, f8E4M3FN, bf16, f16 or f32 scales"
                 : "f4E2M1FN, i4, f8E4M3FN, bf16, f16 or f32 values, or "
                   "i32 metadata";
}

bool dsv4::layout::isDataType(ElementType type) {
  return type != ElementType::F8E8M0FNU && type != ElementType::I32;
}

bool dsv4::layout::isScaleType(ElementType type) {
  return type == ElementType::F8E8M0FNU || type == ElementType::F8E4M3FN ||
         type == ElementType::BF16 || type == ElementType::F16 ||
         type == ElementType::F32;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static bool isIdentifier(std::string_view name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && !isDigit(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return isLetter(c) || isDigit(c); });
}

std::string dsv4::layout::explainInvalid(const Field &field) {
  const std::string quoted = "'" + field.name + "'";
  if (!isIdentifier(field.name))
    return "expected the name of a field to be an identifier, got " + quoted;
  if (field.extent <= 0 || field.extent > Record::kMaxRowExtent)
    return "expected field " + quoted + " to have between 1 and " +
           std::to_string(Record::kMaxRowExtent) + " elements, got " +
           std::to_string(field.extent);
  if (field.isScale() ? !isScaleType(field.element)
                      : !isDataType(field.element) && !field.isMetadata())
    return "expected field " + quoted + " to hold " +
           std::string(describeElements(field.isScale())) + ", got '" +
           std::string(getName(field.element)) + "'";
  if (field.highFirst && getBits(field.element) != 4)
    return "format_c3: expected only elements of 4 bits to be high_first, not "
           "field " +
           quoted;
  if (field.isMetadata() && field.extent > 64)
    return "expected metadata field " + quoted +
           " to have at most 64 elements, got " + std::to_string(field.extent);
  if (!field.isScale() && field.interleave != 1)
    return "expected only scales to be interleaved, not field " + quoted;
  if (field.interleave <= 0 || field.extent % field.interleave != 0)
    return "expected the interleave of field " + quoted +
           " to divide its extent " + std::to_string(field.extent) + ", got " +
           std::to_string(field.interleave);
  constexpr int64_t maxBytes = 1 << 20;
  if (field.offset < -1 || field.pad < 0 || field.offset > maxBytes ||
      field.pad > maxBytes)
    return "expected the offset and padding of field " + quoted +
           " between 0 and 2^20";
  if (field.placement == Placement::Array &&
      (field.offset != -1 || field.pad != 0))
    return "expected array field " + quoted +
           " to have neither offset nor padding";
  if (field.group == Field::kPerTensor && field.placement != Placement::Array)
    return "expected the scale " + quoted + " per tensor to be in an array";
  return "";
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Clauses record_c2 and record_c3 of the scale that is field `index`.
static std::string explainInvalidScale(const Record &record, size_t index) {
  const Field &scale = record.fields[index];
  auto end = record.fields.begin() + static_cast<std::ptrdiff_t>(index);
  auto target =
      std::find_if(record.fields.begin(), end, [&](const Field &field) {
        return field.name == scale.scales;
      });
  if (target == end || !target->isData())
    return "record_c2: '" + scale.name + "' scales '" + scale.scales +
           "', which is not an earlier data field";
  int64_t groups = 1;
  if (scale.group > 0) {
    if (target->extent % scale.group != 0)
      return "record_c3: the group " + std::to_string(scale.group) +
             " of scale '" + scale.name + "' does not divide the extent " +
             std::to_string(target->extent) + " of field '" + target->name +
             "'";
    groups = target->extent / scale.group;
  }
  if (scale.extent != groups)
    return "record_c3: scale '" + scale.name + "' has " +
           std::to_string(scale.extent) + " elements, field '" + target->name +
           "' has " + std::to_string(groups) +
           (groups == 1 ? " group" : " groups");
  return "";
}

/// Clause record_c1 and record_c4 of two fields that start at these bytes.
static std::string explainConflict(const Field &a, int64_t aOffset,
                                   const Field &b, int64_t bOffset) {
  if (a.name == b.name)
    return "record_c1: two fields are named '" + b.name + "'";
  if (a.placement == b.placement && a.placement != Placement::Array &&
      bOffset < aOffset + a.getByteSize() &&
      aOffset < bOffset + b.getByteSize())
    return "record_c4: fields '" + a.name + "' and '" + b.name + "' overlap";
  return "";
}

std::string dsv4::layout::explainInvalid(const Record &record) {
  if (record.align <= 0 || record.align > (1 << 20))
    return "expected a page alignment between 1 and 2^20, got " +
           std::to_string(record.align);
  if (record.fields.size() > Record::kMaxFields)
    return "record_c8: expected at most " + std::to_string(Record::kMaxFields) +
           " fields, got " + std::to_string(record.fields.size());
  int64_t row = 0;
  bool hasData = false;
  for (const Field &field : record.fields) {
    hasData |= field.isData();
    row += field.isData() ? field.extent : 0;
  }
  if (row > Record::kMaxRowExtent)
    return "record_c7: a row has at most " +
           std::to_string(Record::kMaxRowExtent) + " values, got " +
           std::to_string(row);
  if (!hasData)
    return "record_c1: a record needs a data field";
  std::vector<int64_t> offsets = getFieldOffsets(record);
  for (size_t i = 0; i < record.fields.size(); ++i) {
    const Field &field = record.fields[i];
    if (field.isScale())
      if (std::string why = explainInvalidScale(record, i); !why.empty())
        return why;
    int64_t bits = getBits(field.element);
    if (bits < 8 && field.extent % 2 != 0)
      return "record_c6: 4-bit field '" + field.name + "' has an odd extent " +
             std::to_string(field.extent);
    if (bits > 8 && offsets[i] % (bits / 8) != 0)
      return "record_c5: field '" + field.name + "' starts at byte " +
             std::to_string(offsets[i]) +
             ", which is not a multiple of its element size " +
             std::to_string(bits / 8);
    for (size_t j = 0; j < i; ++j)
      if (std::string why =
              explainConflict(record.fields[j], offsets[j], field, offsets[i]);
          !why.empty())
        return why;
  }
  return "";
}
