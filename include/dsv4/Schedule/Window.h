//===- Window.h - Numbers that follow from schedules of windows -----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_WINDOW_H
#define DSV4_SCHEDULE_WINDOW_H

#include "dsv4/Dialect/DSV4.h"

namespace dsv4 {

/// A segment of a window, whose rows come from memory.
struct Segment {
  int64_t members;  ///< Rows of the window.
  int64_t channels; ///< Elements of a row.
  /// Of an element of each tensor that rows are loaded from.
  llvm::SmallVector<int64_t> bits;
  /// Whether rows start at multiples of 16 bytes and are stored as elements.
  bool isAligned;
};

/// How rows of a segment are prefetched.
struct Prefetch {
  int64_t groups; ///< In flight, of limits::kSegmentGroupRows rows each.
  bool isStaged;  ///< In shared memory, else in registers.
};

/// The prefetch depth that follows from `schedule`.
Prefetch getPrefetch(ScheduleAttr schedule, const Segment &segment);

} // namespace dsv4

#endif // DSV4_SCHEDULE_WINDOW_H
