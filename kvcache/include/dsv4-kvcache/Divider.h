//===- Divider.h - Division by a number that stays --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_KVCACHE_DIVIDER_H
#define DSV4_KVCACHE_DIVIDER_H

#include <bit>
#include <cstdint>

namespace dsv4::kv {

/// Divides numbers from 0 on by one from 1 on. Nearly all of them are powers of
/// two, and a division takes longer than everything else that is done with its
/// result.
class Divider {
public:
  explicit Divider(int32_t divisor = 1)
      : divisor(divisor),
        shift(std::has_single_bit(static_cast<uint32_t>(divisor))
                  ? std::countr_zero(static_cast<uint32_t>(divisor))
                  : -1) {}

  int64_t getQuotient(int64_t value) const {
    return shift >= 0 ? value >> shift : value / divisor;
  }
  int64_t getRemainder(int64_t value) const {
    return value - getQuotient(value) * divisor;
  }

private:
  int32_t divisor;
  int32_t shift; ///< -1: it is not a power of two.
};

} // namespace dsv4::kv

#endif // DSV4_KVCACHE_DIVIDER_H
