//===- Parts.h - Properties of the parts of a schedule ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of ScheduleInterface, through which passes use a schedule.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SCHEDULE_PARTS_H
#define DSV4_SCHEDULE_PARTS_H

#include "dsv4/Dialect/DSV4Enums.h"
#include "dsv4/Schedule/Limits.h"

#include <optional>
#include <string>

namespace dsv4 {

/// The part of a schedule that every kernel has.
struct LaunchPart {
  int64_t threads = 128; ///< Of a block.
  int64_t cluster = 1;   ///< Blocks of a cluster.
  int64_t minBlocks = 0; ///< Blocks per multiprocessor, at least; 0: any.
  bool pdl = false;      ///< Programmatic dependent launch.
};

/// How threads hold rows.
struct RowMapping {
  /// Without a vector the one lane has each segment of a row as one vector.
  int64_t lanes = 1, vector = 1;
  LoadPolicy load = LoadPolicy::Default;
  StorePolicy store = StorePolicy::Default;
  /// Steps of a section, of rows that lanes do not hold whole; else 0.
  int64_t section = 0;
  /// Whether rows of any op may be mapped so, or only those of the part's own
  /// op.
  bool isGeneral = false;
};

/// What a part adds to the geometry of a launch.
struct PartGeometry {
  /// Rows of a block, or of the blocks that share rows.
  int64_t rowsPerBlock = 1;
  /// Blocks that share rows, beside those of a cluster.
  int64_t blocksPerRow = 1;
  /// Blocks of a cluster that can share rows.
  int64_t maxCluster = 1;
  /// Columns of one row that a tile source hands over at a time; 0: no source.
  int64_t tileColumns = 0;
  /// Whether there is one block per multiprocessor, and they share all rows.
  bool isPersistent = false;
};

/// The shared memory that a part needs in a block, in bytes. All parts of a
/// kernel exist at the same time, so their shared memory adds up.
struct PartResources {
  int64_t staticBytes = 0;
  /// At most, where it depends on what is not known before distribution.
  int64_t dynamicBytes = 0;
};

} // namespace dsv4

#endif // DSV4_SCHEDULE_PARTS_H
