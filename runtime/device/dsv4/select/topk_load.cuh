//===- topk_load.cuh - Elements of rows in registers ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The elements that a thread has of a row, for all algorithms of top-k that
// load rows by blocks.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk.cuh"

namespace dsv4 {

struct TopkRange {
  int begin, end;
};

// Part `part` of `parts` of a row.
template <typename Shape>
__device__ __forceinline__ TopkRange topk_range(int part, int parts,
                                                int length) {
  // Parts begin at whole lines of memory, if rows do.
  constexpr unsigned segment = 32 * Shape::vector;
  const unsigned segments = (length + segment - 1) / segment;
  const int each = (int)((segments + parts - 1) / parts * segment);
  const int begin = part * each, end = begin + each;
  return {begin < length ? begin : length, end < length ? end : length};
}

// Whether there is an element with this index.
template <typename Shape>
__device__ __forceinline__ bool topk_is_there(unsigned index, int length,
                                              int head) {
  if constexpr (Shape::has_head)
    return index - (unsigned)head < (unsigned)(length - head);
  else
    return index < (unsigned)length;
}

// The vectors at `Count` columns of a row, with elements at or beyond `end` and
// those of the head to be left out: topk_leave_out(). All loads are in flight
// before one is used; loads beyond the end read the last vector.
template <typename Shape, int Count, typename Column, typename Load>
__device__ __forceinline__ void
topk_load_all(float (&to)[Count * Shape::vector], Column column, int length,
              Load load) {
  const int last =
      (int)((unsigned)(length - 1) / Shape::vector * Shape::vector);
#pragma unroll
  for (int c = 0; c < Count; ++c) {
    const int at = column(c);
    const auto loaded = load(at < last ? at : last);
#pragma unroll
    for (int v = 0; v < Shape::vector; ++v)
      to[c * Shape::vector + v] = loaded[v];
  }
}

// Their form for comparison; NaN for what is left out.
template <typename Shape, int Count, typename Column>
__device__ __forceinline__ void
topk_leave_out(float (&to)[Count * Shape::vector], Column column, int end,
               int head) {
  if constexpr (!Shape::largest || Shape::nan_first) {
#pragma unroll
    for (int i = 0; i < Count * Shape::vector; ++i)
      to[i] = topk_oriented<Shape>(to[i]);
  }
  if constexpr (Shape::has_head) {
    // Of the first vector alone.
    if (column(0) < head) {
#pragma unroll
      for (int v = 0; v + 1 < Shape::vector; ++v)
        to[v] = v < head ? as_float(0x7FFFFFFFu) : to[v];
    }
  }
  if (column(Count - 1) + Shape::vector <= end)
    return;
#pragma unroll
  for (int c = 0; c < Count; ++c) {
    const int there = end - column(c);
    float *values = to + c * Shape::vector;
    if constexpr (Shape::vector % 4 == 0) {
#pragma unroll
      for (int v = 0; v < Shape::vector; v += 4)
        keep_first_4(values + v, there - v);
    } else {
#pragma unroll
      for (int v = 0; v < Shape::vector; ++v)
        values[v] = v < there ? values[v] : as_float(0x7FFFFFFFu);
    }
  }
}

// Both.
template <typename Shape, int Count, typename Column, typename Load>
__device__ __forceinline__ void topk_load(float (&to)[Count * Shape::vector],
                                          Column column, int end, int length,
                                          int head, Load load) {
  topk_load_all<Shape, Count>(to, column, length, load);
  topk_leave_out<Shape, Count>(to, column, end, head);
}

template <typename Shape, typename Load>
__device__ __forceinline__ void topk_load_round(float (&to)[Shape::items],
                                                int start, int end, int length,
                                                int head, Load load) {
  topk_load<Shape, Shape::vectors>(
      to, [&](int c) { return topk_column<Shape>(start, c * Shape::vector); },
      end, length, head, load);
}

// The first round of a block, which clears its memory meanwhile. What leaves
// elements out branches, and so waits for them: `Late` does it after the
// barrier.
template <typename Shape, bool Late, typename Load>
__device__ __forceinline__ void topk_load_first(float (&to)[Shape::items],
                                                int start, int end, int length,
                                                int head, Load load) {
  auto column = [&](int c) {
    return topk_column<Shape>(start, c * Shape::vector);
  };
  topk_load_all<Shape, Shape::vectors>(to, column, length, load);
  if constexpr (!Late)
    topk_leave_out<Shape, Shape::vectors>(to, column, end, head);
  topk_clear<Shape>();
  __syncthreads();
  if constexpr (Late)
    topk_leave_out<Shape, Shape::vectors>(to, column, end, head);
}

// Moves the first `Count` elements after the others, so that a loop reads its
// elements at the front and no array is in local memory.
template <int Count, typename T, int N>
__device__ __forceinline__ void topk_rotate(T (&elements)[N]) {
  T first[Count];
#pragma unroll
  for (int i = 0; i < Count; ++i)
    first[i] = elements[i];
#pragma unroll
  for (int i = 0; i + Count < N; ++i)
    elements[i] = elements[i + Count];
#pragma unroll
  for (int i = 0; i < Count; ++i)
    elements[N - Count + i] = first[i];
}

} // namespace dsv4
