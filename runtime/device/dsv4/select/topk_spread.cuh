//===- topk_spread.cuh - Rows in the registers of a cluster -----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row by the 2 to 16 blocks of a cluster (more than 8 need the attribute for
// clusters of non-portable size), each of which has a part of it in registers.
// All count their elements in bins. Every block adds up the bins of all blocks,
// first for groups of bins, then for the bins of one group. It then knows the
// bin of the last of the best, and the slots of its own elements in the list of
// the first block. That bin is divided further until few elements are left,
// which the first block ranks. A row that the registers of one block hold is
// that block's alone, because blocks wait longer for each other than they save,
// unless parts are given.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_rows.cuh"

namespace dsv4 {

// Sums over blocks: over all, and over those before this one.
template <typename Word>
struct TopkSums {
  Word all, front;
};

struct TopkSpreadShared {
  TopkSums<unsigned> groups[32];
  TopkSums<unsigned long long> pairs[32];
};

// How the blocks of a cluster are read: by one warp, or by one warp per four
// blocks.
template <typename Shape, int Size>
struct TopkMergeWarps {
  enum : int {
    each = Size <= 8 || Shape::threads < 128 ? Size : 4,
    warps = (Size + each - 1) / each
  };
};

// Adds to a sum that all reading warps share, which begins at zero. A word of
// 64 bits is two counts of elements, which have no carry.
template <typename Word>
__device__ __forceinline__ void topk_add_sums(TopkSums<Word> &sums,
                                              const TopkSums<Word> &own) {
  unsigned *words = (unsigned *)&sums;
  constexpr int each = sizeof(Word) / 4;
#pragma unroll
  for (int i = 0; i < each; ++i) {
    add_shared(words, i, (unsigned)(own.all >> (32 * i)));
    add_shared(words, each + i, (unsigned)(own.front >> (32 * i)));
  }
}

// The sums of `load(block)` of every lane, for the reading warps; all threads
// take part.
template <typename Shape, int Size, typename Word, typename Load>
__device__ __forceinline__ TopkSums<Word>
topk_sums(TopkSums<Word> (&shared)[32], Load load) {
  typedef TopkMergeWarps<Shape, Size> MergeWarps;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  TopkSums<Word> sums = {0, 0};
  const int from = warp * MergeWarps::each, front = cluster_rank<Size>() - from;
  if (warp < MergeWarps::warps) {
#pragma unroll
    for (int i = 0; i < MergeWarps::each; ++i) {
      const bool is_there = Size % MergeWarps::each == 0 || from + i < Size;
      const Word there = is_there ? load(from + i) : 0;
      sums.all += there;
      sums.front += i < front ? there : 0;
    }
    if constexpr (MergeWarps::warps > 1)
      topk_add_sums(shared[lane], sums);
  }
  if constexpr (MergeWarps::warps > 1) {
    __syncthreads();
    sums = shared[lane];
  }
  return sums;
}

// The bin of the `rank`-th element of all blocks, counted from 1. Afterwards
// next[0] is the first slot for this block's elements of better bins, and
// next[1] for those of this bin.
template <typename Shape, int Size>
__device__ __forceinline__ TopkBin topk_find_spread(unsigned rank) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  __shared__ TopkSpreadShared spread;
  constexpr int warps = Shape::threads / 32;
  static_assert(Shape::bins == 32 * 64, "32 groups, of two bins for each lane");
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (TopkMergeWarps<Shape, Size>::warps > 1 && warp == 0) {
    spread.groups[lane] = {0, 0};
    spread.pairs[lane] = {0, 0};
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 32 / warps; ++i) {
    const int group = i * warps + warp;
    const unsigned *bins = shared.bins + group * 64 + lane * 2;
    const unsigned sum = __reduce_add_sync(0xFFFFFFFFu, bins[0] + bins[1]);
    if (lane == 0)
      shared.warps[group] = sum;
  }
  cluster_arrive_own<Size>();
  cluster_wait<Size>();

  const auto groups =
      topk_sums<Shape, Size, unsigned>(spread.groups, [&](int block) {
        return ld_cluster_4(&shared.warps[lane], block);
      });
  unsigned before = 0, front = 0;
  int bin = 0;
  if (warp < TopkMergeWarps<Shape, Size>::warps) {
    const unsigned up_to = sum_up_to_lane(groups.all);
    const int group = __ffs((int)__ballot_sync(0xFFFFFFFFu, up_to >= rank)) - 1;
    before = __shfl_sync(0xFFFFFFFFu, up_to - groups.all, group);
    front = __reduce_add_sync(0xFFFFFFFFu, lane < group ? groups.front : 0);
    bin = group * 64 + lane * 2;
  }
  const auto pairs =
      topk_sums<Shape, Size, unsigned long long>(spread.pairs, [&](int block) {
        return ld_cluster_8(&shared.bins[bin], block);
      });
  if (warp == 0) {
    const unsigned one = (unsigned)pairs.all, two = (unsigned)(pairs.all >> 32),
                   front_one = (unsigned)pairs.front,
                   front_two = (unsigned)(pairs.front >> 32);
    const unsigned up_to = before + sum_up_to_lane(one + two);
    const int which = __ffs((int)__ballot_sync(0xFFFFFFFFu, up_to >= rank)) - 1;
    front += __reduce_add_sync(0xFFFFFFFFu,
                               lane < which ? front_one + front_two : 0);
    if (lane == which) {
      before = up_to - one - two;
      const bool second = before + one < rank;
      const unsigned start = second ? before + one : before;
      shared.found = {(unsigned)bin + second, start, second ? two : one};
      shared.next[0] = second ? front + front_one : front;
      shared.next[1] = start + (second ? front_two : front_one);
    }
  }
  __syncthreads();
  return shared.found;
}

// The smallest and the largest word of all blocks.
template <typename Shape, int Size>
__device__ __forceinline__ void topk_span_spread(unsigned &lowest,
                                                 unsigned &highest) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  topk_span(shared, lowest, highest);
  cluster_arrive_own<Size>();
  cluster_wait<Size>();
  const int block = threadIdx.x % Size;
  lowest = __reduce_min_sync(0xFFFFFFFFu, ld_cluster_4(&shared.lowest, block));
  highest =
      __reduce_max_sync(0xFFFFFFFFu, ld_cluster_4(&shared.highest, block));
}

// Which part of a row a block has: an equal one of a row that is too long for
// the registers of one block, or a given one of any row.
struct TopkEqualParts {
  static constexpr bool are_equal = true;
};
struct TopkGivenPart {
  static constexpr bool are_equal = false;
  TopkRange range;
};

// Selects the k best of `length` elements, without the head, at most as many as
// the blocks of a cluster hold in registers, by these blocks. One long
// function: its phases share the elements in registers, which a call would have
// to pass by reference.
template <typename Config, typename Load, typename Emit,
          typename Part = TopkEqualParts>
__device__ __forceinline__ void topk_spread(int length, int head, Load load,
                                            Emit emit, Part part = {}) {
  static_assert(Config::read == TopkRead::whole && Config::cluster >= 2 &&
                    Config::cluster <= 16,
                "a row in the registers of 2 to 16 blocks");
  using Shape = TopkShape<Config>;
  constexpr int Size = Config::cluster;
  if (Part::are_equal && length <= Shape::round) {
    if (cluster_rank<Size>() == 0)
      topk_block_whole<Shape>(length, head, load, emit);
    return;
  }
  typedef TopkHalfBins<Shape> Halves;
  TopkShared<Shape> &shared = topk_shared<Shape>();
  constexpr int items = Shape::items;
  const int wanted = length - head < Shape::k ? length - head : Shape::k;
  TopkBin found = {};
  // The number of elements with slots, and of those sought among the elements
  // in doubt.
  unsigned placed = 0, rest = wanted;
  if (length > head) {
    TopkRange range;
    if constexpr (Part::are_equal)
      range = topk_range<Shape>(cluster_rank<Size>(), Size, length);
    else
      range = part.range;
    float values[items];
    topk_load_first<Shape, true>(values, range.begin, range.end, length, head,
                                 load);

    enum : unsigned { none = 0xFFFFFFFFu };
    unsigned bins[items];
    // First by f16. Then the elements in doubt are divided by the range of
    // their keys, again and again, and by index, too, as soon as 32 bits are
    // enough for both.
    enum { halves, span, words } step = halves;
    constexpr int index_bits = ceil_log2(Size * Shape::round);
    bool by_index = false;
    // Smaller if the last of the best is too large for f16.
    float scale = 1.0f;
    unsigned best = 0;
    int shift = 0;
#pragma unroll 1
    for (;;) {
      if (step == halves) {
#pragma unroll
        for (int i = 0; i < items; ++i) {
          bins[i] = Halves::bin(mul_f32(values[i], scale));
          add_shared(shared.bins, bins[i], 1);
        }
      } else {
        // Rare, so in a loop over the first few, which then go after the
        // others. More at a time take longer to compile.
        constexpr int few = items > 8 && items % 4 == 0 ? 4 : 1;
        unsigned lowest = none, highest = 0;
#pragma unroll 1
        for (int i = 0; i < items; i += few) {
#pragma unroll
          for (int j = 0; j < few; ++j) {
            const int column = topk_column<Shape>(range.begin, i + j);
            // Missing elements are with NaN.
            if (bins[j] != found.bin || column >= range.end ||
                (Shape::has_head && column < head)) {
              bins[j] = none;
              continue;
            }
            const unsigned key = topk_key(values[j]);
            const unsigned position = (unsigned)topk_position<Shape::ties_high>(
                column, Size * Shape::round);
            const unsigned word =
                by_index ? (key << index_bits) - position : key;
            if (step == span) {
              lowest = word < lowest ? word : lowest;
              highest = word > highest ? word : highest;
            } else {
              bins[j] = (best - word) >> shift;
              add_shared(shared.bins, bins[j], 1);
            }
          }
          topk_rotate<few>(values);
          topk_rotate<few>(bins);
        }
        if (step == span) {
          topk_span_spread<Shape, Size>(lowest, highest);
          const int key_bits = 32 - __clz((int)(highest - lowest));
          by_index = key_bits + index_bits <= 32;
          const int bits = by_index ? key_bits + index_bits : key_bits;
          best = by_index ? highest << index_bits : highest;
          shift = bits > Shape::bins_log2 ? bits - Shape::bins_log2 : 0;
          step = words;
          continue;
        }
      }
      found = topk_find_spread<Shape, Size>(rest);
      if (step == halves && found.bin == 0 && scale == 1.0f &&
          found.count != rest && found.count > Shape::few) {
        scale = 1.0f / 65536;
        // The other blocks have read the bins.
        cluster_arrive_relaxed<Size>();
        cluster_wait<Size>();
        topk_clear<Shape>();
        __syncthreads();
        continue;
      }
      rest -= found.before;
      const bool last = (found.count <= Shape::few || found.count == rest) &&
                        (step != halves || found.bin <= Halves::last);
#pragma unroll
      for (int i = 0; i < items; ++i)
        place_cluster_8(shared.list + placed, shared.next, bins[i], found.bin,
                        found.bin + last,
                        (unsigned)topk_column<Shape>(range.begin, i),
                        as_unsigned(values[i]));
      placed += found.before;
      // For the list, and for bins that others have read and that are cleared
      // next.
      cluster_arrive<Size>();
      cluster_wait<Size>();
      if (last)
        break;
      topk_clear<Shape>();
      // Words with an index continue with their remaining bits. For keys alone
      // the next span gives the range.
      best -= found.bin << shift;
      shift = shift > Shape::bins_log2 ? shift - Shape::bins_log2 : 0;
      step = by_index ? words : span;
      __syncthreads();
    }
  }
  // The other blocks need not wait: no block reads their memory any more.
  if (cluster_rank<Size>() != 0)
    return;
  if (found.count != rest)
    topk_rank_few<Shape>(placed, found.count, rest);
  // Rows that may be whole went to one block above. A comparison here keeps the
  // length alive, which makes 16 rows of 65,536 2 % slower.
  constexpr bool are_longer =
      Part::are_equal && Shape::round - Shape::vector >= Shape::k;
  topk_emit<Shape>(wanted, !are_longer && length - head <= Shape::k, head,
                   emit);
}

// Selects the k best of `length` elements in the same way.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_spread(int length, Load load, Emit emit) {
  topk_spread<Config>(length, 0, load, emit);
}

} // namespace dsv4
