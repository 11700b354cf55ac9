//===- sections.cuh - Rows that are too long to hold ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row is read section by section, in order, and lanes hold one section at a
// time. Sections are folded as the leaves of the binary tree of neighbours that
// rows.cuh folds: of every size of subtree at most one waits for its neighbour.
// So the loops are not unrolled, however long the row is, and the result is the
// same, to the bit.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "rows/rows.cuh"

namespace dsv4 {

// Adds leaf `i` to the subtrees that wait, by `Fold`(size as a power of two,
// left, right).
template <int Levels, typename Value, typename Fold>
__device__ __forceinline__ void push_leaf(Value (&waiting)[Levels], int i,
                                          Value leaf, Fold fold) {
  bool moves = true;
#pragma unroll
  for (int level = 0; level < Levels; ++level) {
    const bool waits = i >> level & 1;
    if (moves && !waits)
      waiting[level] = leaf;
    if (moves && waits)
      leaf = fold(level, waiting[level], leaf);
    moves = moves && waits;
  }
}

// The fold of what `section` returns for sections first, first + By, ... before
// `end`, of which there are Max at most.
template <typename Op, int By, int Max, typename Section>
__device__ __forceinline__ Vec<float, 1> fold_sections(int first, int end,
                                                       Section section) {
  constexpr int levels = ceil_log2(Max) + 1;
  float waiting[levels];
#pragma unroll
  for (int level = 0; level < levels; ++level)
    waiting[level] = 0.0f;
  int count = 0;
#pragma unroll 1
  for (int at = first; at < end; at += By) {
    push_leaf(waiting, count, section(at).words[0],
              [](int, float a, float b) { return Op::fold(a, b); });
    ++count;
  }
  // An unpaired subtree moves up unchanged.
  Vec<float, 1> folded;
  bool any = false;
#pragma unroll
  for (int level = 0; level < levels; ++level)
    if (count >> level & 1) {
      folded.words[0] =
          any ? Op::fold(waiting[level], folded.words[0]) : waiting[level];
      any = true;
    }
  return folded;
}

// The section that begins at element `section` of the transform of a row of Row
// elements, from the transforms of its sections of By. Of two subtrees, the
// element with bit h of its index clear has the sum, the other the difference.
template <int By, int Row, typename Section>
__device__ __forceinline__ auto hadamard_sections(int section, Section part)
    -> decltype(part(0)) {
  using Part = decltype(part(0));
  constexpr int levels = ceil_log2(Row / By) + 1;
  Part waiting[levels];
#pragma unroll 1
  for (int i = 0; i < Row / By; ++i)
    push_leaf(waiting, i, part(i * By),
              [section](int level, const Part &a, const Part &b) {
                return section / By >> level & 1 ? a - b : a + b;
              });
  return waiting[levels - 1];
}

} // namespace dsv4
