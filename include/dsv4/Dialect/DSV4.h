//===- DSV4.h - The dsv4 dialect --------------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole dialect. A pass that must not use families of ops includes
// DSV4/KernelOps.h.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_DSV4_H
#define DSV4_DIALECT_DSV4_H

#include "dsv4/Dialect/DSV4/CacheOps.h"
#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/DSV4/LengthOps.h"
#include "dsv4/Dialect/DSV4/QuantizeOps.h"
#include "dsv4/Dialect/DSV4/RouteOps.h"
#include "dsv4/Dialect/DSV4/RowOps.h"
#include "dsv4/Dialect/DSV4/ScoreOps.h"
#include "dsv4/Dialect/DSV4/SelectOps.h"
#include "dsv4/Dialect/DSV4/WindowOps.h"

#endif // DSV4_DIALECT_DSV4_H
