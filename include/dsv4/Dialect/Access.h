//===- Access.h - How rows are accessed -------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One vocabulary for fusion and distribution. Fusion compares the accesses that
// the consumer of a row demands with those that its producer provides.
// Distribution gives threads the demanded access.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_DIALECT_ACCESS_H
#define DSV4_DIALECT_ACCESS_H

#include <cstdint>
#include <limits>

namespace dsv4 {

/// How the rows of a value are accessed: demanded by an op of an operand, or
/// provided for a result.
struct Access {
  enum class Kind {
    Row,      ///< Whole rows, in fragments of the lanes that hold them.
    Section,  ///< Some steps of those lanes at a time.
    Columns,  ///< Vectors of neighbouring elements, each by one thread.
    Elements, ///< Single elements, by index.
    Ranks,    ///< The element of one rank of a selection, by one thread.
    Tile      ///< Rows x columns, by all threads of a block together.
  };

  /// The statistics limit of threads that hold the whole row.
  static constexpr int64_t kAnyRow = std::numeric_limits<int64_t>::max();

  Kind kind = Kind::Row;
  /// Of columns: the number of neighbours that are computed together, if
  /// provided; the number that they must divide, if demanded (0: any). Of a
  /// tile: its columns; 0: any, or set by the schedule.
  int64_t unit = 0;
  /// Rows of a tile; 0: any, or set by the schedule.
  int64_t rows = 0;
  /// If provided: the elements of the row whose statistics (a sum, a maximum)
  /// are computed before any element; 0: none. If demanded, and for ranks: the
  /// longest row whose statistics the demanding threads, or those with the
  /// ranks, can compute.
  int64_t statistics = 0;

  static Access row() { return {Kind::Row, 0, 0, kAnyRow}; }
  static Access section() { return {Kind::Section, 0, 0, 0}; }
  static Access columns(int64_t unit) { return {Kind::Columns, unit, 0, 0}; }
  static Access elements() { return {Kind::Elements, 0, 0, 0}; }
  static Access ranks() { return {Kind::Ranks, 0, 0, 0}; }
  static Access tile(int64_t rows = 0, int64_t columns = 0) {
    return {Kind::Tile, columns, rows, 0};
  }
  Access withStatistics(int64_t elements) const {
    return {kind, unit, rows, elements};
  }

  bool isRow() const { return kind == Kind::Row; }
  bool isSection() const { return kind == Kind::Section; }
  bool isColumns() const { return kind == Kind::Columns; }
  bool isElements() const { return kind == Kind::Elements; }
  bool isRanks() const { return kind == Kind::Ranks; }
  bool isTile() const { return kind == Kind::Tile; }

  /// Whether a result that is provided so can be accessed as `demanded`, apart
  /// from statistics.
  bool hasFormOf(const Access &demanded) const {
    if (kind != demanded.kind)
      return false;
    if (isColumns())
      return demanded.unit == 0 || (unit != 0 && demanded.unit % unit == 0);
    return !isTile() || ((demanded.unit == 0 || unit == demanded.unit) &&
                         (demanded.rows == 0 || rows == demanded.rows));
  }
  /// The same including statistics. Threads that hold rows or ranks compute
  /// theirs.
  bool satisfies(const Access &demanded) const {
    return hasFormOf(demanded) &&
           (isRow() || isRanks() || statistics <= demanded.statistics);
  }

  /// Whether threads that demand this can hold whole rows of `elements`
  /// elements, too, as those do that compute statistics of them: the threads
  /// can store the rows that they read in parts.
  bool holdsRowOf(int64_t elements) const {
    return (isColumns() || isElements()) && 0 < elements &&
           elements <= statistics;
  }

  bool operator==(const Access &other) const {
    return kind == other.kind && unit == other.unit && rows == other.rows &&
           statistics == other.statistics;
  }
};

/// "row by row", for sentences.
inline const char *describe(Access::Kind kind) {
  switch (kind) {
  case Access::Kind::Row:
    return "row by row";
  case Access::Kind::Section:
    return "section by section";
  case Access::Kind::Columns:
    return "column by column";
  case Access::Kind::Elements:
    return "element by element";
  case Access::Kind::Ranks:
    return "rank by rank";
  case Access::Kind::Tile:
    return "tile by tile";
  }
  return "";
}

} // namespace dsv4

#endif // DSV4_DIALECT_ACCESS_H
