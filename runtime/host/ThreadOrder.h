//===- ThreadOrder.h - The order in which a block's threads run -*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread runs until it waits for others or ends; then the order decides which
// of the ready threads runs next, and which block follows when all have ended.
// A kernel whose result depends on the order lacks a barrier.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_THREADORDER_H
#define DSV4_HOST_THREADORDER_H

#include "dsv4-runtime/Status.h"

#include <cstdint>
#include <string>

namespace dsv4::rt {

enum class ThreadOrder {
  Forward, ///< The lowest index first.
  Reverse, ///< The highest index first.
  Random,  ///< Any, as a seed decides; the same seed gives the same order.
};

struct ThreadSchedule {
  ThreadOrder order = ThreadOrder::Forward;
  uint64_t seed = 0; ///< For Random only.
};

/// Reads `forward`, `reverse` or `random:SEED`, SEED a decimal number below
/// 2^64.
Result<ThreadSchedule> parseThreadOrder(const std::string &text);

/// The inverse of parseThreadOrder.
std::string toString(const ThreadSchedule &schedule);

} // namespace dsv4::rt

#endif // DSV4_HOST_THREADORDER_H
