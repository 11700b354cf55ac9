//===- Strides.h - Checks of the strides of arguments -----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_LIB_STRIDES_H
#define DSV4_RUNTIME_LIB_STRIDES_H

#include "dsv4-runtime/LoadedProgram.h"

namespace dsv4::rt {

/// The error of an argument, by its index. Out of line, so that the path
/// without one stays short.
[[gnu::cold]] Status wrongArgument(const ProgramInfo &program, size_t index,
                                   const char *id, std::string what);

/// Whether extents that the program accepts may have more than 2^63 - 1 bytes.
bool mayOverflow(const Binding &binding, const std::vector<Dim> &dims);

/// Checks the strides of the argument of a binding, whose extents are known to
/// be right, and sets the dims that are read from them. Allocates nothing
/// unless it fails.
Status checkStrides(const ProgramInfo &program, size_t index,
                    const Argument &argument, int64_t *dims);

} // namespace dsv4::rt

#endif // DSV4_RUNTIME_LIB_STRIDES_H
