//===- RecordLayout.h - Where the bytes of a record are --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// runtime/layout computes the bytes; these functions call it for attributes and
// types.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_RECORDLAYOUT_H
#define DSV4_DIALECT_RECORDLAYOUT_H

#include "dsv4-layout/RecordLayout.h"
#include "dsv4/Dialect/DSV4/Base.h"

namespace dsv4 {

using layout::RecordLayout;

/// Bits of one stored element of `type`.
int64_t getElementBits(mlir::Type type);

/// The record as runtime/layout has it.
layout::Record toRecord(RecordAttr record);

RecordLayout getLayout(CacheType cache);

/// Where `field`, which is one of the cache's record, is stored.
RecordLayout::Position getPosition(CacheType cache, FieldAttr field);

/// The first field of the record that every entry has, whose position in bytes
/// names an entry.
FieldAttr getFirstField(CacheType cache);

} // namespace dsv4

#endif // DSV4_DIALECT_RECORDLAYOUT_H
