//===- LibraryFile.h - The file of a shared library -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_JIT_LIBRARYFILE_H
#define DSV4_LIB_JIT_LIBRARYFILE_H

#include <string>

namespace dsv4::jit {

/// The GNU build-id of a library, or another text that distinguishes it; "none"
/// if there is no such file.
std::string identifyLibrary(const std::string &path);

/// What is wrong with the file of a library that the loader would map, after
/// its name in a message; "" if it is complete. A file that is cut off ends the
/// process that loads it.
std::string findDamage(const std::string &path);

} // namespace dsv4::jit

#endif // DSV4_LIB_JIT_LIBRARYFILE_H
