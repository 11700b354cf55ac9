//===- DSV4Types.cpp - The paged cache type ---------------------*- C++ -*-===//
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
  std::string why = layout::explainInvalid(toRecord(record), page);
  return why.empty() ? success() : emitError() << why;
}
