//===- topk_rows.cuh - The best elements of rows ----------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row by one block, or by the blocks of a cluster.
//
// A row that fits is in registers, and the best are chosen from there. Of a
// longer one every block takes a part in one pass, and what can be among the best
// goes to its list of candidates. What cannot is known from a bound, at first
// guessed from a sample. A guess that was too high is noticed, and the pass
// repeated without it; where candidates outgrow the list, the best are chosen, and
// they are the bound from then on. The lists of all blocks of a row become one in
// the end.
//
//   load(column)              the Vector elements from `column` on, a multiple
//                             of Vector and less than the length; what is
//                             behind the length is ignored. Called again where
//                             an element is needed again.
//   emit(place, index, value) once for each of the places 0 .. K-1; those behind
//                             the last element get index -1 and value -inf, +inf for
//                             the smallest.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "topk.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Elements in registers
//===----------------------------------------------------------------------===//

// The vectors at `Count` columns of a row with elements; NaN where there is no
// element below `end`. All loads are on their way before one is looked at: those
// of no use are of the last vector.
template <typename Shape, int Count, typename Column, typename Load>
__device__ __forceinline__ void topk_load(float (&to)[Count * Shape::vector],
                                          Column column, int end, int length,
                                          Load load) {
  const int last = (length - 1) / Shape::vector * Shape::vector;
#pragma unroll
  for (int c = 0; c < Count; ++c) {
    const int at = column(c);
    const auto loaded = load(at < last ? at : last);
#pragma unroll
    for (int v = 0; v < Shape::vector; ++v)
      to[c * Shape::vector + v] = loaded[v];
  }
  if constexpr (!Shape::largest) {
#pragma unroll
    for (int i = 0; i < Count * Shape::vector; ++i)
      to[i] = topk_oriented<Shape>(to[i]);
  }
  if (column(Count - 1) + Shape::vector <= end)
    return;
#pragma unroll
  for (int c = 0; c < Count; ++c) {
    const int there = end - column(c);
#pragma unroll
    for (int v = 0; v < Shape::vector; ++v)
      to[c * Shape::vector + v] =
          v < there ? to[c * Shape::vector + v] : as_float(0x7FFFFFFFu);
  }
}

template <typename Shape, typename Load>
__device__ __forceinline__ void topk_load_round(float (&to)[Shape::items],
                                                int start, int end, int length,
                                                Load load) {
  topk_load<Shape, Shape::chunks>(
      to, [&](int c) { return topk_column<Shape>(start, c * Shape::vector); },
      end, length, load);
}

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

//===----------------------------------------------------------------------===//
// A row in the registers of a block
//===----------------------------------------------------------------------===//

// A number that at least `wanted` of the numbers of all threads reach, and not
// many more; a NaN where there are too few.
template <typename Shape, int Count>
__device__ __forceinline__ float topk_bound(const float (&numbers)[Count],
                                            int wanted) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    add_shared(topk_shared<Shape>().bins,
               TopkHalfBins<Shape>::bin(numbers[i]), 1);
  __syncthreads();
  const TopkBin found = topk_find_bin<Shape>((unsigned)wanted);
  return found.count != 0 && TopkHalfBins<Shape>::exact(found.bin)
             ? TopkHalfBins<Shape>::interval(found.bin).low
             : as_float(0x7FFFFFFFu);
}

// The K best of `length` elements, at most Threads * Vector * Chunks, by one
// block.
template <typename Shape, typename Load, typename Emit>
__device__ __forceinline__ void topk_block_whole(int length, Load load,
                                                 Emit emit) {
  const int wanted = length < Shape::k ? length : Shape::k;
  if (wanted > 0) {
    float values[Shape::items];
    topk_load_round<Shape>(values, 0, length, length, load);
    topk_clear<Shape>();
    __syncthreads();
    topk_choose<Shape>(
        values, Shape::items, [](int i) { return topk_column<Shape>(0, i); },
        TopkHalfBins<Shape>(), (unsigned)wanted, length,
        [&](TopkDoubt &doubt) { topk_divide<Shape>(doubt, length, values); });
  }
  topk_emit<Shape>(wanted, emit);
}

//===----------------------------------------------------------------------===//
// Lists of candidates
//===----------------------------------------------------------------------===//

// What can be among the best: in vectors that begin below `limit` numbers that are
// not below `floor`, or, with `any`, everything; in others numbers that are not
// below `above`. The list has no number below `floor`.
struct TopkBound {
  float floor, above;
  int limit;
  bool any;

  __device__ __forceinline__ static TopkBound guess(float floor) {
    const bool none = floor != floor;
    const float least = none ? as_float(0xFF800000u) : floor;
    return {least, least, topk_no_index, none};
  }
  // What is better than the element of this rank.
  __device__ __forceinline__ static TopkBound of(TopkRank reached) {
    const unsigned key = (unsigned)(reached >> topk_index_bits);
    return {topk_number(key), topk_number(key + 1),
            topk_no_index - (int)(unsigned)(reached & topk_no_index), key == 0};
  }
};

// Every so many vectors of a row are in its sample: one of 32, but of short rows
// more, and of long ones not more than there are threads.
template <typename Shape>
__device__ __forceinline__ int topk_sample_stride(int vectors) {
  const int least = (vectors + Shape::threads - 1) / Shape::threads,
            most = vectors / 256 < 32 ? vectors / 256 : 32;
  return least > most ? least : most;
}

// A bound from a sample, six standard deviations low; exact where the sample is
// the row.
template <typename Shape>
__device__ __forceinline__ TopkBound topk_guess(const float (&sample)[Shape::vector],
                                                int length, int wanted) {
  const int vectors = (length + Shape::vector - 1) / Shape::vector;
  const int stride = topk_sample_stride<Shape>(vectors);
  if (stride > 1) {
    const float mean = div_approx_f32((float)wanted, (float)stride);
    wanted = (int)(mean + 6.0f * sqrt_large_f32(mean)) + 4;
  }
  float best[1];
  topk_maxima(best, sample);
  return TopkBound::guess(topk_bound<Shape>(best, wanted));
}

// What can be among the best of a round to the list, but for lanes that `wrote`
// theirs; false where there is no room for all. By the lanes of a warp.
template <typename Shape>
__device__ __forceinline__ bool
topk_append(const float (&values)[Shape::items], int start, int end,
            const TopkBound &bound, bool &wrote) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  unsigned hits = 0;
#pragma unroll
  for (int c = 0; c < Shape::chunks; ++c) {
    const int column = topk_column<Shape>(start, c * Shape::vector);
    const float least = column < bound.limit ? bound.floor : bound.above;
#pragma unroll
    for (int i = c * Shape::vector; i < (c + 1) * Shape::vector; ++i)
      hits |= values[i] >= least ? 1u << i : 0;
  }
  if (bound.any) {
    const int limit = bound.limit < end ? bound.limit : end;
#pragma unroll
    for (int c = 0; c < Shape::chunks; ++c) {
      const int there = limit - topk_column<Shape>(start, c * Shape::vector);
      hits |= (there <= 0               ? 0
               : there < Shape::vector ? (1u << there) - 1
                                       : (1u << Shape::vector) - 1)
              << c * Shape::vector;
    }
  }
  const unsigned own = wrote ? 0 : __popc(hits);
  unsigned place = 0;
  if (own)
    place = fetch_add_shared(&shared.taken, own);
  wrote = place + own <= Shape::capacity;
  // Who comes later finds no place either: what is in front is written.
  if (!wrote)
    atomicMin(&shared.end, place);
  if (own == 0 || !wrote)
    hits = 0;
  if (!__any_sync(0xFFFFFFFFu, hits != 0))
    return __all_sync(0xFFFFFFFFu, wrote);
#pragma unroll
  for (int i = 0; i < Shape::items; ++i)
    append_shared_8(hits, i, shared.list, place,
                    (unsigned)topk_column<Shape>(start, i),
                    as_unsigned(values[i]));
  return __all_sync(0xFFFFFFFFu, wrote);
}

// What is above the doubt, or all that is not below it, to the front of the list,
// the rest of it to the few. What is at the front already stays: others take the
// places of those that do not belong there.
template <typename Shape>
__device__ __forceinline__ void topk_part(const TopkDoubt &doubt, int count,
                                          int wanted) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  const bool all = doubt.rest == doubt.inside;
  const TopkRank least = all ? doubt.low : doubt.high + 1;
  const int front = all ? wanted : wanted - (int)doubt.rest;
#pragma unroll 1
  for (int at = threadIdx.x; at < front; at += Shape::threads) {
    const TopkEntry entry = shared.list[at];
    const TopkRank rank = topk_rank(entry);
    if (rank < least) {
      const bool few = rank >= doubt.low;
      const unsigned to =
          fetch_add_shared(&shared.placed, few ? 0x10001u : 1u);
      shared.bins[to & 0xFFFFu] = at + 1;
      if (few)
        shared.list[Shape::capacity + (to >> 16)] = entry;
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int at = front + threadIdx.x; at < count; at += Shape::threads) {
    const TopkEntry entry = shared.list[at];
    const TopkRank rank = topk_rank(entry);
    if (rank >= least) {
      const unsigned to = fetch_add_shared(&shared.moved, 1);
      // None is left for one element that is there more than once.
      const unsigned place =
          to < sizeof(shared.bins) / sizeof(unsigned) ? shared.bins[to] : 0;
      if (place != 0) {
        shared.list[place - 1] = entry;
        shared.bins[to] = 0;
      }
    } else if (rank >= doubt.low) {
      const unsigned to = fetch_add_shared(&shared.placed, 0x10000u);
      shared.list[Shape::capacity + (to >> 16)] = entry;
    }
  }
}

// The same where what is in doubt is too much of the first `count` entries: it shrinks
// to one bin of ranks after the other, until few are left, or as many as are sought.
// Rare, so it is short, and apart from what is often.
template <typename Shape>
__device__ __noinline__ TopkDoubt topk_divide_list(TopkDoubt doubt, int count,
                                                   int wanted) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
#pragma unroll 1
  do {
    const int shift = doubt.shift(Shape::bins_log2);
#pragma unroll 1
    for (int at = threadIdx.x; at < count; at += Shape::threads) {
      const TopkRank rank = topk_rank(shared.list[at]);
      if (rank >= doubt.low && rank <= doubt.high)
        add_shared(shared.bins, (unsigned)((doubt.high - rank) >> shift), 1);
    }
    __syncthreads();
    doubt.shrink(topk_find_bin<Shape>(doubt.rest), shift);
  } while (doubt.inside > Shape::few && doubt.inside != doubt.rest &&
           doubt.low != doubt.high);
  // One element that is there more than once, as in memory that was to be zero
  // and was not, cannot be divided.
  if (doubt.inside > Shape::few)
    doubt.inside = doubt.rest;
  topk_part<Shape>(doubt, count, wanted);
  return doubt;
}

// The `wanted` best of the first `count` entries of the list to its front, and
// what can still be among them.
template <typename Shape>
__device__ __forceinline__ TopkBound topk_reduce(int count, int wanted,
                                                 const TopkBound &bound,
                                                 int length) {
  TopkEntry *list = topk_shared<Shape>().list;
  float values[Shape::entries];
  int indices[Shape::entries];
#pragma unroll
  for (int i = 0; i < Shape::entries; ++i) {
    const int at = i * Shape::threads + threadIdx.x;
    const TopkEntry entry =
        at < count ? list[at] : topk_entry(as_float(0x7FFFFFFFu), 0);
    values[i] = topk_value(entry);
    indices[i] = topk_index(entry);
  }
  const int items = (count + Shape::threads - 1) / Shape::threads;
  return TopkBound::of(topk_choose<Shape>(
      values, items, [&](int i) { return indices[i]; },
      TopkOctaveBins{bound.floor, !bound.any, items * Shape::threads - count},
      (unsigned)wanted, length, [&](TopkDoubt &doubt) {
        doubt = topk_divide_list<Shape>(doubt, count, wanted);
      }));
}

//===----------------------------------------------------------------------===//
// Who works on a row
//===----------------------------------------------------------------------===//

// What a block does when its list holds all it has found.
enum class TopkNext {
  repeat, // without the guess
  reduce, // to the best, because lists together are too long
  merge,  // the lists of the other blocks into this one
  finish, // the output
  leave   // another block does the rest
};

struct TopkRange {
  int begin, end;
};

// Parts `first` to `end` - 1 of `parts` of a row.
template <typename Shape>
__device__ __forceinline__ TopkRange topk_range(int first, int end, int parts,
                                                int length) {
  // Parts begin at whole lines of memory, where rows do.
  constexpr int piece = 32 * Shape::vector;
  const int pieces = (length + piece - 1) / piece;
  const int each = (pieces + parts - 1) / parts * piece;
  return {first * each < length ? first * each : length,
          end * each < length ? end * each : length};
}

// One block.
template <typename Shape> struct TopkAlone {
  __device__ __forceinline__ TopkRange range(int length) const {
    return {0, length};
  }
  __device__ __forceinline__ TopkNext next(int count, int wanted, bool any) {
    return count < wanted && !any ? TopkNext::repeat : TopkNext::finish;
  }
  // Of the lists to merge, one behind the other: where those of other blocks
  // begin, where they end, and what can be among the best of them behind the first
  // `count` of this block's list. Whether that is all of it.
  __device__ __forceinline__ int begin() const { return 0; }
  __device__ __forceinline__ int end() const { return 0; }
  __device__ __forceinline__ bool copies_all(const TopkBound &) const {
    return true;
  }
  __device__ __forceinline__ void copy(int, const TopkBound &, int, int) const {}
  // The other blocks are no longer needed; and the end of this one.
  __device__ __forceinline__ void release() {}
  __device__ __forceinline__ void close() {}
};

//===----------------------------------------------------------------------===//
// Rows in passes
//===----------------------------------------------------------------------===//

template <typename Shape, typename Group, typename Load, typename Emit>
__device__ __forceinline__ void topk_row(Group &group, int length, Load load,
                                         Emit emit) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  const int wanted = length < Shape::k ? length : Shape::k;
  TopkRange range = group.range(length);
  float values[Shape::items];
  TopkBound bound;
  if constexpr (Shape::read == TopkRead::sample) {
    // All loads are on their way before one is looked at.
    float sample[Shape::vector];
    topk_load<Shape, 1>(
        sample,
        [&](int) {
          const int vectors = (length + Shape::vector - 1) / Shape::vector;
          const int vector =
              topk_sample_stride<Shape>(vectors) * (int)threadIdx.x;
          return vector < vectors ? vector * Shape::vector : length;
        },
        length, length, load);
    topk_load_round<Shape>(values, range.begin, range.end, length, load);
    topk_clear<Shape>();
    __syncthreads();
    bound = topk_guess<Shape>(sample, length, wanted);
  } else {
    topk_load_round<Shape>(values, range.begin, range.end, length, load);
    topk_clear<Shape>();
    __syncthreads();
    float maxima[Shape::groups];
    topk_maxima(maxima, values);
    bound = TopkBound::guess(topk_bound<Shape>(maxima, wanted));
  }

  int start = range.begin, from = 0, count = 0;
  bool merging = false, loaded = true, wrote = false;
#pragma unroll 1
  for (;;) {
    // Warps go on by themselves until they are through or find no room.
#pragma unroll 1
    for (; start < range.end; start += Shape::round) {
      if (!loaded)
        topk_load_round<Shape>(values, start, range.end, length, load);
      loaded = !topk_append<Shape>(values, start, range.end, bound, wrote);
      if (loaded)
        break;
      wrote = false;
    }
    bool more = __syncthreads_or(start < range.end);
    // While lists are merged all know it, and those ahead change what is in memory.
    if (!merging)
      count = (int)(shared.taken < shared.end ? shared.taken : shared.end);
    TopkNext next = TopkNext::reduce;
    // Whether all may still be reading how many there are.
    bool counted = false;
    if (!more && !merging) {
      next = group.next(count, wanted, bound.any);
      from = group.begin();
      merging = next == TopkNext::merge;
    }
    if (next == TopkNext::leave)
      break;
    if (merging) {
      const int room = Shape::capacity - count, left = group.end() - from;
      const int taken = left < room ? left : room;
      group.copy(count, bound, from, from + taken);
      __syncthreads();
      counted = !group.copies_all(bound) && (int)shared.taken <= wanted;
      count = group.copies_all(bound) ? count + taken : (int)shared.taken;
      from += taken;
      next = from < group.end() ? TopkNext::reduce : TopkNext::finish;
      if (next == TopkNext::finish)
        group.release();
    }
    if (next == TopkNext::repeat) {
      bound = TopkBound::guess(as_float(0x7FFFFFFFu));
      range = group.range(length);
      start = range.begin;
      count = 0;
      loaded = wrote = false;
      __syncthreads();
    } else if (count > wanted) {
      bound = topk_reduce<Shape>(count, wanted, bound, length);
      count = wanted;
    }
    if (next == TopkNext::finish) {
      topk_emit<Shape>(count, emit);
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

// The K best of `length` elements by one block.
template <typename Shape, typename Load, typename Emit>
__device__ __forceinline__ void topk_block(int length, Load load, Emit emit) {
  if constexpr (Shape::read == TopkRead::whole) {
    topk_block_whole<Shape>(length, load, emit);
  } else {
    TopkAlone<Shape> group;
    if (length > 0)
      topk_row<Shape>(group, length, load, emit);
    else
      topk_emit<Shape>(0, emit);
  }
}

} // namespace dsv4
