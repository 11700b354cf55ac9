//===- Terminate.cpp - The end of the process, without a message ----------===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces libstdc++'s, which prints the type of an exception that nobody
// catches, and for that brings a demangler of 60 KB into the library. Nothing
// here lets an exception out. Hidden, so the process keeps its own.
//
//===----------------------------------------------------------------------===//

#include <cstdlib>

namespace __gnu_cxx {
void __verbose_terminate_handler() { std::abort(); }
} // namespace __gnu_cxx
