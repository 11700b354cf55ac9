//===- window_reduce_online.cuh - Softmax-weighted sums, row by row ------*- C++
//-*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group of threads pools the rows of one segment of a window. Rows are loaded
// in groups, and merged one after another, so the result of a window does not
// depend on how it was divided.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "window/window_reduce.cuh"

namespace dsv4 {

// The defaults of a config of a reduction by segments. A config also has
//
//   rows     windows of a block
//   threads  threads of a block
//   lanes    threads that hold a row of the result
//   groups   groups of rows that are loaded before the first is used
//   Part     the part of a window's row that a thread holds
//   Result   the part of a result's row that a lane holds
struct WindowSegmentDefaults {
  // Blocks that share the channels.
  static constexpr int cluster = 1;
};

// The state after some rows: the largest score, and the sums of weights and of
// weighted values relative to it.
template <typename Part>
struct Running {
  Part max, sum, acc;
};

// A lane's part of a row, as loaded, and of the offsets of its scores.
template <typename Row, typename Offsets>
struct SegmentRow {
  Row scores, values;
  Offsets offsets;
};
template <typename Row, typename Offsets>
__device__ __forceinline__ SegmentRow<Row, Offsets>
segment_row(const Row &scores, const Row &values, const Offsets &offsets) {
  return {scores, values, offsets};
}
template <typename Row>
__device__ __forceinline__ SegmentRow<Row, NoOffsets::Offset>
segment_row(const Row &scores, const Row &values) {
  return {scores, values, {}};
}

template <typename Row, typename Offsets>
__device__ __forceinline__ auto
biased_scores(const SegmentRow<Row, Offsets> &row) {
  return convert<float>(row.scores) + convert<float>(row.offsets);
}
template <typename Row>
__device__ __forceinline__ auto
biased_scores(const SegmentRow<Row, NoOffsets::Offset> &row) {
  return convert<float>(row.scores);
}

// Merges one more row. The larger score keeps its weight.
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

// Rows of a group: WindowReduceOnlineOp::kGroupRows of the compiler.
enum : int { group_rows = 4 };

// Merges the rows of a segment, one group at a time. `Groups` groups are in
// flight while earlier ones are merged.
template <int Groups, typename Row, typename Part, typename Member>
__device__ __forceinline__ void reduce_rows(Running<Part> &to, int count,
                                            int lane, Member member) {
  enum : int { size = group_rows };
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

//===----------------------------------------------------------------------===//
// Rows that go through shared memory
//===----------------------------------------------------------------------===//

// The address of a lane's part of a row, which the library reads together with
// the parts of other lanes. The parts of a warp are side by side, from a
// multiple of 16 bytes on.
template <typename Row>
struct Staged {
  const char *at;
};
template <typename Row>
__device__ __forceinline__ Staged<Row> staged(const void *at) {
  return {(const char *)at};
}

// The bytes of a row that a lane has.
template <typename Row>
struct StagedBytes {
  enum : int { value = 0 };
};
template <typename T, int V>
struct StagedBytes<Staged<Tile<T, 1, V>>> {
  enum : int { value = Tile<T, 1, V>::vector_bytes };
};

// Copies a warp's part of the rows of a group, those below `count`, to shared
// memory, one after the other. at(row) is the address of its first lane's part.
template <int Bytes, typename At>
__device__ __forceinline__ void stage_rows(char *to, int count, At at) {
  constexpr int segments = 32 * Bytes / 16, all = group_rows * segments;
#pragma unroll
  for (int i = 0; i < (all + 31) / 32; ++i) {
    const int segment = i * 32 + (int)threadIdx.x % 32,
              row = segment / segments;
    copy_16_if(row < count && (all % 32 == 0 || row < group_rows),
               to + segment * 16, at(row) + segment % segments * 16);
  }
}

// A lane's part of row `row` of those in shared memory.
template <typename T, int V>
__device__ __forceinline__ Tile<T, 1, V> unstage(const char *rows, int row,
                                                 Staged<Tile<T, 1, V>>) {
  constexpr int bytes = Tile<T, 1, V>::vector_bytes;
  const char *from = rows + (row * 32 + (int)threadIdx.x % 32) * bytes;
  Tile<T, 1, V> to;
  if constexpr (bytes == 2) {
    assign(to.words[0], *(const unsigned short *)from);
  } else {
    struct __align__(bytes < 16 ? bytes : 16) Words {
      unsigned words[bytes / 4];
    };
    const Words own = *(const Words *)from;
#pragma unroll
    for (int i = 0; i < bytes / 4; ++i)
      assign(to.words[i], own.words[i]);
  }
  return to;
}
__device__ __forceinline__ NoOffsets::Offset unstage(const char *, int,
                                                     NoOffsets::Offset) {
  return {};
}

// Layout of a warp's part of a group: scores, then values, then offsets.
template <typename Row>
struct StagedGroup {
  using Scores = decltype(Row::scores);
  using Offsets = decltype(Row::offsets);
  enum : int {
    bytes = StagedBytes<Scores>::value,
    added = StagedBytes<Offsets>::value,
    values = group_rows * 32 * bytes,
    offsets = 2 * values,
    size = offsets + group_rows * 32 * added
  };

  template <typename At>
  __device__ __forceinline__ static void stage(char *group, int count, At at) {
    stage_rows<bytes>(group, count, [&](int row) { return at(row).scores.at; });
    stage_rows<bytes>(group + values, count,
                      [&](int row) { return at(row).values.at; });
    if constexpr (added > 0)
      stage_rows<added>(group + offsets, count,
                        [&](int row) { return at(row).offsets.at; });
  }
  template <typename Part>
  __device__ __forceinline__ static void merge(Running<Part> &to,
                                               const char *group, int row) {
    merge_row(to, segment_row(unstage(group, row, Scores()),
                              unstage(group + values, row, Scores()),
                              unstage(group + offsets, row, Offsets())));
  }
};

// Merges the rows of a segment, given by address. Every warp has a ring of
// `Groups` groups in shared memory that no other warp reads, so it waits for no
// other.
template <int Groups, typename Row, typename Part, typename Member>
__device__ __forceinline__ void reduce_staged_rows(Running<Part> &to, int count,
                                                   int lane, Member member) {
  using Group = StagedGroup<Row>;
  const int own_lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  char *const ring = dynamic_shared() + warp * (Groups * Group::size);
  const auto stage = [&](char *group, int first) {
    Group::stage(group, count - first, [&](int row) {
      return member((long long)first + row, lane - own_lane);
    });
    commit_copies();
  };
#pragma unroll
  for (int g = 0; g < Groups; ++g)
    stage(ring + g * Group::size, g * group_rows);
  char *group = ring;
  int first = 0;
#pragma unroll 1
  for (; first + group_rows <= count; first += group_rows) {
    wait_for_copies<Groups - 1>();
    __syncwarp();
#pragma unroll
    for (int row = 0; row < group_rows; ++row)
      Group::merge(to, group, row);
    __syncwarp();
    stage(group, first + Groups * group_rows);
    group += Group::size;
    if (group == ring + Groups * Group::size)
      group = ring;
  }
  if (first < count) {
    wait_for_copies<Groups - 1>();
    __syncwarp();
#pragma unroll 1
    for (int row = 0; first + row < count; ++row)
      Group::merge(to, group, row);
  }
  // Another segment may follow.
  __syncwarp();
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

// A lane's part of the pooled window of one segment, computed by a group of
// threads; 0 if the segment does not end the window.
template <int Groups, typename Part, typename Begin, typename Member,
          typename End>
__device__ __forceinline__ Part reduce_segment(int lane, int count, bool known,
                                               bool kept, bool ends,
                                               Begin begin, Member member,
                                               End end) {
  Running<Part> sums = {};
  if (known)
    begin(lane, sums.max, sums.sum, sums.acc);
  else
    sums.max = fill<Part>(as_float(0xFF800000u));
  using Row = decltype(member(0, lane));
  if constexpr (StagedBytes<decltype(Row::scores)>::value > 0)
    reduce_staged_rows<Groups, Row>(sums, count, lane, member);
  else
    reduce_rows<Groups, Row>(sums, count, lane, member);
  Part means;
#pragma unroll
  for (int c = 0; c < (int)(sizeof(Part) / sizeof(float)); ++c) {
    // NaN if the largest score is NaN or infinite, which weights do not show.
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

// For each of Config::rows rows from `first` on and below `rows`: the pooled
// window if the segment ends it, else 0. body(row, segment) calls
// segment(count, known, kept, ends, begin, member, end) for a segment of
// `count` rows. begin(lane, max, sum, acc) returns the state before the
// segment, if it is `known`; member(r, lane) returns a row, a SegmentRow;
// end(lane, max, sum, acc) stores the state after it, if it is `kept`. All
// threads of the cluster call this; groups of threads of a block share its
// channels, one row per group. Thread t of the first block gets the fragment of
// lane t mod Lanes of row t div Lanes.
template <typename Config, typename Body>
__device__ __forceinline__ typename Config::Result
window_reduce_online(int first, int rows, Body body) {
  using Part = typename Config::Part;
  using Result = typename Config::Result;
  static_assert(Config::rows >= 1 && Config::groups >= 1 &&
                    Config::cluster >= 1,
                "rows, groups and cluster are positive");
  static_assert(Config::cluster == 1 || Part::steps == 1,
                "blocks of a cluster have contiguous channels");
  constexpr int Cluster = Config::cluster, Count = Config::rows;
  constexpr int channels = Config::lanes * sizeof(Result) / sizeof(float);
  constexpr int lanes = channels * sizeof(float) / sizeof(Part) / Cluster;
  constexpr int thread_groups = Config::threads / lanes;
  __shared__ float pooled[Count][channels];
  FirstBlock<Cluster> first_block;
  // If all threads are one group, no branch on it comes between the loads of
  // scalars and those of the plan, so that they are in flight together.
  constexpr bool is_one = Config::threads == lanes;
  const int thread = is_one ? threadIdx.x : threadIdx.x % lanes,
            thread_group = is_one ? 0 : threadIdx.x / lanes;
  const int lane = cluster_rank<Cluster>() * lanes + thread;
#pragma unroll 1
  for (int at = 0; at < Count; at += thread_groups) {
    const int which = at + thread_group;
    const bool has_row =
        thread_group < thread_groups && which < Count && first + which < rows;
    Part means = {};
    if (has_row)
      body(first + which, [&](int count, bool known, bool kept, bool ends,
                              auto begin, auto member, auto end) {
        means = reduce_segment<Config::groups, Part>(lane, count, known, kept,
                                                     ends, begin, member, end);
      });
    first_block.wait();
    if (has_row) {
      float *row = in_first_block<Cluster>(pooled[which]);
#pragma unroll
      for (int s = 0; s < Part::steps; ++s)
#pragma unroll
        for (int v = 0; v < Part::vector; ++v)
          row[(s * lanes + lane) * Part::vector + v] =
              means[s * Part::vector + v];
    }
  }
  first_block.wait();
  cluster_arrive<Cluster>();
  cluster_wait<Cluster>();
  return own_fragment<Result, Config::lanes>(pooled);
}

} // namespace dsv4
