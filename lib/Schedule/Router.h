//===- Router.h - Schedules of logits of experts ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_SCHEDULE_ROUTER_H
#define DSV4_LIB_SCHEDULE_ROUTER_H

#include "dsv4/Dialect/DSV4/KernelOps.h"
#include "dsv4/Dialect/DSV4/RouteOps.h"

namespace dsv4 {

/// Rows are multiplied that many at a time.
constexpr int64_t kRouterProductRows = 8;
/// Slices of a block; elements of a step of tiles, and steps in shared memory.
constexpr int64_t kMaxRouterSlices = 4;
constexpr int64_t kMinRouterStep = 64, kMaxRouterStep = 128;
constexpr int64_t kMinRouterStages = 2, kMaxRouterStages = 8;

/// Whether blocks can load the hidden rows of `op`, which is in `kernel`, for
/// each other.
bool canMulticast(RouterLogitsOp op, KernelOp kernel);

} // namespace dsv4

#endif // DSV4_LIB_SCHEDULE_ROUTER_H
