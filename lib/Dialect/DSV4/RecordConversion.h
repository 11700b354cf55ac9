//===- RecordConversion.h - For verifiers of records ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_DIALECT_DSV4_RECORDCONVERSION_H
#define DSV4_LIB_DIALECT_DSV4_RECORDCONVERSION_H

#include "dsv4-layout/Record.h"
#include "dsv4/Dialect/DSV4.h"

#include <optional>

namespace dsv4 {

/// The element type of a record that `type` is, if it is one.
std::optional<layout::ElementType> toElementType(mlir::Type type);
layout::Placement toPlacement(Placement placement);
/// Of fields that are valid each.
layout::Record toRecord(llvm::ArrayRef<FieldAttr> fields, int64_t align);

} // namespace dsv4

#endif // DSV4_LIB_DIALECT_DSV4_RECORDCONVERSION_H
