//===- Strides.cpp - Buffers that are not contiguous ----------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

using namespace dsv4;
using namespace dsv4::reference;
using llvm::ArrayRef;

/// Bytes of a row along the last axis; of one element without axes.
size_t dsv4::reference::countRowAxes(const rt::Binding &binding) {
  if (binding.shape.empty() || binding.strides.size() == binding.shape.size())
    return binding.shape.size();
  return binding.shape.size() - 1;
}

static int64_t getRowBytes(const rt::Binding &binding, const Buffer &buffer) {
  int64_t size = rt::getByteSize(binding.storage);
  return countRowAxes(binding) == buffer.shape.size()
             ? size
             : size * buffer.shape.back();
}

static int64_t countRows(const rt::Binding &binding, const Buffer &buffer) {
  if (llvm::is_contained(buffer.shape, 0))
    return 0;
  return llvm::product_of(
      ArrayRef<int64_t>(buffer.shape).take_front(countRowAxes(binding)),
      int64_t(1));
}

char *dsv4::reference::getRow(const rt::Binding &binding, const Buffer &buffer,
                              int64_t row) {
  char *data = static_cast<char *>(buffer.data);
  if (buffer.strides.empty())
    return data + row * getRowBytes(binding, buffer);
  for (size_t axis = countRowAxes(binding); axis-- > 0;) {
    data += row % buffer.shape[axis] * buffer.strides[axis];
    row /= buffer.shape[axis];
  }
  return data;
}

std::vector<char> dsv4::reference::pack(const rt::Binding &binding,
                                        const Buffer &buffer) {
  int64_t rows = countRows(binding, buffer);
  int64_t bytes = getRowBytes(binding, buffer);
  std::vector<char> elements(rows * bytes);
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(elements.data() + row * bytes, getRow(binding, buffer, row),
                bytes);
  return elements;
}

void dsv4::reference::unpack(const rt::Binding &binding, const Buffer &buffer,
                             ArrayRef<char> elements) {
  int64_t rows = countRows(binding, buffer);
  int64_t bytes = getRowBytes(binding, buffer);
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(getRow(binding, buffer, row), elements.data() + row * bytes,
                bytes);
}

int64_t dsv4::reference::getSpan(const rt::Binding &binding,
                                 const Buffer &buffer) {
  int64_t rows = countRows(binding, buffer);
  int64_t bytes = getRowBytes(binding, buffer);
  if (rows == 0 || buffer.strides.empty())
    return rows * bytes;
  for (size_t axis = 0; axis < countRowAxes(binding); ++axis)
    bytes += (buffer.shape[axis] - 1) * buffer.strides[axis];
  return bytes;
}

std::string dsv4::reference::explainGaps(const rt::Binding &binding,
                                         const Buffer &got,
                                         const Buffer &expected) {
  int64_t span = getSpan(binding, got), bytes = getRowBytes(binding, got);
  int64_t begin = -got.margin, end = span + got.margin;
  std::vector<bool> isElement(end - begin);
  const char *data = static_cast<const char *>(got.data);
  const char *wanted = static_cast<const char *>(expected.data);
  for (int64_t row = 0, rows = countRows(binding, got); row < rows; ++row) {
    auto from = isElement.begin() + (getRow(binding, got, row) - data - begin);
    std::fill(from, from + bytes, true);
  }
  int64_t different = 0, first = 0;
  for (int64_t at = begin; at < end; ++at)
    if (!isElement[at - begin] && data[at] != wanted[at] && different++ == 0)
      first = at;
  if (different == 0)
    return "";
  return "'" + binding.name + "' has " + std::to_string(different) +
         " bytes outside of its elements that were written, the first at "
         "byte " +
         std::to_string(first);
}
