//===- Child.h - A program as a child process -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_CHILD_H
#define DSV4_RUNTIME_C_CHILD_H

#include "Errors.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dsv4::c {

struct Child {
  std::string executable; ///< A path.
  std::vector<std::string> arguments;
  std::string_view input;               ///< Its standard input.
  std::vector<std::string> environment; ///< All of it, NAME=VALUE.
  uint32_t timeout = 0;                 ///< Milliseconds.
  /// Asked every 50 ms on this thread, if set: true kills the program.
  std::function<bool()> shouldStop;
};

/// A descriptor of the program, beside the three that all have.
constexpr int ReportFile = 3;

struct ChildResult {
  /// The exit status, or -1 if it is not known because another thread of the
  /// process waited for all children.
  int exit = -1;
  int signal = 0;        ///< That ended it, or 0.
  bool timedOut = false; ///< It was killed,
  bool stopped = false;  ///< by the one or the other.
  std::string output, errors;
  std::string report; ///< What it wrote to ReportFile.
};

/// Runs a program to its end. Needs no signal handlers, and no threads; files
/// of this process stay out of the child. Unavailable if it cannot be started.
Result<ChildResult> run(const Child &child);

} // namespace dsv4::c

#endif // DSV4_RUNTIME_C_CHILD_H
