//===- DSV4Enums.h - The enums of the dsv4 dialect --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4ENUMS_H
#define DSV4_DIALECT_DSV4ENUMS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/DialectImplementation.h"

#include "DSV4Enums.h.inc"

#endif // DSV4_DIALECT_DSV4ENUMS_H
