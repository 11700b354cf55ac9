//===- Selections.h - Text of programs that select --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TEST_INTEGRATION_SELECTIONS_H
#define DSV4_TEST_INTEGRATION_SELECTIONS_H

#include <cstdint>
#include <string>

namespace dsv4::test {

/// A program of one topk.
struct Selecting {
  int64_t places;
  std::string element = "f32", order = "unordered";
  /// Of a row; 0: given when it is run.
  int64_t columns = 0;
  bool lengths = true, values = true, pages = false, requests = false;
  bool bias = false, smallest = false;
  /// With `starts` and `ends` a row has no length.
  bool starts = false, ends = false, offsets = false, tiesHigh = false;
  bool nanFirst = false;
  int64_t ratio = 0;
  /// Rows of a request, which has one length; 0: lengths are of rows.
  int64_t nextN = 0;
  /// Of which the columns are a multiple, as their policy says.
  int64_t multiple = 1;

  std::string getText() const;
};

/// One way to run it: a #dsv4.schedule, or "" for that of the table.
std::string makeSchedule(const std::string &how, int64_t threads,
                         int64_t vector, int64_t cluster = 1,
                         int64_t vectors = 1, int64_t blocks = 1);

/// Whether rows have to have a bound.
bool isOfRegisters(const std::string &schedule);

} // namespace dsv4::test

#endif // DSV4_TEST_INTEGRATION_SELECTIONS_H
