//===- CompareText.h - What comparators say ---------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_REFERENCE_COMPARETEXT_H
#define DSV4_LIB_REFERENCE_COMPARETEXT_H

#include "dsv4/Reference/Compare.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace dsv4::reference {

/// The product of the extents.
int64_t countElements(llvm::ArrayRef<int64_t> shape);

/// "[2, 5]", the position of element `at` of a row-major tensor.
std::string toPosition(llvm::ArrayRef<int64_t> shape, int64_t at);

/// A number, with enough digits to distinguish it from its neighbours in fp32.
std::string toText(double value);
/// "0.5 ± 0.01".
std::string toText(const BoundedValue &value);

/// Why a destination does not have `expected` bytes, or "".
std::string explainSize(const Destination &destination, size_t got,
                        size_t expected);

/// Looks at every element. "" if none differs, else "'x' differs in 2 of 8
/// elements, first at [0, 1]: " and what `describe` says of the first.
std::string findDifference(const Destination &destination,
                           llvm::function_ref<bool(int64_t)> differs,
                           llvm::function_ref<std::string(int64_t)> describe);

} // namespace dsv4::reference

#endif // DSV4_LIB_REFERENCE_COMPARETEXT_H
