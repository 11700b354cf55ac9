//===- HostCompiler.h - Kernel text to a shared object ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host target's NVRTC: the system C++ compiler. The text includes nothing,
// so a kernel takes about the time to start the compiler, assembler and linker.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_TARGET_HOST_HOSTCOMPILER_H
#define DSV4_TARGET_HOST_HOSTCOMPILER_H

#include "dsv4-runtime/Status.h"

#include <string>
#include <vector>

namespace dsv4::rt {

struct HostCompileOptions {
  /// Program and leading arguments; empty: what findHostCompiler() finds.
  std::vector<std::string> compiler;
  unsigned optimization = 1; ///< -O0 to -O3.
  /// Instrument the kernel with AddressSanitizer and UBSan. Works only in a
  /// process that is built with them too.
  bool sanitize = defaultSanitize();

  /// Whether this process is built with AddressSanitizer.
  static bool defaultSanitize();
};

/// The first of $DSV4_HOST_CXX, $CXX, c++, g++, clang++ that can be executed,
/// as an absolute path and the arguments that the variable gives with it. A
/// DSV4_HOST_CXX that cannot be executed is an error; the search does not
/// continue.
Result<std::vector<std::string>> findHostCompiler();

/// Everything that an image depends on beside its text, with the default
/// options: the compiler, every argument it gets, and the environment it sees.
/// Equal only if all are; runs no program.
std::vector<std::string> describeHostCompiler();

/// Compiles a whole translation unit (hostPrelude(), the kernel,
/// hostEpilogue()) and returns the bytes of a shared object. A failure's
/// message holds the errors of the compiler.
Result<std::string> compileHost(const std::string &text,
                                const HostCompileOptions &options = {});

} // namespace dsv4::rt

#endif // DSV4_TARGET_HOST_HOSTCOMPILER_H
