//===- Watchdog.h - Ends the process in time --------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_SUPPORT_WATCHDOG_H
#define DSV4_SUPPORT_WATCHDOG_H

#include <chrono>
#include <string>
#include <sys/types.h>
#include <thread>

namespace dsv4 {

/// Ends the process at a deadline, or when the process that asked for its work
/// is gone. NVRTC and LLVM cannot be interrupted otherwise. Works as long as it
/// lives, on a thread of its own that takes no signals.
class Watchdog {
public:
  struct Options {
    /// The process to end with, or 0. It is usually the parent, but a script
    /// may be between the two.
    pid_t caller = 0;
    std::chrono::milliseconds deadline{0}; ///< From now; 0: none.
    std::string message; ///< What to write to standard error at the deadline,
    std::string missing; ///< or if the caller is not there at the beginning,
    int status = 1;      ///< and the exit status then.
  };

  explicit Watchdog(Options options);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

private:
  void watch() const;
  [[noreturn]] void end(const std::string &message) const;

  Options options;
  int over = -1; ///< An eventfd: the watch is over.
  std::thread thread;
};

} // namespace dsv4

#endif // DSV4_SUPPORT_WATCHDOG_H
