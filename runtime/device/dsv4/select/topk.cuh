//===- topk.cuh - A list of candidates and the best of it -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by all algorithms of top-k except that of a warp: the order of
// elements, and the exact choice of the best of those that the threads of a
// block hold. All threads call every function here, unless its comment says
// otherwise. Some functions are also for the first threads of a block, and for
// lists elsewhere: these get a `group`, as TopkBlockThreads is.
//
// The order is total: (value descending, index ascending), NaN after -inf, the
// two zeros equal. So there are no ties, and the k best of a row are one set
// for every algorithm. To find the smallest, values are negated when they are
// loaded. With `ties_high` the order is (value descending, index descending).
//
// With `nan_first` NaN comes before +inf. Then every element becomes the next
// lower one of that order when it is loaded: NaN becomes +inf, +inf the largest
// number, and so on down to -inf, which becomes NaN. So what compares elements
// is the same for both orders. Both zeros are one number already, so there are
// floats for all but the sign of a zero.
//
// A row may begin within a vector (`has_head`): the first `head` elements of
// the first vector are absent, as those at or beyond the length are. Columns
// count from that vector, and results from the first element that is there.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_order.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

// Larger for larger values. Both zeros have one key. NaN, which is all ones
// after a sum, has key 0.
__device__ __forceinline__ unsigned topk_key(float value) {
  const unsigned bits = as_unsigned(add_f32(value, 0.0f));
  return (bits ^ ((unsigned)((int)bits >> 31) | 0x80000000u)) + 1;
}
// The number of a key that is not NaN's; NaN for keys above that of infinity.
__device__ __forceinline__ float topk_number(unsigned key) {
  --key;
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

// The rank of an element in the order; a better one is larger, and none is 0.
typedef unsigned long long TopkRank;

template <bool TiesHigh>
__device__ __forceinline__ TopkRank topk_rank(TopkEntry entry) {
  const unsigned index = (unsigned)topk_index(entry);
  return (TopkRank)topk_key(topk_value(entry)) << 32 |
         (TiesHigh ? index + 1 : ~index);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

// How a row is read. `whole`: the registers of the block or cluster hold it.
// Otherwise in passes, with a bound of the best from the first pass (few passes
// by one block) or from a sample.
enum class TopkRead { whole, first, sample };

// The first rank of the elements of a bin, and their number.
struct TopkBin {
  unsigned bin, before, count;
};

// The defaults of a config of a selection by blocks. A config also has
//
//   k        elements that are selected
//   threads  threads of a block
//   vector   elements of a vector, as load() gives them
//   vectors  that a thread takes at a time
struct TopkDefaults {
  // Blocks of a cluster, and blocks without one, that share a row.
  static constexpr int cluster = 1, blocks_per_row = 1;
  static constexpr TopkRead read = TopkRead::whole;
  static constexpr TopkOrder order = TopkOrder::unordered;
  static constexpr bool largest = true;
  // Whether the higher index wins among equal elements.
  static constexpr bool ties_high = false;
  // Whether NaN comes before all numbers.
  static constexpr bool nan_first = false;
  // Whether rows may begin within a vector.
  static constexpr bool has_head = false;
};

// The constants that follow from a config.
template <typename Config>
struct TopkShape {
  static_assert(Config::k >= 1 && Config::k <= 4096, "1 <= k <= 4096");
  static_assert(Config::threads >= 64 && Config::threads <= 1024 &&
                    (Config::threads & (Config::threads - 1)) == 0,
                "a power of two of threads");
  static_assert(Config::vector >= 1 && Config::vectors >= 1 &&
                    Config::vector * Config::vectors <= 32,
                "a bit of a word for each element of a thread");
  static_assert(!Config::has_head || Config::vector > 1,
                "vectors of one element begin anywhere");

  enum : int {
    k = Config::k,
    threads = Config::threads,
    vector = Config::vector,
    vectors = Config::vectors,
    items = vector * vectors,
    round = threads * items,
    round_log2 = ceil_log2(round),
    // If a whole row is in registers, the list is for the result. Otherwise it
    // holds the candidates, more than k of them. With many threads it has as
    // many as fit beside the bins in 48 KiB, because lists that are too long
    // together make every block of a cluster select before one joins them.
    // Fewer threads would have too many of them in registers.
    capacity = Config::read == TopkRead::whole ? k
               : k <= threads                  ? 4 * threads
               : threads >= 1024               ? 4992
               : k > 2048                      ? 4608
                                               : 4096,
    // What a thread holds of the list.
    entries = (capacity + threads - 1) / threads,
    // Of a histogram.
    bins_log2 = 11,
    bins = 1 << bins_log2,
    // Groups of a thread's elements: with one and a half times k groups in all,
    // their maxima bound the k-th best element well.
    groups_wanted = (3 * k / 2 + threads - 1) / threads,
    groups = items % 16 == 0 && groups_wanted <= items / 16 ? items / 16
             : items % 8 == 0 && groups_wanted <= items / 8 ? items / 8
             : items % 4 == 0 && groups_wanted <= items / 4 ? items / 4
             : items % 2 == 0 && groups_wanted <= items / 2 ? items / 2
                                                            : items,
    // Elements that are ranked one by one. A larger k has more in the bin of
    // the last one, and ranking them is faster than dividing the bin.
    few_wanted = k > 512 ? 256 : 128,
    few = threads < few_wanted ? threads : few_wanted
  };
  static constexpr bool largest = Config::largest,
                        ties_high = Config::ties_high,
                        nan_first = Config::nan_first,
                        has_head = Config::has_head;
  static constexpr TopkRead read = Config::read;
  static constexpr TopkOrder order = Config::order;
};

template <typename Shape>
struct TopkShared {
  // The best of a whole row, and the few candidates for the last ranks.
  TopkEntry
      list[Shape::capacity + (Shape::read == TopkRead::whole ? Shape::few : 0)];
  // Zero between uses. Aligned for vectors of a thread's bins.
  __align__(16) unsigned bins[Shape::bins];
  unsigned warps[32];
  // The number of taken slots of the list, and the first slot that does not
  // exist.
  unsigned taken, end;
  // The next slots of the list of a cluster: for chosen elements, and for those
  // in the bin of the last one.
  unsigned next[2];
  TopkBin found;
  // The range of the keys of all threads.
  unsigned lowest, highest;
  // The last chosen element.
  TopkEntry worst;
};

// The column of an item of this thread in a round that begins at column
// `start`. A thread has `vectors` vectors, and those of all threads are side by
// side.
template <typename Shape>
__device__ __forceinline__ int topk_column(int start, int item) {
  return start +
         (item / Shape::vector * Shape::threads + (int)threadIdx.x) *
             Shape::vector +
         item % Shape::vector;
}

template <typename Shape>
__device__ __forceinline__ TopkShared<Shape> &topk_shared() {
  static_assert(sizeof(TopkShared<Shape>) <= 49152 - 512,
                "in 48 KiB with what the blocks of a row say to each other");
  __shared__ TopkShared<Shape> shared;
  return shared;
}

// The threads that select together, the list that they work on, and what else
// they share: here all threads of a block.
template <typename Shape>
struct TopkBlockThreads {
  __device__ __forceinline__ static void sync() { __syncthreads(); }
  __device__ __forceinline__ static TopkEntry *list() {
    return topk_shared<Shape>().list;
  }
  __device__ __forceinline__ static unsigned *bins() {
    return topk_shared<Shape>().bins;
  }
  __device__ __forceinline__ static TopkShared<Shape> &shared() {
    return topk_shared<Shape>();
  }
};

// The number of a float in their order, 0 for both zeros. NaN comes after
// infinity.
__device__ __forceinline__ int topk_ordinal(float value) {
  const int magnitude = (int)(as_unsigned(value) & 0x7FFFFFFFu);
  if (magnitude > 0x7F800000)
    return 0x7F800001;
  return as_unsigned(value) >> 31 ? -magnitude : magnitude;
}
// A NaN for numbers beyond those of the infinities.
__device__ __forceinline__ float topk_of_ordinal(int ordinal) {
  return as_float(ordinal < 0 ? (unsigned)-ordinal | 0x80000000u
                              : (unsigned)ordinal);
}

// From a value to its form for comparison, and back.
template <typename Shape>
__device__ __forceinline__ float topk_oriented(float value) {
  const float oriented =
      Shape::largest ? value : as_float(as_unsigned(value) ^ 0x80000000u);
  if constexpr (Shape::nan_first)
    return topk_of_ordinal(topk_ordinal(oriented) - 1);
  return oriented;
}
template <typename Shape>
__device__ __forceinline__ float topk_original(float form) {
  if constexpr (Shape::nan_first) {
    const float oriented = form != form
                               ? as_float(0xFF800000u)
                               : topk_of_ordinal(topk_ordinal(form) + 1);
    // One zero, and one NaN.
    return add_f32(Shape::largest
                       ? oriented
                       : as_float(as_unsigned(oriented) ^ 0x80000000u),
                   0.0f);
  }
  return Shape::largest ? form : as_float(as_unsigned(form) ^ 0x80000000u);
}

// The form of what comes after all numbers in the output.
template <typename Shape>
__device__ __forceinline__ float topk_padding() {
  return as_float(Shape::nan_first ? 0x7FFFFFFFu : 0xFF800000u);
}

// The bins of a thread, and whether it has some: all have if their number is a
// power of two.
template <typename Shape>
__device__ constexpr int topk_bins_each() {
  return 1 << ceil_log2((Shape::bins + Shape::threads - 1) / Shape::threads);
}
template <typename Shape>
__device__ __forceinline__ bool topk_has_bins() {
  constexpr int each = topk_bins_each<Shape>();
  return each * Shape::threads == Shape::bins ||
         threadIdx.x * each < Shape::bins;
}

// Called by the thread that has counted in them.
template <typename Shape, typename Group = TopkBlockThreads<Shape>>
__device__ __forceinline__ void topk_clear_bins(Group group = {}) {
  constexpr int each = topk_bins_each<Shape>();
  if (topk_has_bins<Shape>()) {
#pragma unroll
    for (int i = 0; i < each; ++i)
      group.bins()[threadIdx.x * each + i] = 0;
  }
}

// Called first; a barrier must follow.
template <typename Shape>
__device__ __forceinline__ void topk_clear() {
  TopkShared<Shape> &shared = topk_shared<Shape>();
  topk_clear_bins<Shape>();
  if (threadIdx.x == 0) {
    shared.lowest = 0xFFFFFFFFu;
    shared.highest = 0;
    if constexpr (Shape::read != TopkRead::whole) {
      shared.taken = 0;
      shared.end = Shape::capacity;
      // There is no last element if one element occurs more than once.
      shared.worst = topk_entry(as_float(0xFF800000u),
                                Shape::ties_high ? -1 : topk_no_index);
    }
  }
}

//===----------------------------------------------------------------------===//
// Bins, with the best numbers in bin 0
//===----------------------------------------------------------------------===//

// Bins by the upper bits of the f16 towards zero, 32 bins per octave. NaN comes
// after all numbers.
template <typename Shape>
struct TopkHalfBins {
  enum : int { shift = 16 - Shape::bins_log2, infinity = 0xFC00 };
  // The last bin of a number.
  enum : unsigned { last = (unsigned)(infinity - 0x3FF) >> shift };

  __device__ __forceinline__ static unsigned bin(float value) {
    return ordinal_rz_f16<shift>(value);
  }
  // The smallest number of a bin. Rounding is towards zero, so a negative one
  // is above the previous f16.
  __device__ __forceinline__ static float lowest(unsigned bin) {
    const unsigned key = infinity + 1 - ((bin + 1) << shift);
    const bool positive = key >= 0x8000u;
    float number, zero;
    cvt_f32_f16x2(number, zero, positive ? key ^ 0x8000u : 0x10000u - key);
    return key <= 0x3FFu ? as_float(0xFF800000u)
                         : as_float(as_unsigned(number) - !positive);
  }
};

//===----------------------------------------------------------------------===//
// Histograms
//===----------------------------------------------------------------------===//

// The bin of the `rank`-th element, counted from 1 and from bin 0 on; if there
// are fewer elements, their number, and 0. The bins are complete after a
// barrier. Afterwards each holds the number of elements in the bins before it.
template <typename Shape, typename Group>
__device__ __forceinline__ TopkBin topk_find_bin_of(Group group,
                                                    unsigned rank) {
  auto &shared = group.shared();
  constexpr int each = topk_bins_each<Shape>();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool has_bins = topk_has_bins<Shape>();
  unsigned *bins = group.bins() + threadIdx.x * each;
  unsigned counts[each], own = 0;
#pragma unroll
  for (int i = 0; i < each; ++i) {
    counts[i] = has_bins ? bins[i] : 0;
    own += counts[i];
  }
  unsigned before = sum_up_to_lane(own);
  if (lane == 31)
    shared.warps[warp] = before;
  group.sync();
  before +=
      __reduce_add_sync(0xFFFFFFFFu, lane < warp ? shared.warps[lane] : 0) -
      own;
  const unsigned start = before;
  TopkBin last = {0, 0, 0};
#pragma unroll
  for (int i = 0; i < each; ++i) {
    if (before < rank)
      last = {(unsigned)i, before, counts[i]};
    if (has_bins)
      bins[i] = before;
    before += counts[i];
  }
  if (start < rank && rank <= before)
    shared.found = {threadIdx.x * each + last.bin, last.before, last.count};
  else if (threadIdx.x == Shape::threads - 1 && before < rank)
    shared.found = {0, before, 0};
  group.sync();
  return shared.found;
}

// Not inlined, because all algorithms call it, which costs compile time.
template <typename Shape>
__device__ __noinline__ TopkBin topk_find_bin(unsigned rank) {
  return topk_find_bin_of<Shape>(TopkBlockThreads<Shape>(), rank);
}

// The smallest and the largest key of all threads. Called between barriers.
template <typename Shared>
__device__ __forceinline__ void topk_span(Shared &shared, unsigned lowest,
                                          unsigned highest) {
  lowest = __reduce_min_sync(0xFFFFFFFFu, lowest);
  highest = __reduce_max_sync(0xFFFFFFFFu, highest);
  if (threadIdx.x % 32 == 0) {
    atomicMin(&shared.lowest, lowest);
    atomicMax(&shared.highest, highest);
  }
}

// Moves the best `rest` of the `inside` entries of the list from `begin` on to
// the beginning of these entries, which are few. Called between barriers.
template <typename Shape, typename Group = TopkBlockThreads<Shape>>
__device__ __forceinline__ void topk_rank_few(unsigned begin, unsigned inside,
                                              unsigned rest, Group group = {}) {
  auto &shared = group.shared();
  // Neighbouring lanes share an element.
  constexpr int lanes_log2 = ceil_log2(Shape::threads / Shape::few + 1) - 1,
                lanes = lanes_log2 < 3 ? 1 << lanes_log2 : 8;
  const unsigned which = threadIdx.x / lanes, part = threadIdx.x % lanes;
  const bool there = which < inside;
  TopkEntry *few = group.list() + begin;
  const TopkEntry own = there ? few[which] : 0;
  const TopkRank rank = topk_rank<Shape::ties_high>(own);
  // Their slots hold their ranks until all are compared.
  __syncwarp();
  if (there && part == 0)
    few[which] = rank;
  group.sync();
  unsigned better = 0;
#pragma unroll 1
  for (unsigned i = part; there && i < inside; i += 2 * lanes) {
    // Two loads in flight at a time; an element is not better than itself.
    const unsigned next = i + lanes;
    const TopkRank one = few[i], two = few[next < inside ? next : which];
    better += one > rank;
    better += two > rank;
  }
#pragma unroll
  for (int distance = 1; distance < lanes; distance *= 2)
    better += exchange<32>(better, distance);
  group.sync();
  if constexpr (Shape::read != TopkRead::whole) {
    // Memory that was not zero, as required, may hold one element many times,
    // which leaves slots empty.
    if (there && part == 0)
      few[which] = own;
    group.sync();
  }
  if (there && part == 0 && better < rest) {
    few[better] = own;
    if (Shape::read != TopkRead::whole && better == rest - 1)
      shared.worst = own;
  }
  group.sync();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

// Whether entry a comes before entry b in the output.
template <typename Shape>
__device__ __forceinline__ bool topk_precedes(TopkEntry a, TopkEntry b) {
  if constexpr (Shape::order == TopkOrder::sorted)
    return topk_rank<Shape::ties_high>(a) > topk_rank<Shape::ties_high>(b);
  else
    return topk_index(a) < topk_index(b);
}

// The first `count` entries, at most k, in the order of the output.
template <typename Shape, typename Group = TopkBlockThreads<Shape>>
__device__ __forceinline__ void topk_sort(int count, Group group = {}) {
  TopkEntry *list = group.list();
  int size = 1;
  while (size < count)
    size *= 2;
  // A bitonic sort without the missing entries, which would be last, where
  // backward runs begin. So all runs go forwards, and their first exchange is
  // between mirrored slots.
#pragma unroll 1
  for (int run = 2; run <= size; run *= 2) {
#pragma unroll 1
    for (int distance = run / 2; distance > 0; distance /= 2) {
#pragma unroll 1
      for (int i = threadIdx.x; i < size / 2; i += Shape::threads) {
        const int first = 2 * i - (i & (distance - 1));
        const int second =
            2 * distance == run ? first ^ (run - 1) : first + distance;
        if (second < count) {
          const TopkEntry a = list[first], b = list[second];
          if (topk_precedes<Shape>(b, a)) {
            list[first] = b;
            list[second] = a;
          }
        }
      }
      group.sync();
    }
  }
}

// Emits the first `count` entries of the list, after a barrier, and the
// padding. If the list has the whole row, slots are indices, unless the best
// come first: the order in which entries came to the list differs between runs.
template <typename Shape, typename Emit,
          typename Group = TopkBlockThreads<Shape>>
__device__ __forceinline__ void topk_emit(int count, bool is_whole, int head,
                                          Emit emit, Group group = {}) {
  const bool by_index = Shape::order != TopkOrder::sorted && is_whole;
  if (Shape::order != TopkOrder::unordered && !by_index)
    topk_sort<Shape>(count, group);
#pragma unroll 1
  for (int slot = threadIdx.x; slot < Shape::k; slot += Shape::threads) {
    TopkEntry entry =
        topk_entry(topk_padding<Shape>(), Shape::has_head ? head - 1 : -1);
    if (slot < count)
      entry = group.list()[slot];
    const int index =
        Shape::has_head ? topk_index(entry) - head : topk_index(entry);
    emit(by_index && slot < count ? index : slot, index,
         topk_original<Shape>(topk_value(entry)));
  }
}

} // namespace dsv4
