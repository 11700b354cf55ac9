//===- Elements.h - Types of elements as DLPack has them --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_RUNTIME_C_ELEMENTS_H
#define DSV4_RUNTIME_C_ELEMENTS_H

#include "dsv4.h"

#include "dsv4-runtime/Program.h"

namespace dsv4::c {

/// The type of an array of stored elements.
dsv4_type getStorageType(rt::Storage storage);

/// Whether a tensor of this type may be passed for the binding: its storage
/// type, or the type that the elements mean.
bool acceptsType(const rt::Binding &binding, dsv4_type type);

/// "float8_e4m3fn", "uint8x2".
std::string print(dsv4_type type);

/// The types that a binding takes, for messages.
std::string printAccepted(const rt::Binding &binding);

} // namespace dsv4::c

#endif // DSV4_RUNTIME_C_ELEMENTS_H
