//===- Entries.cpp - Where the entries of a cache are ---------------------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterpreterImpl.h"

#include "dsv4/Dialect/RecordLayout.h"

using namespace mlir;
using namespace dsv4;
using namespace dsv4::reference;

const Buffer &Interpreter::getFieldBuffer(BlockArgument cache,
                                          FieldAttr field) const {
  unsigned first = signature.firstBinding[cache.getArgNumber()];
  if (field.getPlacement() != Placement::Array)
    return buffers[first];
  // Arrays follow the pages, in the order of their fields.
  auto type = cast<CacheType>(cache.getType());
  unsigned index = first + getLayout(type).hasPages();
  for (FieldAttr other : type.getRecord().getFields()) {
    if (other == field)
      break;
    index += other.getPlacement() == Placement::Array;
  }
  return buffers[index];
}

int64_t Interpreter::getPages(BlockArgument cache) const {
  for (FieldAttr field :
       cast<CacheType>(cache.getType()).getRecord().getFields())
    if (field.getGroup() != FieldAttr::kPerTensor)
      return getFieldBuffer(cache, field).shape.front();
  return 0;
}

Elements Interpreter::locate(BlockArgument cache, FieldAttr field,
                             Entry entry) const {
  auto type = cast<CacheType>(cache.getType());
  RecordLayout::Position position = getPosition(type, field);
  const Buffer &buffer = getFieldBuffer(cache, field);
  int64_t pageStride = position.pageStride, slotStride = position.slotStride;
  if (!buffer.strides.empty() && field.getGroup() != FieldAttr::kPerTensor)
    pageStride = buffer.strides.front();
  // With an axis of entries.
  if (buffer.strides.size() == 3)
    slotStride = buffer.strides[1];
  char *bytes = static_cast<char *>(buffer.data) + position.base +
                entry.page * pageStride + entry.slot * slotStride;
  return {bytes, *reference::getFormat(field.getElement()),
          field.getHighFirst(), field.getInterleave(), field.getExtent()};
}
