//===- UserOps.h - A dialect outside of dsv4 --------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef USER_USEROPS_H
#define USER_USEROPS_H

#include "dsv4/Dialect/DSV4/Base.h"

#include "UserDialect.h.inc"

#define GET_OP_CLASSES
#include "UserOps.h.inc"

#endif // USER_USEROPS_H
