//===- index_row.cuh - Rows of scores, and their formats --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all sources of scores share: formats, what their regions return, and
// what is passed for operands that are not there.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/core.cuh"

namespace dsv4 {

// Formats of keys and of queries.
enum class IndexFormat {
  e4m3,  // One f32 scale per key, after the sum over heads; none per query.
  mxfp4, // E2M1, one UE8M0 scale per 32.
  nvfp4, // E2M1, one E4M3 scale per 16.
  bf16
};

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
