//===- pool_online.cuh - Softmax-weighted sums, row by row ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team of threads pools the rows of one piece of a window: they are loaded in
// groups of four, and merged one after another, so that what a window comes to
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

// What a lane holds of a row, as it was loaded, and of what is added to its
// scores.
template <typename Row, typename Offsets>
struct PieceRow {
  Row scores, values;
  Offsets offsets;
};
template <typename Row, typename Offsets>
__device__ __forceinline__ PieceRow<Row, Offsets>
piece_row(const Row &scores, const Row &values, const Offsets &offsets) {
  return {scores, values, offsets};
}
template <typename Row>
__device__ __forceinline__ PieceRow<Row, NoOffsets::Offset>
piece_row(const Row &scores, const Row &values) {
  return {scores, values, {}};
}

template <typename Row, typename Offsets>
__device__ __forceinline__ auto
biased_scores(const PieceRow<Row, Offsets> &row) {
  return convert<float>(row.scores) + convert<float>(row.offsets);
}
template <typename Row>
__device__ __forceinline__ auto
biased_scores(const PieceRow<Row, NoOffsets::Offset> &row) {
  return convert<float>(row.scores);
}

// One row more. The larger score keeps its weight.
template <typename Part, typename Row>
__device__ __forceinline__ void merge_row(Running<Part> &to, const Row &row) {
  const Part scores = biased_scores(row), values = convert<float>(row.values);
#pragma unroll
  for (int c = 0; c < (int)(sizeof(Part) / sizeof(float)); ++c) {
    const float before = to.max[c], score = scores[c];
    const bool leads = before >= score;
    to.max[c] = max_nan_f32(before, score);
    const float less = exp_f32(-abs_f32(sub_f32(before, score)));
    const float factor = leads ? 1.0f : less, weight = leads ? less : 1.0f;
    to.sum[c] = add_f32(mul_f32(to.sum[c], factor), weight);
    to.acc[c] = add_f32(mul_f32(to.acc[c], factor), mul_f32(weight, values[c]));
  }
}

// The rows of a piece, in groups of four. `Groups` of them are on their way while
// those before are merged.
template <int Groups, typename Part, typename Member>
__device__ __forceinline__ void pool_rows(Running<Part> &to, int count,
                                          int lane, Member member) {
  enum : int { size = 4 };
  using Row = decltype(member(0, lane));
  struct Group {
    Row rows[size];
  };
  Group ahead[Groups];
  const int groups = count / size;
  const auto load_group = [&](int group) {
    Group loaded;
#pragma unroll
    for (int i = 0; i < size; ++i)
      loaded.rows[i] = member((long long)size * group + i, lane);
    return loaded;
  };
#pragma unroll
  for (int g = 0; g < Groups; ++g)
    if (g < groups)
      ahead[g] = load_group(g);
#pragma unroll 1
  for (int first = 0; first < groups; first += Groups) {
#pragma unroll
    for (int g = 0; g < Groups; ++g) {
      if (first + g >= groups)
        break;
#pragma unroll
      for (int i = 0; i < size; ++i)
        merge_row(to, ahead[g].rows[i]);
      if (first + g + Groups < groups)
        ahead[g] = load_group(first + g + Groups);
    }
  }
  Row rest[size - 1];
#pragma unroll
  for (int i = 0; i < size - 1; ++i) {
    if (groups * size + i >= count)
      break;
    rest[i] = member((long long)size * groups + i, lane);
  }
#pragma unroll
  for (int i = 0; i < size - 1; ++i) {
    if (groups * size + i >= count)
      break;
    merge_row(to, rest[i]);
  }
}

// What a lane holds of what the window of one piece comes to, by the threads of
// a team; 0 where the piece does not end it.
template <int Groups, typename Part, typename Begin, typename Member,
          typename End>
__device__ __forceinline__ Part pool_piece(int lane, int count, bool known,
                                           bool kept, bool ends, Begin begin,
                                           Member member, End end) {
  Running<Part> sums = {};
  if (known)
    begin(lane, sums.max, sums.sum, sums.acc);
  else
    sums.max = fill<Part>(as_float(0xFF800000u));
  pool_rows<Groups>(sums, count, lane, member);
  Part means;
#pragma unroll
  for (int c = 0; c < (int)(sizeof(Part) / sizeof(float)); ++c) {
    // NaN where the largest score is NaN or infinite, which weights do not show.
    const float from = origin(sums.max[c]);
    const float one = add_f32(1.0f, sub_f32(from, from));
    sums.sum[c] = mul_f32(sums.sum[c], one);
    sums.acc[c] = mul_f32(sums.acc[c], one);
    means[c] = ends ? weighted_mean(sums.sum[c], sums.acc[c]) : 0.0f;
  }
  if (kept)
    end(lane, sums.max, sums.sum, sums.acc);
  return means;
}

// For each of `Count` rows from `first` on, those below `rows`: what its window
// comes to if its piece ends it, else 0. body(row, piece) calls piece(count,
// known, kept, ends, begin, member, end), for a piece of `count` rows: begin(lane,
// max, sum, acc) gives what those before it come to, where they are `known`;
// member(r, lane) gives a row, a PieceRow; end(lane, max, sum, acc) stores what
// all of them come to, where that is `kept`. All threads of the cluster call
// this, those of a block in teams that share its channels, one row a team; thread
// t of its first block has the share of lane t mod Lanes of row t div Lanes.
template <int Cluster, int Count, int Threads, int Lanes, int Groups,
          typename Part, typename Result, typename Body>
__device__ __forceinline__ Result pool_online(int first, int rows, Body body) {
  constexpr int channels = Lanes * sizeof(Result) / sizeof(float);
  constexpr int lanes = channels * sizeof(float) / sizeof(Part) / Cluster;
  constexpr int teams = Threads / lanes;
  static_assert(Cluster == 1 || Part::steps == 1,
                "blocks of a cluster have contiguous channels");
  __shared__ float pooled[Count][channels];
  FirstBlock<Cluster> first_block;
  const int thread = threadIdx.x % lanes, team = threadIdx.x / lanes;
  const ClusterParts parts = cluster_parts<Cluster>();
#pragma unroll 1
  for (int part = parts.begin; part < parts.end; ++part) {
    const int lane = part * lanes + thread;
#pragma unroll 1
    for (int at = 0; at < Count; at += teams) {
      const int which = at + team;
      const bool has_row =
          team < teams && which < Count && first + which < rows;
      Part means = {};
      if (has_row)
        body(first + which, [&](int count, bool known, bool kept, bool ends,
                                auto begin, auto member, auto end) {
          means = pool_piece<Groups, Part>(lane, count, known, kept, ends,
                                           begin, member, end);
        });
      first_block.wait();
      if (has_row) {
        float *row = in_first_block<Cluster>(pooled[which]);
#pragma unroll
        for (int s = 0; s < Part::steps; ++s)
#pragma unroll
          for (int v = 0; v < Part::chunk; ++v)
            row[(s * lanes + lane) * Part::chunk + v] =
                means[s * Part::chunk + v];
      }
    }
  }
  first_block.wait();
  cluster_arrive<Cluster>();
  cluster_wait<Cluster>();
  return own_share<Result, Lanes>(pooled);
}

} // namespace dsv4
