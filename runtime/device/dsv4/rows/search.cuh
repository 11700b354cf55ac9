//===- search.cuh - The request of a row ------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"

namespace dsv4 {

// Halves a range: an element that is at most the sought value is in the later
// half, or begins it. What is asked for is at `found` of `left` elements.
template <typename IsAtMost>
__device__ __forceinline__ void halve(int &found, int &left, int until,
                                      IsAtMost is_at_most) {
#pragma unroll 1
  while (left > until) {
    const int half = left / 2;
    if (is_at_most(found + half))
      found += half;
    left -= half;
  }
}

// The last of `count` ascending elements that is at most `value`, or the first.
// Whatever the elements are, only the first `count` are read.
template <typename Integer>
__device__ __forceinline__ int search(const Integer *elements, int value,
                                      int count) {
  int found = 0, left = count;
  halve(found, left, 1,
        [&](int at) { return load<Integer>(elements + at) <= value; });
  return found;
}

// The same for each row of a warp. Lanes hold `Lanes` neighbours of a row, rows
// are neighbours, and all below `rows` search for their number. The last 64
// elements that are left are read at once, which is one way from memory, not
// six. Rows for which others are left, and the rows of the last warp if it is
// not full, search by themselves.
template <int Lanes, typename Integer>
__device__ __forceinline__ int search(const Integer *elements, int row,
                                      int count, int rows) {
  constexpr int together = 64, rows_of_warp = 32 / Lanes;
  const int lane = threadIdx.x % 32, first = row - lane / Lanes;
  int found = 0, left = count;
  auto in_memory = [&](int at) { return load<Integer>(elements + at) <= row; };
  halve(found, left, together, in_memory);
  if (first + rows_of_warp > rows ||
      (count > together &&
       !__all_sync(0xFFFFFFFFu, found == from_lane<32, 32>(found, 0)))) {
    halve(found, left, 1, in_memory);
    return found;
  }
  // Zero, but not at most a row, for elements that are not left.
  Integer low = 0, high = 0;
  if (lane < left)
    low = load<Integer>(elements + found + lane);
  if (lane + 32 < left)
    high = load<Integer>(elements + found + lane + 32);
  unsigned long long votes = 0;
#pragma unroll
  for (int i = 0; i < rows_of_warp; ++i) {
    const unsigned of_low =
        __ballot_sync(0xFFFFFFFFu, lane < left && low <= first + i);
    const unsigned of_high =
        __ballot_sync(0xFFFFFFFFu, lane + 32 < left && high <= first + i);
    if (row == first + i)
      votes = (unsigned long long)of_high << 32 | of_low;
  }
  // Halving does not look at the first element. If the others ascend it finds
  // the end of the votes.
  votes |= 1;
  if ((votes & (votes + 1)) == 0)
    return found + __popcll(votes) - 1;
  int at = 0;
  halve(at, left, 1, [&](int of) { return (votes >> of & 1) != 0; });
  return found + at;
}

} // namespace dsv4
