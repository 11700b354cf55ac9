//===- pool_online.cuh - Softmax-weighted sums, row by row ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team of threads pools the rows of one piece of a window: they are loaded in
// blocks of eight, and merged one after another, so that what a window comes to
// does not depend on where it was cut.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "pool.cuh"

namespace dsv4 {

// What the rows so far come to: the largest score, and the sums of weights and
// of weighted values relative to it.
template <typename Part>
struct Running {
  Part max, sum, acc;
};

// One row more. The larger score keeps its weight. exp_f32 is not for NaN, and
// does not show that the larger one is infinite.
template <typename Part>
__device__ __forceinline__ void merge_row(Running<Part> &to, const Part &scores,
                                          const Part &values) {
#pragma unroll
  for (int c = 0; c < (int)(sizeof(Part) / sizeof(float)); ++c) {
    const float before = to.max[c], score = scores[c];
    const bool leads = before >= score;
    to.max[c] = max_nan_f32(before, score);
    const float from = origin(to.max[c]);
    // NaN where the larger one is NaN or infinite, and so is what it scales.
    const float one = add_f32(1.0f, sub_f32(from, from));
    const float less = exp_f32(sub_f32(leads ? score : before, from));
    const float factor = leads ? one : less, weight = leads ? less : one;
    to.sum[c] = add_f32(mul_f32(to.sum[c], factor), weight);
    to.acc[c] = add_f32(mul_f32(to.acc[c], factor), mul_f32(weight, values[c]));
  }
}

// Rows `first` to `first + 7`, of those below `count`. All of them are on their
// way before the first is merged.
template <typename Part, typename Member>
__device__ __forceinline__ void pool_rows(Running<Part> &to, int first,
                                          int count, int lane, Member member) {
  PoolMembers<8, Part> rows = {};
  if (first + 8 <= count) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      member(first + i, lane, rows.scores[i], rows.values[i]);
#pragma unroll
    for (int i = 0; i < 8; ++i)
      merge_row(to, rows.scores[i], rows.values[i]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 7; ++i) {
    if (first + i >= count)
      break;
    member(first + i, lane, rows.scores[i], rows.values[i]);
  }
#pragma unroll
  for (int i = 0; i < 7; ++i) {
    if (first + i >= count)
      break;
    merge_row(to, rows.scores[i], rows.values[i]);
  }
}

// One piece, by the `Lanes` threads of a team, to `row` in shared memory.
template <int Lanes, typename Part, typename Begin, typename Member,
          typename End>
__device__ __forceinline__ void
pool_piece(float *row, int lane, int count, bool known, bool kept, bool ends,
           Begin begin, Member member, End end) {
  Running<Part> sums = {};
  if (known) {
    begin(lane, sums.max, sums.sum, sums.acc);
  } else {
#pragma unroll
    for (int c = 0; c < (int)(sizeof(Part) / sizeof(float)); ++c)
      sums.max[c] = as_float(0xFF800000u);
  }
#pragma unroll 1
  for (int first = 0; first < count; first += 8)
    pool_rows(sums, first, count, lane, member);
  if (kept)
    end(lane, sums.max, sums.sum, sums.acc);
#pragma unroll
  for (int s = 0; s < Part::steps; ++s)
#pragma unroll
    for (int v = 0; v < Part::chunk; ++v) {
      const int c = s * Part::chunk + v;
      row[(s * Lanes + lane) * Part::chunk + v] =
          ends ? weighted_mean(sums.sum[c], sums.acc[c]) : 0.0f;
    }
}

// For each of `Count` rows from `first` on, those below `rows`: what its window
// comes to if its piece ends it, else 0. body(row, piece) calls piece(count,
// known, kept, ends, begin, member, end), for a piece of `count` rows: begin(lane,
// max, sum, acc) gives what those before it come to, where they are `known`;
// member(r, lane, scores, values) gives a row; end(lane, max, sum, acc) stores
// what all of them come to, where that is `kept`. All threads of the block call
// this, in teams that share the channels, one row a team; thread t has the share
// of lane t mod Lanes of row t div Lanes.
template <int Count, int Threads, int Lanes, typename Part, typename Result,
          typename Body>
__device__ __forceinline__ Result pool_online(int first, int rows, Body body) {
  constexpr int channels = Lanes * sizeof(Result) / sizeof(float);
  constexpr int lanes = channels * sizeof(float) / sizeof(Part);
  constexpr int teams = Threads / lanes;
  __shared__ float pooled[Count][channels];
  const int team = threadIdx.x / lanes;
  if (team < teams) {
#pragma unroll 1
    for (int which = team; which < Count && first + which < rows;
         which += teams)
      body(first + which, [&](int count, bool known, bool kept, bool ends,
                              auto begin, auto member, auto end) {
        pool_piece<lanes, Part>(pooled[which], threadIdx.x % lanes, count, known,
                                kept, ends, begin, member, end);
      });
  }
  __syncthreads();
  return own_share<Result, Lanes>(pooled);
}

} // namespace dsv4
