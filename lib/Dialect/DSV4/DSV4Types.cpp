//===- DSV4Types.cpp - The paged cache type -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dsv4/Dialect/DSV4.h"
#include "dsv4/Dialect/RecordLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dsv4;

#define GET_TYPEDEF_CLASSES
#include "DSV4Types.cpp.inc"

void DSV4Dialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "DSV4Types.cpp.inc"
      >();
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t page, RecordAttr record) {
  if (page < 1 || page > (1 << 20))
    return emitError() << "cache_c1: expected between one and 2^20 entries a "
                          "page, got "
                       << page;
  RecordLayout layout(record, page);
  if (layout.getPageBytes() > INT32_MAX)
    return emitError() << "cache_c1: expected less than 2^31 bytes a page, got "
                       << layout.getPageBytes();
  for (FieldAttr field : record.getFields()) {
    int64_t bytes =
        std::max<int64_t>(getElementBits(field.getElement()) / 8, 1);
    if (layout.getPosition(field).alignment % bytes != 0)
      return emitError() << "cache_c2: field '" << field.getName()
                         << "' is not aligned to its element size " << bytes
                         << " in every entry (row " << layout.getRowBytes()
                         << ", tail " << layout.getTailBytes() << ", page "
                         << layout.getPageBytes() << " bytes)";
  }
  return success();
}
