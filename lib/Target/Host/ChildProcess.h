//===- ChildProcess.h - Programs that end with this one ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_TARGET_HOST_CHILDPROCESS_H
#define DSV4_LIB_TARGET_HOST_CHILDPROCESS_H

#include "dsv4-runtime/Status.h"

#include <string>
#include <vector>

namespace dsv4::rt {

struct ChildProcess {
  std::vector<std::string> words;       ///< An absolute path, and arguments.
  std::vector<std::string> environment; ///< All of it, NAME=value.
  std::string directory;                ///< Where it works.
  std::string log;                      ///< Where both of its outputs go.
};

/// Runs a program to its end and returns its status from waitpid. Processes
/// that it has started and left running are killed.
///
/// The program is in a process group of its own, whose first process watches
/// this one: when the calling thread ends, by SIGKILL too, the watcher gets a
/// signal and kills the group. A program that leaves the group (setsid) is out
/// of reach.
Result<int> runChild(const ChildProcess &child);

} // namespace dsv4::rt

#endif // DSV4_LIB_TARGET_HOST_CHILDPROCESS_H
