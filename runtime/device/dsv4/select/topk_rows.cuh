//===- topk_rows.cuh - The best elements of rows ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row by one block, or by the blocks of a cluster.
//
// A row that fits is held in registers, and the best are chosen there. Every
// block reads its part of a longer row in one pass, and appends candidates to
// its list. A bound excludes the others; it is first guessed from a sample. If
// the guess was too high, the pass is repeated without it. If candidates
// outgrow the list, the list is reduced to the best, which are the bound from
// then on. In the end the lists of all blocks of a row are joined.
//
//   load(column)              the vector of elements from `column` on, which is
//                             a multiple of its extent and less than the
//                             length; elements after the length are ignored.
//                             Called again if an element is needed again.
//   head                      the elements before the first one, if the row
//                             begins within a vector; their number is below
//                             that of a vector's elements. They belong to the
//                             length, and are not selected.
//   emit(slot, index, value)  called once for each of the slots 0 .. k-1. Slots
//                             after the last element get index -1 and value
//                             -inf, +inf for the smallest.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_list.cuh"
#include "select/topk_load.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// A row in the registers of a block
//===----------------------------------------------------------------------===//

// Divides the bin of the last of the best: first to the range of its keys, then
// to one bin of ranks after the other, until few elements are left, or as many
// as are sought. Better elements go to the list, and the rest after them. Rare,
// so in a loop, with values that are read again by number.
template <typename Shape>
__device__ __forceinline__ void topk_divide(float (&values)[Shape::items],
                                            TopkBin &found, unsigned &rest,
                                            int length, int head) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  // Elements of a thread that one iteration reads.
  constexpr int at_once = Shape::items % 2 ? 1 : 2;
  enum { tighten, count, slot } step = tighten;
  const unsigned outer = found.bin, begin = found.before, sought = rest;
  // The range of the ranks in doubt: the best, and its width.
  TopkRank high = 0, width = 0;
  int shift = 0;
#pragma unroll 1
  for (;;) {
    topk_clear_bins<Shape>();
    if (threadIdx.x == 0)
      shared.taken = shared.end = 0;
    __syncthreads();
    unsigned lowest = 0xFFFFFFFFu, highest = 0;
#pragma unroll 1
    for (int i = 0; i < Shape::items; i += at_once) {
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int column = topk_column<Shape>(0, i + j);
        const float value = values[j];
        if (TopkHalfBins<Shape>::bin(value) != outer || column >= length ||
            (Shape::has_head && column < head))
          continue;
        const unsigned key = topk_key(value);
        // Below 0 for better elements.
        const long long distance =
            (long long)(high - ((TopkRank)key << Shape::round_log2)) +
            topk_position<Shape::ties_high>(column, Shape::round);
        if (step == tighten) {
          lowest = key < lowest ? key : lowest;
          highest = key > highest ? key : highest;
        } else if (step == count) {
          if (distance >= 0 && distance < (long long)width)
            add_shared(shared.bins, (unsigned)(distance >> shift), 1);
        } else if (distance < (long long)width) {
          const unsigned to =
              distance < 0
                  ? begin + fetch_add_shared(&shared.taken, 0, 1)
                  : begin + sought - rest + fetch_add_shared(&shared.end, 0, 1);
          shared.list[to] = topk_entry(value, column);
        }
      }
      topk_rotate<at_once>(values);
    }
    if (step == tighten)
      topk_span(shared, lowest, highest);
    __syncthreads();
    if (step == slot)
      break;
    if (step == tighten) {
      high = (TopkRank)shared.highest << Shape::round_log2;
      width =
          high - ((TopkRank)shared.lowest << Shape::round_log2) + Shape::round;
      step = count;
    } else {
      found = topk_find_bin<Shape>(rest);
      rest -= found.before;
      high -= (TopkRank)found.bin << shift;
      width = (TopkRank)1 << shift;
      if (found.count <= Shape::few || found.count == rest)
        step = slot;
    }
    const int bits = 64 - __clzll((long long)(width - 1));
    shift = bits > Shape::bins_log2 ? bits - Shape::bins_log2 : 0;
  }
}

// Selects the k best of `length` elements, at most Shape::round, by one block.
template <typename Shape, typename Load, typename Emit>
__device__ __forceinline__ void topk_block_whole(int length, int head,
                                                 Load load, Emit emit) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  typedef TopkHalfBins<Shape> Bins;
  const int count = length - head;
  const unsigned wanted = count < Shape::k ? count : Shape::k;
  if (count > 0) {
    float values[Shape::items];
    topk_load_first<Shape, Shape::has_head>(values, 0, length, length, head,
                                            load);
    unsigned bins[Shape::items];
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      bins[i] = Bins::bin(values[i]);
      add_shared(shared.bins, bins[i], 1);
    }
    __syncthreads();
    TopkBin found = topk_find_bin<Shape>(wanted);
    unsigned rest = wanted - found.before;
    // Missing elements are with NaN.
    const bool divided = found.bin <= Bins::last &&
                         (found.count <= Shape::few || found.count == rest);
#pragma unroll
    for (int i = 0; i < Shape::items; ++i)
      place_shared_8(shared.list, shared.bins, bins[i], found.bin + divided,
                     (unsigned)topk_column<Shape>(0, i),
                     as_unsigned(values[i]));
    __syncthreads();
    if (!divided)
      topk_divide<Shape>(values, found, rest, length, head);
    if (found.count != rest)
      topk_rank_few<Shape>(wanted - rest, found.count, rest);
  }
  topk_emit<Shape>((int)wanted, count <= Shape::k, head, emit);
}

//===----------------------------------------------------------------------===//
// The blocks of a row
//===----------------------------------------------------------------------===//

// The next step of a block when its list holds all candidates it has found.
enum class TopkNext {
  repeat, // without the guess
  reduce, // to the best, because lists together are too long
  merge,  // the lists of the other blocks into this one
  finish, // the output
  leave   // another block does the rest
};

// One block.
template <typename Shape>
struct TopkAlone {
  // Whether elements of the first round may wait in registers for a barrier.
  static constexpr bool has_registers = true;
  __device__ __forceinline__ TopkRange range(int length) const {
    return {0, length};
  }
  __device__ __forceinline__ TopkNext next(int count, int wanted, bool any) {
    return count < wanted && !any ? TopkNext::repeat : TopkNext::finish;
  }
  // The lists to merge, one after the other: the begin and end of those of
  // other blocks, and a copy of their entries after the first `count` of this
  // block's list; only of candidates, if the block chooses.
  __device__ __forceinline__ int begin() const { return 0; }
  __device__ __forceinline__ int end() const { return 0; }
  __device__ __forceinline__ bool chooses(bool) const { return false; }
  __device__ __forceinline__ void copy(int, const TopkBound &, bool, int,
                                       int) const {}
  // Called when the other blocks are no longer needed, and at the end of this
  // one.
  __device__ __forceinline__ void release() {}
  __device__ __forceinline__ void close() {}
};

//===----------------------------------------------------------------------===//
// Rows in passes
//===----------------------------------------------------------------------===//

// The state of a row before its first round: a bound. If too many of a sample
// reach it, also the number that should, and the number of entries of the list,
// which is the sample.
struct TopkStart {
  TopkBound bound;
  int goal, count;
};

// The largest numbers of `Groups` groups of a thread's elements.
template <int Groups, int Items>
__device__ __forceinline__ void topk_maxima(float (&to)[Groups],
                                            const float (&values)[Items]) {
#pragma unroll
  for (int g = 0; g < Groups; ++g) {
    to[g] = values[g * (Items / Groups)];
#pragma unroll
    for (int i = 1; i < Items / Groups; ++i)
      to[g] = max_f32(to[g], values[g * (Items / Groups) + i]);
  }
}

// Loads the first round, too, so that all loads are in flight before one is
// used. `Late` leaves elements out after the barrier, as topk_load_first()
// says.
template <typename Shape, bool Late, typename Load>
__device__ __forceinline__ TopkStart topk_start(float (&values)[Shape::items],
                                                TopkRange range, int length,
                                                int head, int wanted,
                                                Load load) {
  TopkStart to = {{}, wanted, 0};
  bool crowded;
  if constexpr (Shape::read == TopkRead::sample) {
    constexpr int each = Shape::vector < 4 ? Shape::vector : 4;
    static_assert(each * Shape::threads <= Shape::capacity,
                  "room for a sample");
    const int vectors = (length + Shape::vector - 1) / Shape::vector;
    const int stride = topk_sample_stride<Shape>(vectors);
    const int vector = stride * (int)threadIdx.x;
    const int column = vector < vectors ? vector * Shape::vector : length;
    float loaded[Shape::vector], sample[each];
    auto sampled = [&](int) { return column; };
    topk_load_all<Shape, 1>(loaded, sampled, length, load);
    if constexpr (!Late)
      topk_leave_out<Shape, 1>(loaded, sampled, length, head);
    topk_load_first<Shape, Late>(values, range.begin, range.end, length, head,
                                 load);
    if constexpr (Late)
      topk_leave_out<Shape, 1>(loaded, sampled, length, head);
#pragma unroll
    for (int i = 0; i < each; ++i)
      sample[i] = loaded[i];
    const int goal =
        topk_wanted_of_sample(stride * (Shape::vector / each), wanted);
    to.bound = TopkBound::guess<Shape::ties_high>(
        topk_bound<Shape>(sample, goal, crowded));
    if (crowded) {
#pragma unroll
      for (int i = 0; i < each; ++i)
        topk_shared<Shape>().list[i * Shape::threads + threadIdx.x] =
            topk_entry(sample[i], column + i);
      to.goal = goal;
      to.count = each * Shape::threads;
    }
  } else {
    topk_load_first<Shape, Late>(values, range.begin, range.end, length, head,
                                 load);
    float maxima[Shape::groups];
    topk_maxima(maxima, values);
    to.bound = TopkBound::guess<Shape::ties_high>(
        topk_bound<Shape>(maxima, wanted, crowded));
  }
  return to;
}

// One long function: a machine with few states, which share the elements in
// registers.
template <typename Shape, typename Group, typename Load, typename Emit>
__device__ __forceinline__ void topk_row(Group &group, int length, int head,
                                         Load load, Emit emit) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  const int wanted = length - head < Shape::k ? length - head : Shape::k;
  float values[Shape::items];
  int start, end;
  TopkStart begin;
  {
    const TopkRange range = group.range(length);
    constexpr bool late = Shape::has_head && Group::has_registers;
    begin = topk_start<Shape, late>(values, range, length, head, wanted, load);
    start = begin.count > 0 ? range.end : range.begin;
    end = range.end;
  }
  TopkBound bound = begin.bound;
  // The length of the list, and the length that it is reduced to.
  int count = begin.count, goal = begin.goal;
  // Whether the list is the sample, and whether the bound is that of a reduced
  // list.
  bool crowded = count > 0, narrowed = false;
  int from = 0;
  bool merging = false, loaded = true, wrote = false;
#pragma unroll 1
  for (;;) {
    // Warps continue on their own until they are done or find no room.
#pragma unroll 1
    for (; start < end; start += Shape::round) {
      if (!loaded)
        topk_load_round<Shape>(values, start, end, length, head, load);
      loaded = !topk_append<Shape>(values, start, end, head, bound, wrote);
      if (loaded)
        break;
      wrote = false;
    }
    const bool more = __syncthreads_or(start < end) || crowded;
    // While lists are merged all threads know the length, and threads ahead
    // change it in memory.
    if (!merging && !crowded)
      count = (int)(shared.taken < shared.end ? shared.taken : shared.end);
    TopkNext next = TopkNext::reduce;
    // Whether threads may still be reading the number of entries.
    bool counted = false;
    if (!more && !merging) {
      next = group.next(count, wanted, bound.any());
      from = group.begin();
      merging = next == TopkNext::merge;
    }
    if (next == TopkNext::leave)
      break;
    if (merging) {
      const int room = Shape::capacity - count, left = group.end() - from;
      const int taken = left < room ? left : room;
      const bool chooses = group.chooses(narrowed);
      group.copy(count, bound, chooses, from, from + taken);
      __syncthreads();
      counted = chooses && (int)shared.taken <= wanted;
      count = chooses ? (int)shared.taken : count + taken;
      from += taken;
      next = from < group.end() ? TopkNext::reduce : TopkNext::finish;
      if (next == TopkNext::finish)
        group.release();
    }
    if (next == TopkNext::repeat) {
      bound = TopkBound::guess<Shape::ties_high>(as_float(0x7FFFFFFFu));
      const TopkRange range = group.range(length);
      start = range.begin;
      end = range.end;
      count = 0;
      loaded = wrote = narrowed = false;
      __syncthreads();
    } else if (count > goal) {
      bound = topk_reduce<Shape>(count, goal, length);
      count = goal;
      narrowed = !crowded;
    }
    if (crowded) {
      // From the beginning; the first round is still in registers.
      crowded = false;
      start = group.range(length).begin;
      count = 0;
      goal = wanted;
    }
    if (next == TopkNext::finish) {
      topk_emit<Shape>(count, count == length - head, head, emit);
      break;
    }
    if (threadIdx.x == 0 && !counted) {
      shared.taken = count;
      shared.end = Shape::capacity;
    }
    __syncthreads();
  }
  group.close();
}

// Selects the k best of `length` elements, without the head, by one block.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_block(int length, int head, Load load,
                                           Emit emit) {
  using Shape = TopkShape<Config>;
  if constexpr (Shape::read == TopkRead::whole) {
    topk_block_whole<Shape>(length, head, load, emit);
  } else {
    TopkAlone<Shape> group;
    if (length > head)
      topk_row<Shape>(group, length, head, load, emit);
    else
      topk_emit<Shape>(0, true, head, emit);
  }
}

// Selects the k best of `length` elements by one block.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_block(int length, Load load, Emit emit) {
  topk_block<Config>(length, 0, load, emit);
}

} // namespace dsv4
