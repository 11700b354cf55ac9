//===- Units.h - The lowest bits of numbers ---------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_REFERENCE_UNITS_H
#define DSV4_LIB_REFERENCE_UNITS_H

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstdint>

namespace dsv4::reference {

/// Of zero, and of what is not finite: beyond those of all others.
constexpr int kNoUnit = 1 << 20;

/// The exponent of the lowest bit that is set in a number.
inline int getUnit(double value) {
  if (value == 0 || !std::isfinite(value))
    return kNoUnit;
  int exponent;
  double mantissa = std::frexp(std::fabs(value), &exponent);
  auto bits = uint64_t(std::ldexp(mantissa, 53));
  return exponent - 53 + llvm::countr_zero(bits);
}

} // namespace dsv4::reference

#endif // DSV4_LIB_REFERENCE_UNITS_H
