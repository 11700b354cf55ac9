//===- Row.h - The row dialect ----------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole dialect. A pass that must not use families of ops includes
// Row/ElementOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ROW_H
#define DSV4_DIALECT_ROW_H

#include "dsv4/Dialect/Row/ElementOps.h"
#include "dsv4/Dialect/Row/ScoreOps.h"
#include "dsv4/Dialect/Row/SelectOps.h"
#include "dsv4/Dialect/Row/WindowOps.h"

#endif // DSV4_DIALECT_ROW_H
