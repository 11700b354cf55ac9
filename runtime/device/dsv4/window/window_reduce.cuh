//===- window_reduce.cuh - Softmax-weighted sums over rows ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All threads of a block pool the rows of one window. Members are pooled in
// blocks of eight. Neither the result of a block of rows nor the tree in which
// blocks are merged depends on the number of threads.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "rows/exp.cuh"
#include "rows/rows.cuh"

namespace dsv4 {

// The defaults of a config of a window reduction. A config also has
//
//   members  rows of a window
//   rows     windows of a block
//   threads  threads of a block
//   lanes    threads that hold a row of the result
//   Part     the part of a window's row that a thread holds
//   Result   the part of a result's row that a lane holds
struct WindowDefaults {
  // Blocks that share the channels.
  static constexpr int cluster = 1;
};

// Of N channels: the largest score, and the sums of weights and of weighted
// values relative to it.
template <int N>
struct WindowSums {
  float max[N], sum[N], dot[N];
};

// The number that scores are relative to; 0 if there is no member and so no
// largest score.
__device__ __forceinline__ float origin(float max) {
  return as_unsigned(max) == 0xFF800000u ? 0.0f : max;
}

template <int N>
__device__ __forceinline__ WindowSums<N> merge(const WindowSums<N> &a,
                                               const WindowSums<N> &b) {
  WindowSums<N> to;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    to.max[i] = max_f32(a.max[i], b.max[i]);
    // The factor of the larger one is exp(0). If both are infinite there is no
    // difference, and sums are zeros or NaN.
    const bool a_leads = a.max[i] >= b.max[i];
    const float factor = exp_f32(-abs_f32(sub_f32(a.max[i], b.max[i])));
    const float of_a = a_leads ? 1.0f : factor, of_b = a_leads ? factor : 1.0f;
    to.sum[i] = add_f32(mul_f32(a.sum[i], of_a), mul_f32(b.sum[i], of_b));
    to.dot[i] = add_f32(mul_f32(a.dot[i], of_a), mul_f32(b.dot[i], of_b));
  }
  return to;
}

__device__ __forceinline__ float weighted_mean(float sum, float dot) {
  return sum == 0.0f ? 0.0f : div_few_registers_f32(dot, sum);
}

// `Count` members from `first` on, as loaded.
template <int Count, typename Part>
struct WindowMembers {
  Part scores[Count], values[Count];
};

// offsets(r, lane) returns a lane's part of the numbers that are added to the
// scores of member r, if all of the window is in the launch. Here they are
// none.
struct NoOffsets {
  struct Offset {};
  __device__ __forceinline__ Offset operator()(int, int) const { return {}; }
};
template <typename Part>
__device__ __forceinline__ Part operator+(const Part &scores,
                                          NoOffsets::Offset) {
  return scores;
}

// Where a member is, in whatever form the next function takes it.
template <typename... T>
struct Address {
  enum : bool { is_empty = true };
  template <typename Take, typename... Before>
  __device__ __forceinline__ auto give(Take take, Before... before) const {
    return take(before...);
  }
};
template <typename Last>
struct Address<Last> {
  enum : bool { is_empty = false };
  Last last;
  template <typename Take, typename... Before>
  __device__ __forceinline__ auto give(Take take, Before... before) const {
    return take(before..., last);
  }
};
template <typename First, typename Second, typename... Rest>
struct Address<First, Second, Rest...> {
  enum : bool { is_empty = false };
  First first;
  Address<Second, Rest...> rest;
  template <typename Take, typename... Before>
  __device__ __forceinline__ auto give(Take take, Before... before) const {
    return rest.give(take, before..., first);
  }
};
template <typename Last>
__device__ __forceinline__ Address<Last> addresses(Last last) {
  return {last};
}
template <typename First, typename Second, typename... Rest>
__device__ __forceinline__ Address<First, Second, Rest...>
addresses(First first, Second second, Rest... rest) {
  return {first, addresses(second, rest...)};
}
struct NoAddress {
  __device__ __forceinline__ Address<> operator()(int) const { return {}; }
};

// If `all` holds, every member exists, and scores(r, lane) and values(r, lane)
// return a lane's part of member r: rows of one tensor are loaded one after
// another, which suits the memory better. Otherwise load(r, lane, address...,
// scores, values) loads the member, and returns whether it exists. find(r)
// finds it, by tables in memory and much arithmetic on addresses. The lanes of
// a warp have the same members, so each finds another one, and leaves it to all
// in shared memory.
template <typename Shape, int Count, typename Part, typename Offsets,
          typename Scores, typename Values, typename Find, typename Load>
__device__ __forceinline__ void
load_members(WindowMembers<Count, Part> &to, int first, int lane, bool all,
             Offsets offsets, Scores scores, Values values, Find find,
             Load load) {
  constexpr int channels = sizeof(Part) / sizeof(float);
  if (all) {
    decltype(offsets(0, lane)) added[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i)
      to.scores[i] = scores(first + i, lane);
#pragma unroll
    for (int i = 0; i < Count; ++i)
      added[i] = offsets(first + i, lane);
#pragma unroll
    for (int i = 0; i < Count; ++i)
      to.values[i] = values(first + i, lane);
#pragma unroll
    for (int i = 0; i < Count; ++i)
      to.scores[i] = to.scores[i] + added[i];
    return;
  }
  using Found = decltype(find(0));
  constexpr bool together = Shape::by_warp && !Found::is_empty;
  static_assert(!together || (int)sizeof(Found) <= Shape::address_bytes,
                "a address fits into its part of shared memory");
  __shared__ Found found[together ? Shape::warps : 1][together ? Count : 1];
  Found *const of_warp = found[together ? threadIdx.x / 32 : 0];
  if constexpr (together) {
    const int own = threadIdx.x % 32;
    __syncwarp(); // All have taken the members before.
    if (own < Count)
      of_warp[own] = find(first + own);
    __syncwarp();
  }
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const Found at = together ? of_warp[i] : find(first + i);
    bool there = at.give([&](auto... address) {
      return load(first + i, lane, address..., to.scores[i], to.values[i]);
    });
    if constexpr (Shape::members % Count != 0) {
      // The last block is filled up.
      there &= first + i < Shape::members;
      to.values[i] = there ? to.values[i] : Part();
    }
#pragma unroll
    for (int c = 0; c < channels; ++c)
      to.scores[i][c] = there ? to.scores[i][c] : as_float(0xFF800000u);
  }
}

template <int Count, typename Part>
__device__ __forceinline__ auto
reduce_members(const WindowMembers<Count, Part> &members) {
  constexpr int channels = sizeof(Part) / sizeof(float);
  WindowSums<channels> to;
#pragma unroll
  for (int c = 0; c < channels; ++c) {
    float weights[Count], products[Count];
    to.max[c] = members.scores[0][c];
#pragma unroll
    for (int i = 1; i < Count; ++i)
      to.max[c] = max_nan_f32(to.max[c], members.scores[i][c]);
    const float from = origin(to.max[c]);
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      weights[i] = exp_f32(sub_f32(members.scores[i][c], from));
      products[i] = mul_f32(weights[i], members.values[i][c]);
    }
    // NaN if a score is NaN or infinite, which weights do not show.
    fold_tree<Sum, Count>(weights);
    fold_tree<Sum, Count>(products);
    to.sum[c] = add_f32(weights[0], sub_f32(from, from));
    to.dot[c] = products[0];
  }
  return to;
}

// Adds the sums over block `block`, counted from 0, to those over earlier
// blocks: trees[n] covers 2^n blocks and waits for 2^n more; at the last level
// it covers twice as many.
template <int Level, int Levels, typename Sums>
__device__ __forceinline__ void add_block(Sums (&trees)[Levels], int block,
                                          const Sums &sums) {
  if (!(block >> Level & 1))
    trees[Level] = sums;
  else if constexpr (Level + 1 == Levels)
    trees[Level] = merge(trees[Level], sums);
  else
    add_block<Level + 1>(trees, block, merge(trees[Level], sums));
}

// Merges the existing blocks among `first` to `first + Blocks - 1` of a window
// as a tree; Blocks is a power of two. The members of a block are loaded after
// those of the block before are pooled: other warps have loads in flight, and
// more at once are slower.
template <typename Shape, typename Offsets, typename Scores, typename Values,
          typename Find, typename Load>
__device__ __forceinline__ auto
reduce_blocks(int first, int lane, Offsets offsets, bool all, Scores scores,
              Values values, Find find, Load load) {
  using Part = typename Shape::Part;
  constexpr int Members = Shape::members, Blocks = Shape::blocks;
  constexpr int last = (Members + 7) / 8;
  constexpr int levels = Blocks > 1 ? ceil_log2(Blocks) : 1;
  const int count =
      last % Blocks == 0 || last - first > Blocks ? Blocks : last - first;
  WindowMembers<8, Part> members;
  const auto load_block = [&](int block) {
    const int begin = 8 * (first + block);
    load_members<Shape>(members, begin, lane,
                        all && (Members % 8 == 0 || begin + 8 <= Members),
                        offsets, scores, values, find, load);
  };
  WindowSums<sizeof(Part) / sizeof(float)> trees[levels];
  load_block(0);
#pragma unroll 1
  for (int block = 0; block < count; ++block) {
    const auto sums = reduce_members(members);
    if (block + 1 < count)
      load_block(block + 1);
    add_block<0>(trees, block, sums);
  }
  if constexpr (last % Blocks != 0) {
    // Fewer blocks form several trees, unless they are a power of two.
    if (count != Blocks) {
      WindowSums<sizeof(Part) / sizeof(float)> sums;
      bool begun = false;
#pragma unroll
      for (int n = 0; n < levels; ++n)
        if (count >> n & 1) {
          sums = begun ? merge(trees[n], sums) : trees[n];
          begun = true;
        }
      return sums;
    }
  }
  return trees[levels - 1];
}

// How the members of a window are distributed to threads: groups of `lanes`
// threads, each of which holds a `Part` of the channels, with `blocks` blocks
// of members per group. All blocks of a cluster have the same number of
// channels.
template <typename Config>
struct WindowShape {
  using Part = typename Config::Part;
  static_assert(Config::members >= 1 && Config::rows >= 1 &&
                    Config::threads >= 1 && Config::cluster >= 1,
                "members, rows, threads and cluster are positive");
  static_assert(Config::cluster == 1 ||
                    sizeof(Part) / sizeof(float) == Part::vector,
                "blocks of a cluster have contiguous channels");

  enum : int {
    members = Config::members,
    threads = Config::threads,
    part = sizeof(Part) / sizeof(float),
    all_channels =
        Config::lanes * sizeof(typename Config::Result) / sizeof(float),
    channels = all_channels / Config::cluster,
    lanes = channels / part,
    all_blocks = (members + 7) / 8,
    // Whether the lanes of a warp have the same members.
    by_warp = lanes % 32 == 0,
    warps = (threads + 31) / 32,
    address_bytes = 32,
    addresses = by_warp ? warps * 8 * address_bytes : 0,
    // Three sums per channel, beside addresses and the pooled rows in 48 KiB of
    // shared memory.
    fitting =
        (49152 - addresses - 4 * Config::rows * all_channels) / (12 * channels),
    max_thread_groups = threads / lanes < fitting ? threads / lanes : fitting,
    blocks =
        1 << ceil_log2(
            (all_blocks + (max_thread_groups > 1 ? max_thread_groups : 1) - 1) /
            (max_thread_groups > 1 ? max_thread_groups : 1)),
    thread_groups = (all_blocks + blocks - 1) / blocks
  };
  // The channel of element `at` of a lane; lanes are counted over the whole
  // cluster.
  __device__ __forceinline__ static int channel(int lane, int at) {
    return (at / Part::vector * lanes + lane) * Part::vector +
           at % Part::vector;
  }
};

// Stores a lane's part of the pooled row, computed from its sums over members.
template <typename Shape, int N>
__device__ __forceinline__ void store_means(float *row, int lane,
                                            const WindowSums<N> &sums) {
#pragma unroll
  for (int c = 0; c < N; ++c)
    row[Shape::channel(lane, c)] = weighted_mean(sums.sum[c], sums.dot[c]);
}

// Pools part `which` of the channels of one window of several blocks of
// members, by all threads of the block, into `row` in shared memory. That may
// be another block's, so ready() is called before. `again` if another window or
// part follows.
template <typename Shape, typename Ready, typename Offsets, typename Scores,
          typename Values, typename Find, typename Load>
__device__ __forceinline__ void
reduce_window(float *row, int which, bool again, Ready ready, Offsets offsets,
              bool all, Scores scores, Values values, Find find, Load load) {
  const int thread = threadIdx.x % Shape::lanes,
            lane = which * Shape::lanes + thread,
            thread_group = threadIdx.x / Shape::lanes;
  if constexpr (Shape::thread_groups == 1) {
    ready();
    if (thread_group == 0)
      store_means<Shape>(row, lane,
                         reduce_blocks<Shape>(0, lane, offsets, all, scores,
                                              values, find, load));
  } else {
    __shared__ float sums[Shape::thread_groups][3][Shape::channels];
    if (thread_group < Shape::thread_groups) {
      const auto own =
          reduce_blocks<Shape>(thread_group * Shape::blocks, lane, offsets, all,
                               scores, values, find, load);
#pragma unroll
      for (int c = 0; c < Shape::part; ++c) {
        const int channel = Shape::channel(thread, c);
        sums[thread_group][0][channel] = own.max[c];
        sums[thread_group][1][channel] = own.sum[c];
        sums[thread_group][2][channel] = own.dot[c];
      }
    }
    ready();
    __syncthreads();
    for (int at = threadIdx.x; at < Shape::channels; at += Shape::threads) {
      WindowSums<1> level[Shape::thread_groups];
#pragma unroll
      for (int i = 0; i < Shape::thread_groups; ++i)
        level[i] = {{sums[i][0][at]}, {sums[i][1][at]}, {sums[i][2][at]}};
#pragma unroll
      for (int count = Shape::thread_groups; count > 1;
           count = (count + 1) / 2) {
#pragma unroll
        for (int i = 0; i < count / 2; ++i)
          level[i] = merge(level[2 * i], level[2 * i + 1]);
        if (count % 2 != 0)
          level[count / 2] = level[count - 1];
      }
      row[which * Shape::channels + at] =
          weighted_mean(level[0].sum[0], level[0].dot[0]);
    }
    // The sums are written again.
    if (again)
      __syncthreads();
  }
}

// From this number of rows per block on they are a grid apart, as the compiler
// maps them.
enum : int { many_windows = 4 };

// Pools part `which` of the channels of the windows of one block of members
// that exist(), at most Count. The members of a window are in flight while
// those of the window before are pooled. For two or three windows that costs
// more registers than it is worth; for one it keeps loads ahead of arithmetic.
template <typename Shape, int Count, typename Exists, typename Offsets,
          typename Body>
__device__ __forceinline__ void reduce_windows(float *rows, int row_size,
                                               Exists exists, int which,
                                               Offsets offsets, Body body) {
  constexpr int Members = Shape::members;
  using Part = typename Shape::Part;
  const int lane = which * Shape::lanes + threadIdx.x;
  if (threadIdx.x >= Shape::lanes)
    return;
  // Many windows leave no registers for the offsets of scores, so they are
  // loaded again for each. The sum waits for the scores, so it comes after the
  // arithmetic of the window before, which it would otherwise delay.
  constexpr bool again = Count >= many_windows;
  decltype(offsets(0, 0)) held[again ? 1 : Members];
  if constexpr (!again) {
#pragma unroll
    for (int i = 0; i < Members; ++i)
      held[i] = offsets(i, lane);
  }
  WindowMembers<Members, Part> next = {};
  bool bare = false;
  const auto load_window = [&](int at) {
    body(at, [&](bool all, auto scores, auto values, auto find, auto load) {
      bare = all;
      const auto load_all = [&](auto added) {
        load_members<Shape>(next, 0, lane, all, added, scores, values, find,
                            load);
      };
      if constexpr (again)
        load_all(NoOffsets());
      else
        load_all([&](int member, int) { return held[member]; });
    });
  };
  constexpr int ahead = Count == 1 || Count >= many_windows;
#pragma unroll 1
  for (int at = -ahead; at < 0 || exists(at); ++at) {
    if constexpr (Count == 1) {
      // No window follows, so one at a time is in registers.
      if (at >= 0)
        store_means<Shape>(rows, lane, reduce_members(next));
      else if (exists(0))
        load_window(0);
    } else {
      if constexpr (!ahead)
        load_window(at);
      WindowMembers<Members, Part> members = next;
      const bool lacks = again && bare;
      if (ahead && exists(at + 1))
        load_window(at + 1);
      if (at >= 0) {
        if (lacks) {
#pragma unroll
          for (int i = 0; i < Members; ++i)
            members.scores[i] = members.scores[i] + offsets(i, lane);
        }
        store_means<Shape>(rows + at * row_size, lane, reduce_members(members));
      }
    }
  }
}

// The fragment of the pooled rows that a thread holds: thread t has that of
// lane t mod Lanes of row t div Lanes.
template <typename Result, int Lanes, int Count, int Channels>
__device__ __forceinline__ Result
own_fragment(const float (&rows)[Count][Channels]) {
  Result to = {};
  if (threadIdx.x < Count * Lanes) {
    const int which = threadIdx.x / Lanes, lane = threadIdx.x % Lanes;
    constexpr int steps = Result::steps, vector = Result::vector;
#pragma unroll
    for (int s = 0; s < steps; ++s)
#pragma unroll
      for (int v = 0; v < vector; ++v)
        to[s * vector + v] = rows[which][(s * Lanes + lane) * vector + v];
  }
  return to;
}

// The first block of a cluster must have started before others write to its
// memory. All threads of the cluster make one of these, and wait before they
// write.
template <int Cluster>
struct FirstBlock {
  bool started = Cluster == 1;
  __device__ __forceinline__ FirstBlock() { cluster_arrive_relaxed<Cluster>(); }
  __device__ __forceinline__ void wait() {
    if (!started)
      cluster_wait<Cluster>();
    started = true;
  }
};

// For each row of the block from `first` on and below `rows`: the sum of the
// values of its window's members, weighted by the softmax of their scores,
// channel by channel; 0 if there is no member. body(row, window) calls
// window(all, scores, values, find, load); load_members() describes these
// functions. All threads of the cluster call this; thread t of its first block
// gets the fragment of lane t mod Lanes of row t div Lanes.
template <typename Config, typename Offsets, typename Body>
__device__ __forceinline__ typename Config::Result
window_reduce(int first, int rows, Offsets offsets, Body body) {
  using Shape = WindowShape<Config>;
  constexpr int Cluster = Config::cluster, Count = Config::rows,
                channels = Shape::all_channels;
  __shared__ float pooled[Count][channels];
  FirstBlock<Cluster> first_block;
  const auto ready = [&] { first_block.wait(); };
  const unsigned apart = Count < many_windows ? 1 : gridDim.x / Cluster;
  // One comparison for each window: a number of windows would take a register,
  // or be counted again for each.
  const auto exists = [&](int which) {
    return which < Count && first + which * apart < (unsigned)rows;
  };
  const int part = cluster_rank<Cluster>();
  if constexpr (Config::members <= 8) {
    ready();
    reduce_windows<Shape, Count>(in_first_block<Cluster>(&pooled[0][0]),
                                 channels, exists, part, offsets,
                                 [&](int which, auto window) {
                                   body((int)(first + which * apart), window);
                                 });
  } else {
#pragma unroll 1
    for (int which = 0; exists(which); ++which)
      body((int)(first + which * apart),
           [&](bool all, auto scores, auto values, auto find, auto load) {
             reduce_window<Shape>(in_first_block<Cluster>(pooled[which]), part,
                                  exists(which + 1), ready, offsets, all,
                                  scores, values, find, load);
           });
  }
  ready();
  cluster_arrive<Cluster>();
  cluster_wait<Cluster>();
  return own_fragment<typename Config::Result, Config::lanes>(pooled);
}

} // namespace dsv4
