//===- topk.cuh - A list of candidates and the best of it -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all algorithms of top-k share: the order of elements, and the exact choice
// of the best of those that the threads of a block hold. All threads take part in
// everything here, unless it says otherwise.
//
// The order is total: (value descending, index ascending), NaN behind -inf, the
// two zeros equal. So there are no ties, and the k best of a row are one set,
// whoever finds it. What is asked for the smallest is negated when it is loaded.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "memory.cuh"

namespace dsv4 {

enum class TopkOrder { unordered, sorted, index_ascending };

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

// Keys are larger for larger values; the two zeros are one, NaN is 0.
enum : unsigned {
  topk_key_of_minus_infinity = 0x007FFFFFu,
  topk_key_of_infinity = 0xFF800000u
};
__device__ __forceinline__ unsigned topk_key_of_number(float value) {
  const unsigned bits = as_unsigned(add_f32(value, 0.0f));
  return bits ^ ((unsigned)((int)bits >> 31) | 0x80000000u);
}
__device__ __forceinline__ unsigned topk_key(float value) {
  return value != value ? 0 : topk_key_of_number(value);
}

// The smallest number whose key is not smaller; above that of infinity a NaN.
__device__ __forceinline__ float topk_number(unsigned key) {
  key = key < topk_key_of_minus_infinity ? topk_key_of_minus_infinity : key;
  return as_float(key >> 31 ? key ^ 0x80000000u : ~key);
}

// An element in memory: the bits of its value above its index.
typedef unsigned long long TopkEntry;

__device__ __forceinline__ TopkEntry topk_entry(float value, int index) {
  return (TopkEntry)as_unsigned(value) << 32 | (unsigned)index;
}
__device__ __forceinline__ float topk_value(TopkEntry entry) {
  return as_float((unsigned)(entry >> 32));
}
__device__ __forceinline__ int topk_index(TopkEntry entry) {
  return (int)(unsigned)entry;
}

// Beyond every index of a row.
enum : int { topk_index_bits = 23, topk_no_index = (1 << topk_index_bits) - 1 };

// The place of an element in the order, the better the larger.
typedef unsigned long long TopkRank;

__device__ __forceinline__ TopkRank topk_rank_of_key(unsigned key) {
  return (TopkRank)key << topk_index_bits;
}
__device__ __forceinline__ TopkRank topk_rank(TopkEntry entry) {
  return topk_rank_of_key(topk_key(topk_value(entry))) |
         (unsigned)(topk_no_index - topk_index(entry));
}

// Whether a is better than b; they are numbers, or both are NaN.
__device__ __forceinline__ bool topk_better(TopkEntry a, TopkEntry b) {
  const float x = topk_value(a), y = topk_value(b);
  return x > y || (!(x < y) && topk_index(a) < topk_index(b));
}

// Numbers from `low` on that are not `high`.
struct TopkInterval {
  float low, high;
};

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

// How a row is read: it fits in the registers of the block; in passes, what can
// be among the best being known from the first one (a few passes by one block) or
// guessed from a sample.
enum class TopkRead { whole, first, sample };

// The best `K` of rows, by blocks of `Threads` threads that take `Chunks`
// vectors of `Vector` elements each at a time.
template <int K, int Threads, int Vector, int Chunks, TopkRead Read,
          TopkOrder Order, bool Largest>
struct TopkShape {
  enum : int {
    k = K,
    threads = Threads,
    vector = Vector,
    chunks = Chunks,
    items = Vector * Chunks,
    round = Threads * items,
    // A whole row is in registers, and the list is for the result. Else it has
    // what can be among the best, more than K of them.
    capacity = Read == TopkRead::whole                  ? K
               : K > 2048                               ? 4608
               : K > Threads || Read != TopkRead::first ? 4096
                                                        : 4 * Threads,
    // What a thread holds of the list.
    entries = (capacity + Threads - 1) / Threads,
    // Of a histogram.
    bins_log2 = 11,
    bins = 1 << bins_log2,
    // Of a thread's elements: with one and a half times K groups in all their
    // maxima bound the K-th best element well.
    groups_wanted = (3 * K / 2 + Threads - 1) / Threads,
    groups = items % 16 == 0 && groups_wanted <= items / 16  ? items / 16
             : items % 8 == 0 && groups_wanted <= items / 8 ? items / 8
             : items % 4 == 0 && groups_wanted <= items / 4 ? items / 4
             : items % 2 == 0 && groups_wanted <= items / 2 ? items / 2
                                                            : items,
    // Elements that are ranked one by one.
    few = Threads < 128 ? Threads : 128
  };
  static constexpr bool largest = Largest;
  static constexpr TopkRead read = Read;
  static constexpr TopkOrder order = Order;

  static_assert(K >= 1 && K <= 4096, "1 <= K <= 4096");
  static_assert(Threads >= 64 && Threads <= 1024 &&
                    (Threads & (Threads - 1)) == 0,
                "a power of two of threads");
  static_assert(items <= 32, "a bit of a word for each element of a thread");
};

template <typename Shape> struct TopkShared {
  // The list, and behind it the few.
  TopkEntry list[Shape::capacity + Shape::few];
  // Zero between uses. Aligned for vectors of a thread's bins. Of a list that is
  // divided, places to be taken: at most half of all.
  __align__(16) unsigned bins[Shape::capacity > 2 * Shape::bins
                                  ? Shape::capacity / 2
                                  : Shape::bins];
  unsigned warps[32];
  // Of the list: how many places are taken, and the first that is not there.
  unsigned taken, end;
  // Places in the list, and above them places among the few; and how many places
  // were taken from others.
  unsigned placed, moved;
  unsigned found_bin, found_before, found_count;
  // Of the keys of all threads.
  unsigned least, most;
  TopkRank threshold;
};

// Where `start` is the first column of a round: the column of an item of this
// thread. It has `Chunks` vectors, those of all threads side by side.
template <typename Shape>
__device__ __forceinline__ int topk_column(int start, int item) {
  return start +
         (item / Shape::vector * Shape::threads + (int)threadIdx.x) *
             Shape::vector +
         item % Shape::vector;
}

template <typename Shape>
__device__ __forceinline__ TopkShared<Shape> &topk_shared() {
  __shared__ TopkShared<Shape> shared;
  return shared;
}

// A value as it is compared, and back.
template <typename Shape>
__device__ __forceinline__ float topk_oriented(float value) {
  return Shape::largest ? value : as_float(as_unsigned(value) ^ 0x80000000u);
}

// Before anything else; a barrier must follow.
template <typename Shape> __device__ __forceinline__ void topk_clear() {
  TopkShared<Shape> &shared = topk_shared<Shape>();
#pragma unroll
  for (int i = 0; i < Shape::bins / Shape::threads; ++i)
    shared.bins[i * Shape::threads + threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    shared.taken = shared.placed = shared.moved = 0;
    shared.end = Shape::capacity;
    shared.least = 0xFFFFFFFFu;
    shared.most = 0;
  }
}

//===----------------------------------------------------------------------===//
// Bins: of the best numbers in bin 0
//===----------------------------------------------------------------------===//

// By the upper bits of the f16 towards zero: 32 bins to an octave. NaN is behind
// all numbers.
template <typename Shape> struct TopkHalfBins {
  enum : int { shift = 16 - Shape::bins_log2, infinity = 0xFC00 };
  enum : unsigned { last = (unsigned)(infinity - 0x3FF) >> shift };

  __device__ __forceinline__ static unsigned bin(float value) {
    const unsigned half = cvt_rz_f16x2_f32(0.0f, add_f32(value, 0.0f));
    const unsigned key = half ^ ((unsigned)((int)half >> 31) | 0x80000000u);
    return (((unsigned)infinity << 16 | 0xFFFFu) - key) >> (16 + shift);
  }
  // Whether it has nothing but its numbers and what is absent, and how much that
  // is.
  __device__ __forceinline__ static bool exact(unsigned bin) {
    return bin <= last;
  }
  __device__ __forceinline__ static unsigned absent(unsigned) { return 0; }
  // The least number whose f16 has at least this key of 16 bits: rounded towards
  // zero, a negative one is above the f16 before. NaN above infinity.
  __device__ __forceinline__ static float edge(unsigned key) {
    const bool positive = key >= 0x8000u;
    float number, zero;
    cvt_f32_f16x2(number, zero, positive ? key ^ 0x8000u : 0x10000u - key);
    return key <= 0x3FFu ? as_float(0xFF800000u)
                         : as_float(as_unsigned(number) - !positive);
  }
  __device__ __forceinline__ static TopkInterval interval(unsigned bin) {
    const unsigned end = infinity + 1 - (bin << shift);
    return {edge(end - (1 << shift)), edge(end)};
  }
};

// By the distance of the key from that of the least number, as a float: exact up to
// 128, then 64 bins to an octave. What is not a number is with the least ones.
struct TopkOctaveBins {
  float least;
  bool numbers_only;
  // So many elements are none.
  int missing;
  enum : unsigned { last = 2047, one = 0x3F800000u >> 17 };

  __device__ __forceinline__ unsigned bin(float value) const {
    const unsigned distance = topk_key_of_number(max_f32(value, least)) -
                              topk_key_of_number(least);
    const int from_last =
        (int)(as_unsigned(cvt_rz_f32_u32(distance)) >> 17) - (int)one + 1;
    // From -inf to the largest numbers there is one bin more.
    const int bin = (int)last - (from_last > 0 ? from_last : 0);
    return (unsigned)(bin > 0 ? bin : 0);
  }
  __device__ __forceinline__ bool exact(unsigned bin) const {
    return bin < last || numbers_only;
  }
  __device__ __forceinline__ unsigned absent(unsigned bin) const {
    return bin < last ? 0 : (unsigned)missing;
  }
  // The least number of a bin that is exact; above all numbers a NaN.
  __device__ __forceinline__ float edge(unsigned bin) const {
    const unsigned distance =
        bin == last ? 0 : cvt_rp_u32_f32(as_float((last - bin + one - 1) << 17));
    const unsigned key = topk_key_of_number(least) + distance;
    return topk_number(key < distance ? 0xFFFFFFFFu : key);
  }
  __device__ __forceinline__ TopkInterval interval(unsigned bin) const {
    return {edge(bin), bin == 0 ? as_float(0x7FFFFFFFu) : edge(bin - 1)};
  }
};

//===----------------------------------------------------------------------===//
// Histograms
//===----------------------------------------------------------------------===//

// The sum of the values of this lane and those below it.
__device__ __forceinline__ unsigned topk_upto(unsigned own) {
  unsigned upto = own;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned other = __shfl_up_sync(0xFFFFFFFFu, upto, distance);
    upto += (int)(threadIdx.x % 32) >= distance ? other : 0;
  }
  return upto;
}

struct TopkBin {
  unsigned bin, before, count;
};

// The bin of the `rank`-th element, counted from 1 on and from bin 0 on, how
// many are in the bins before, and how many in it; where there are fewer than
// `rank`, how many there are, and 0. The bins are full behind a barrier, and
// empty afterwards. Not inlined, because all call it, which costs compile time.
template <typename Shape> __device__ __noinline__ TopkBin topk_find_bin(unsigned rank) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  constexpr int each = Shape::bins / Shape::threads;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned counts[each], own = 0;
#pragma unroll
  for (int i = 0; i < each; ++i) {
    counts[i] = shared.bins[threadIdx.x * each + i];
    own += counts[i];
  }
#pragma unroll
  for (int i = 0; i < each; ++i)
    shared.bins[threadIdx.x * each + i] = 0;
  const unsigned all = __reduce_add_sync(0xFFFFFFFFu, own);
  if (lane == 0)
    shared.warps[warp] = all;
  __syncthreads();
  const unsigned count =
      lane < Shape::threads / 32 ? shared.warps[lane] : 0;
  unsigned before = __reduce_add_sync(0xFFFFFFFFu, lane < warp ? count : 0);
  if (before < rank && rank <= before + all) {
    before += topk_upto(own) - own;
    if (before < rank && rank <= before + own) {
      int bin = 0;
#pragma unroll
      for (int i = 0; i < each - 1; ++i)
        if (bin == i && before + counts[i] < rank) {
          before += counts[i];
          bin = i + 1;
        }
      unsigned inside = counts[0];
#pragma unroll
      for (int i = 1; i < each; ++i)
        inside = bin == i ? counts[i] : inside;
      shared.found_bin = threadIdx.x * each + bin;
      shared.found_before = before;
      shared.found_count = inside;
    }
  } else if (threadIdx.x == Shape::threads - 1 && before + all < rank) {
    shared.found_before = before + all;
    shared.found_count = 0;
  }
  __syncthreads();
  return {shared.found_bin, shared.found_before, shared.found_count};
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

// What is in doubt: elements of ranks from `low` to `high`. The `rest` best of
// the `inside` elements are sought.
struct TopkDoubt {
  TopkRank low, high;
  unsigned rest, inside;

  // To a bin of 2^shift ranks, the best ones in bin 0.
  __device__ __forceinline__ void shrink(TopkBin found, int shift) {
    rest -= found.before;
    inside = found.count;
    high -= (TopkRank)found.bin << shift;
    const TopkRank width = ((TopkRank)1 << shift) - 1;
    low = high - low > width ? high - width : low;
  }
  // Of bins as small as there are enough for.
  __device__ __forceinline__ int shift(int bins_log2) const {
    const int bits = 64 - __clzll((long long)(high - low));
    return bits > bins_log2 ? bits - bins_log2 : 0;
  }
};

// Where floats alone do not tell apart what is in doubt: it shrinks to the keys
// that there are, then to one bin of ranks after the other, until few are left, or
// as many as are sought; then what is above goes to the list, and the rest to the
// few. Rare, so one loop goes through the elements: each is in front once, then
// behind the others.
template <typename Shape>
__device__ __forceinline__ void topk_divide(TopkDoubt &doubt, int length,
                                            float (&values)[Shape::items]) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  enum { tighten, count, place } step = tighten;
  int shift = 0;
#pragma unroll 1
  for (;;) {
    unsigned least = 0xFFFFFFFFu, most = 0;
#pragma unroll 1
    for (int i = 0; i < Shape::items; ++i) {
      const float front = values[0];
#pragma unroll
      for (int j = 0; j < Shape::items - 1; ++j)
        values[j] = values[j + 1];
      values[Shape::items - 1] = front;
      const TopkEntry entry = topk_entry(front, topk_column<Shape>(0, i));
      const TopkRank rank = topk_rank(entry);
      const bool close = rank >= doubt.low && rank <= doubt.high;
      const unsigned key = (unsigned)(rank >> topk_index_bits);
      if (step == place) {
        const bool chosen =
            rank > doubt.high || (close && doubt.rest == doubt.inside);
        if (chosen || close) {
          const unsigned to =
              fetch_add_shared(&shared.placed, chosen ? 1 : 0x10000u);
          shared.list[chosen ? to & 0xFFFFu : Shape::capacity + (to >> 16)] =
              entry;
        }
      } else if (close && step == count) {
        add_shared(shared.bins, (unsigned)((doubt.high - rank) >> shift), 1);
      } else if (close) {
        least = key < least ? key : least;
        most = key > most ? key : most;
      }
    }
    if (step == place)
      return;
    if (step == tighten) {
      least = __reduce_min_sync(0xFFFFFFFFu, least);
      most = __reduce_max_sync(0xFFFFFFFFu, most);
      if (threadIdx.x % 32 == 0) {
        atomicMin(&shared.least, least);
        atomicMax(&shared.most, most);
      }
      __syncthreads();
      doubt.low = topk_rank_of_key(shared.least) + (topk_no_index + 1 - length);
      doubt.high = topk_rank_of_key(shared.most) + topk_no_index;
      __syncthreads();
      shared.least = 0xFFFFFFFFu;
      shared.most = 0;
      step = count;
    } else {
      __syncthreads();
      doubt.shrink(topk_find_bin<Shape>(doubt.rest), shift);
      if (doubt.inside <= Shape::few || doubt.inside == doubt.rest)
        step = place;
    }
    shift = doubt.shift(Shape::bins_log2);
  }
}

// The best of the few to the list, behind a barrier.
template <typename Shape>
__device__ __forceinline__ void topk_rank_few(unsigned inside, unsigned rest,
                                              unsigned wanted) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  // Neighbouring lanes share an element.
  constexpr int lanes = Shape::threads / Shape::few < 8
                            ? Shape::threads / Shape::few
                            : 8;
  const unsigned which = threadIdx.x / lanes;
  const bool there = which < inside;
  const TopkEntry *few = shared.list + Shape::capacity;
  const TopkEntry own = few[there ? which : 0];
  unsigned better = 0;
#pragma unroll 1
  for (unsigned i = threadIdx.x % lanes; i < inside; i += lanes)
    better += topk_better(few[i], own);
#pragma unroll
  for (int distance = 1; distance < lanes; distance *= 2)
    better += exchange<32>(better, distance);
  if (there && threadIdx.x % lanes == 0) {
    if (better < rest)
      shared.list[wanted - rest + better] = own;
    if (better == rest - 1)
      shared.threshold = topk_rank(own);
  }
}

// The `wanted` best elements, at least one, to the front of the list, in any
// order. `values` and their indices, the first `items` of them, are those of this
// thread; absent ones are NaN. What floats alone do not tell apart goes to
// divide(doubt), which places it. Returns a rank that the chosen ones reach and no
// other does.
template <typename Shape, int Items, typename Bins, typename Index,
          typename Divide>
__device__ __forceinline__ TopkRank
topk_choose(float (&values)[Items], int items, Index index, Bins bins,
            unsigned wanted, int length, Divide divide) {
  TopkShared<Shape> &shared = topk_shared<Shape>();
#pragma unroll
  for (int i = 0; i < Items; ++i)
    if (i < items)
      add_shared(shared.bins, bins.bin(values[i]), 1);
  __syncthreads();
  const TopkBin found = topk_find_bin<Shape>(wanted);
  const TopkInterval at = bins.interval(found.bin);
  // What has no bin of its own is NaN, or as low as the least.
  const bool exact = bins.exact(found.bin);
  const TopkRank least = topk_no_index + 1 - length;
  TopkDoubt doubt = {exact ? topk_rank_of_key(topk_key(at.low)) + least : least,
                     topk_rank_of_key(topk_key(at.high)) - 1,
                     wanted - found.before,
                     found.count - bins.absent(found.bin)};
  const bool all = doubt.rest == doubt.inside;
  if (exact && (all || doubt.inside <= Shape::few)) {
    const float high = all ? at.low : at.high;
    unsigned own = 0;
#pragma unroll
    for (int i = 0; i < Items; ++i)
      if (i < items)
        own += values[i] >= high ? 1u : values[i] >= at.low ? 0x10000u : 0u;
    unsigned places = 0;
    if (own)
      places = fetch_add_shared(&shared.placed, own);
    unsigned place = places & 0xFFFFu,
             place_of_few = Shape::capacity + (places >> 16);
#pragma unroll
    for (int i = 0; i < Items; ++i)
      if (i < items) {
        const bool above = values[i] >= high, here = values[i] >= at.low;
        st_shared_8_if(here, shared.list, above ? place : place_of_few,
                       (unsigned)index(i), as_unsigned(values[i]));
        place += above;
        place_of_few += here && !above;
      }
  } else {
    divide(doubt);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    shared.placed = shared.moved = 0;
  if (doubt.rest == doubt.inside)
    return doubt.low;
  topk_rank_few<Shape>(doubt.inside, doubt.rest, wanted);
  __syncthreads();
  return shared.threshold;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

// Whether entry a comes before entry b in the output.
template <typename Shape>
__device__ __forceinline__ bool topk_precedes(TopkEntry a, TopkEntry b) {
  if constexpr (Shape::order == TopkOrder::sorted)
    return topk_rank(a) > topk_rank(b);
  else
    return topk_index(a) < topk_index(b);
}

// The first `count` entries, at most K, in the order of the output.
template <typename Shape> __device__ __forceinline__ void topk_sort(int count) {
  TopkEntry *list = topk_shared<Shape>().list;
  int size = 1;
  while (size < count)
    size *= 2;
  // Bitonic, every second run backwards, without the entries that are not
  // there: they would be last, where runs backwards begin. So all runs go
  // forwards, and their first exchange is between mirrored places.
#pragma unroll 1
  for (int run = 2; run <= size; run *= 2) {
#pragma unroll 1
    for (int distance = run / 2; distance > 0; distance /= 2) {
#pragma unroll 1
      for (int i = threadIdx.x; i < size / 2; i += Shape::threads) {
        const int first = 2 * i - (i & (distance - 1));
        const int second = 2 * distance == run ? first ^ (run - 1) : first + distance;
        if (second < count) {
          const TopkEntry a = list[first], b = list[second];
          if (topk_precedes<Shape>(b, a)) {
            list[first] = b;
            list[second] = a;
          }
        }
      }
      __syncthreads();
    }
  }
}

// The first `count` entries of the list, behind a barrier, and what there is not.
template <typename Shape, typename Emit>
__device__ __forceinline__ void topk_emit(int count, Emit emit) {
  if constexpr (Shape::order != TopkOrder::unordered)
    topk_sort<Shape>(count);
#pragma unroll 1
  for (int place = threadIdx.x; place < Shape::k; place += Shape::threads) {
    TopkEntry entry =
        topk_entry(as_float(0xFF800000u), -1);
    if (place < count)
      entry = topk_shared<Shape>().list[place];
    emit(place, topk_index(entry), topk_oriented<Shape>(topk_value(entry)));
  }
}

} // namespace dsv4
