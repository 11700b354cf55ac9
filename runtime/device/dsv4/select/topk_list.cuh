//===- topk_list.cuh - Candidates of long rows ------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a block on a row that is longer than its registers: a bound of
// the best elements, and a list of candidates in shared memory, which is
// reduced when it is full.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Lists of candidates
//===----------------------------------------------------------------------===//

// A bound of the best elements. In segments that begin below `limit`,
// candidates are numbers that are not below `floor`, or, with `any`, all
// elements; in other segments, numbers that are not below `above`. The list has
// no number below `floor`. With `ties_high` it is segments that end above
// `limit`.
struct TopkBound {
  float floor, above;
  int limit;

  // Whether all elements on that side of `limit` are candidates, NaN too: if
  // the floor is a NaN, which no number reaches. So it needs no register.
  __device__ __forceinline__ bool any() const { return floor != floor; }

  // The lowest number that is a candidate in the `count` elements from `column`
  // on.
  template <bool TiesHigh>
  __device__ __forceinline__ float lowest(int column, int count) const {
    return (TiesHigh ? column + count - 1 > limit : column < limit) ? floor
                                                                    : above;
  }

  template <bool TiesHigh>
  __device__ __forceinline__ static TopkBound guess(float floor) {
    return {floor, floor != floor ? as_float(0xFF800000u) : floor,
            TiesHigh ? -1 : topk_no_index};
  }
  // The bound of elements that are better than this one.
  template <bool TiesHigh>
  __device__ __forceinline__ static TopkBound of(TopkEntry worst) {
    TopkBound bound = guess<TiesHigh>(topk_value(worst));
    bound.limit = topk_index(worst);
    if (!bound.any())
      bound.above = topk_number(topk_key(bound.floor) + 1);
    return bound;
  }
};

// The stride of vectors in the sample of a row: 32, but less for short rows,
// and more for long ones, so that a thread has at most one.
template <typename Shape>
__device__ __forceinline__ int topk_sample_stride(int vectors) {
  const int lowest = (vectors + Shape::threads - 1) / Shape::threads,
            highest = vectors / 256 < 32 ? vectors / 256 : 32;
  return lowest > highest ? lowest : highest;
}

// A number that at least `wanted` of the numbers of all threads reach; NaN if
// there are too few. It is `crowded` if many more reach it.
template <typename Shape, int Count>
__device__ __forceinline__ float topk_bound(const float (&numbers)[Count],
                                            int wanted, bool &crowded) {
#pragma unroll
  for (int i = 0; i < Count; ++i)
    add_shared(topk_shared<Shape>().bins, TopkHalfBins<Shape>::bin(numbers[i]),
               1);
  __syncthreads();
  const TopkBin found = topk_find_bin<Shape>((unsigned)wanted);
  topk_clear_bins<Shape>();
  const bool number =
      found.count != 0 && found.bin <= TopkHalfBins<Shape>::last;
  crowded = number && found.count > (unsigned)wanted;
  return number ? TopkHalfBins<Shape>::lowest(found.bin)
                : as_float(0x7FFFFFFFu);
}

// The number of sampled elements that should reach a bound: the expected number
// plus six standard deviations, or all if the sample is the row.
__device__ __forceinline__ int topk_wanted_of_sample(int stride, int wanted) {
  if (stride <= 1)
    return wanted;
  const float mean = div_approx_f32((float)wanted, (float)stride);
  return (int)(mean + 6.0f * sqrt_large_f32(mean)) + 4;
}

// Four of a vector's elements; NaN for those that do not exist.
template <typename Shape>
__device__ __forceinline__ void topk_four(float (&to)[4], const float *from) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    to[i] = i < Shape::vector ? from[i] : as_float(0x7FFFFFFFu);
}

// A bit for each of the first `count` of `Step` elements.
template <int Step>
__device__ __forceinline__ unsigned topk_first_bits(int count) {
  count = count < 0 ? 0 : count < Step ? count : Step;
  return (1u << count) - 1;
}

// Appends the candidates of a round to the list, except those of lanes that
// `wrote` theirs; false if there is no room for all. Called by the lanes of a
// warp.
template <typename Shape>
__device__ __forceinline__ bool
topk_append(const float (&values)[Shape::items], int start, int end, int head,
            const TopkBound &bound, bool &wrote) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  constexpr int step = Shape::vector < 4 ? Shape::vector : 4;
  unsigned hits = 0;
#pragma unroll
  for (int i = 0; i < Shape::items; i += step) {
    const int column = topk_column<Shape>(start, i);
    float four[4];
    topk_four<Shape>(four, values + i);
    hits |= reach_f32(four, bound.lowest<Shape::ties_high>(column, step)) << i;
  }
  if (bound.any()) {
    const int limit =
        bound.limit < end && !Shape::ties_high ? bound.limit : end;
    int begin = Shape::ties_high ? bound.limit + 1 : 0;
    if (Shape::has_head && begin < head)
      begin = head;
#pragma unroll
    for (int i = 0; i < Shape::items; i += step) {
      const int column = topk_column<Shape>(start, i);
      unsigned there = topk_first_bits<step>(limit - column);
      if constexpr (Shape::ties_high || Shape::has_head)
        there &= ~topk_first_bits<step>(begin - column);
      hits |= there << i;
    }
  }
  const unsigned own = wrote ? 0 : __popc(hits);
  unsigned slot = 0;
  if (own)
    slot = fetch_add_shared(&shared.taken, 0, own);
  wrote = slot + own <= Shape::capacity;
  // Later lanes find no slot either. Earlier candidates are written.
  if (!wrote)
    atomicMin(&shared.end, slot);
  if (own == 0 || !wrote)
    hits = 0;
  if (__any_sync(0xFFFFFFFFu, hits != 0)) {
#pragma unroll
    for (int i = 0; i < Shape::items; i += step) {
      float four[4];
      topk_four<Shape>(four, values + i);
      append_shared_8(hits >> i & ((1u << step) - 1), shared.list, slot,
                      topk_column<Shape>(start, i), four);
    }
  }
  return __all_sync(0xFFFFFFFFu, wrote);
}

// The slots in the list for those of four entries per lane that exist and are
// candidates. The index of an entry is below its value. Called by the lanes of
// a warp.
template <typename Shape>
__device__ __forceinline__ void
topk_keep(const unsigned (&entries)[4][2], const TopkBound &bound,
          bool (&there)[4], unsigned (&slots)[4]) {
  const int lane = threadIdx.x % 32;
  unsigned kept[4], all = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float lowest = bound.lowest<Shape::ties_high>((int)entries[i][0], 1);
    kept[i] = __ballot_sync(
        0xFFFFFFFFu,
        there[i] && (bound.any() || as_float(entries[i][1]) >= lowest));
    all += __popc(kept[i]);
  }
  unsigned to = 0;
  if (lane == 0 && all != 0)
    to = fetch_add_shared(&topk_shared<Shape>().taken, 0, all);
  to = __shfl_sync(0xFFFFFFFFu, to, 0);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    there[i] = kept[i] >> lane & 1;
    slots[i] = to + __popc(kept[i] & ((1u << lane) - 1));
    to += __popc(kept[i]);
  }
}

// Moves the `wanted` best of the first `count` entries of the list to its
// beginning, and returns the bound afterwards. The list is ordered by the bins
// of keys, as far as necessary; then the bin of the last one is divided in the
// same way, until few are left. Elements with equal keys are ordered by the
// position of their index.
// All entries are read into registers before one is written.
template <typename Shape>
__device__ __forceinline__ TopkBound topk_reduce(int count, int wanted,
                                                 int length) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  unsigned begin = 0, end = count, rest = wanted;
  // The range of the positions of equal elements, once all that are left are
  // equal.
  unsigned first = 0, width = length;
#pragma unroll 1
  for (;;) {
    TopkEntry entries[Shape::entries];
    // Keys, then bins; no number has this one.
    enum : unsigned { none = 0xFFFFFFFFu };
    unsigned words[Shape::entries];
    unsigned lowest = none, highest = 0;
#pragma unroll
    for (int i = 0; i < Shape::entries; ++i) {
      const unsigned at = begin + i * Shape::threads + threadIdx.x;
      const bool there = at < end;
      entries[i] = shared.list[there ? at : begin];
      const unsigned key = topk_key(topk_value(entries[i]));
      words[i] = there ? key : none;
      // Counting an entry twice changes neither bound, so this needs no
      // condition. With many entries a condition saves registers.
      constexpr bool many = Shape::k > Shape::threads;
      const unsigned seen = many ? words[i] : key;
      lowest = seen < lowest ? seen : lowest;
      highest = (there || !many) && seen > highest ? seen : highest;
    }
    topk_span(shared, lowest, highest);
    __syncthreads();
    lowest = shared.lowest;
    highest = shared.highest;
    const bool equal = lowest == highest;
    const int bits = 32 - __clz((int)(equal ? width - 1 : highest - lowest));
    const int shift = bits > Shape::bins_log2 ? bits - Shape::bins_log2 : 0;
    auto bin = [&](TopkEntry entry, unsigned key) {
      const int position =
          topk_position<Shape::ties_high>(topk_index(entry), length);
      return (equal ? (unsigned)position - first : highest - key) >> shift;
    };
#pragma unroll
    for (int i = 0; i < Shape::entries; ++i)
      if (words[i] != none) {
        words[i] = bin(entries[i], words[i]);
        add_shared(shared.bins, words[i], 1);
      }
    __syncthreads();
    if (threadIdx.x == 0) {
      shared.lowest = 0xFFFFFFFFu;
      shared.highest = 0;
    }
    const TopkBin found = topk_find_bin<Shape>(rest);
#pragma unroll
    for (int i = 0; i < Shape::entries; ++i) {
      // The bins of many entries are not kept, to save registers.
      if (Shape::k > Shape::threads)
        words[i] = begin + i * Shape::threads + threadIdx.x < end
                       ? bin(entries[i], topk_key(topk_value(entries[i])))
                       : none;
      place_shared_8(shared.list + begin, shared.bins, words[i], found.bin + 1,
                     (unsigned)entries[i], (unsigned)(entries[i] >> 32));
    }
    __syncthreads();
    topk_clear_bins<Shape>();
    if (equal) {
      first += found.bin << shift;
      width = 1u << shift;
    }
    begin += found.before;
    end = begin + found.count;
    rest -= found.before;
    // An element that occurs more than once, as in a workspace that was not
    // zero, cannot be divided.
    if (found.count <= Shape::few || (equal && shift == 0))
      break;
  }
  topk_rank_few<Shape>(begin, end - begin, rest);
  return TopkBound::of<Shape::ties_high>(shared.worst);
}

} // namespace dsv4
