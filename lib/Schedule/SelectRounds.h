//===- SelectRounds.h - Rows that are read in rounds ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_LIB_SCHEDULE_SELECTROUNDS_H
#define DSV4_LIB_SCHEDULE_SELECTROUNDS_H

#include "dsv4/Dialect/DSV4.h"

namespace dsv4 {

/// The maximum number of vectors per round and thread: more do not hide more
/// latency.
constexpr int64_t kMaxVectors = 16;

/// Whether threads read a row in rounds of several vectors each.
inline bool readsInRounds(SelectAlgorithm algorithm) {
  return algorithm == SelectAlgorithm::Stream ||
         algorithm == SelectAlgorithm::Grid;
}

} // namespace dsv4

#endif // DSV4_LIB_SCHEDULE_SELECTROUNDS_H
