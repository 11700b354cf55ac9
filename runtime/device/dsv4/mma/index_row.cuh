//===- index_row.cuh - Where a row of scores begins -------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the regions of all sources of scores return, and pass for operands that
// are not there.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"

namespace dsv4 {

// Stands for scales that a format does not have.
struct NoScales {};

// Where a row begins: elements of queries, their scales and weights, its first
// key and the number of its keys.
struct IndexRow {
  long long query, scale, weight;
  int first, count;
};
__device__ __forceinline__ IndexRow index_row(long long query, long long scale,
                                              long long weight, int first,
                                              int count) {
  return IndexRow{query, scale, weight, first, count};
}

} // namespace dsv4
