//===- topk_warp.cuh - The best elements of short rows ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One warp per row. Each lane holds its elements in registers and sorts its
// four best packed keys; their low bits hold the element's number. The warp
// takes the best of all lanes, one after another. If two packed keys are equal
// in their other bits, or a lane has given all four, the selection is repeated
// with whole keys. (Of the six best of 256 elements in random order, one lane
// has three in one row of 80, and four in one row of 5000.)
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_order.cuh"

namespace dsv4 {

// The defaults of a config of a selection by warps. A config also has
//
//   k        elements that are selected
//   vector   elements of a vector, as load() gives them
//   vectors  that a lane has of a row
struct TopkWarpDefaults {
  // Whether the selected values are needed, beside their indices.
  static constexpr bool needs_values = true;
  // Whether elements are results of arithmetic, which makes only one NaN.
  static constexpr bool computed = false;
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
struct WarpShape {
  static_assert(Config::k >= 1 && Config::k <= 32, "a lane per slot");
  static_assert(Config::vector >= 1 && Config::vectors >= 1 &&
                    Config::vector * Config::vectors <= 32,
                "registers");

  enum : int {
    k = Config::k,
    vector = Config::vector,
    vectors = Config::vectors,
    items = vector * vectors,
    // The bits of a word that hold the number of a lane's element, counted
    // backwards.
    which = (1 << ceil_log2(items)) - 1,
    // Many slots are filled in a loop, and a lane may give more than four
    // elements.
    searches_again = k > 8
  };
  static constexpr bool values = Config::needs_values,
                        computed = Config::computed, largest = Config::largest,
                        ties_high = Config::ties_high,
                        nan_first = Config::nan_first,
                        has_head = Config::has_head;
  static constexpr TopkOrder order = Config::order;
};

// Larger for larger results of arithmetic. NaN, whose magnitude is above that
// of infinity, wraps around to 1. Both zeros have one key.
__device__ __forceinline__ unsigned warp_key(float result) {
  const unsigned bits = as_unsigned(result);
  const unsigned sign = (unsigned)((int)bits >> 31);
  return ((bits & 0x7FFFFFFFu) ^ sign) - sign + 0x80000002u;
}
// The number with a key.
__device__ __forceinline__ float warp_number(unsigned key) {
  const unsigned from_zero = key - 0x80000002u;
  const unsigned sign = (unsigned)((int)from_zero >> 31);
  return as_float(((from_zero ^ sign) - sign) | (sign & 0x80000000u));
}
// The same in the order of a selection: NaN may be above infinity.
template <typename Shape>
__device__ __forceinline__ unsigned warp_ordered_key(float result) {
  const unsigned key = warp_key(result);
  if constexpr (Shape::nan_first)
    return key == 1 ? 0xFF800003u : key;
  return key;
}
// The key of an element; larger for those that come first.
template <typename Shape>
__device__ __forceinline__ unsigned warp_key_of(float value) {
  if constexpr (!Shape::computed)
    value = add_f32(value, 0.0f);
  return warp_ordered_key<Shape>(Shape::largest ? value : sub_f32(0.0f, value));
}

// The elements of a row that a lane holds.
template <typename Shape>
struct WarpRow {
  // The keys that elements are compared by; 0 for a missing element.
  unsigned keys[Shape::items];
  float values[Shape::items];

  // The index of an element relative to that of the lane's first one.
  __device__ __forceinline__ static int offset(int item) {
    return item / Shape::vector * (32 * Shape::vector) + item % Shape::vector;
  }

  template <typename Load>
  __device__ __forceinline__ void fill(int first, int length, int head,
                                       Load load) {
#pragma unroll
    for (int c = 0; c < Shape::vectors; ++c) {
      const int column = first + offset(c * Shape::vector);
      float *own = values + c * Shape::vector;
      if (column < length) {
        const auto loaded = load(column);
#pragma unroll
        for (int v = 0; v < Shape::vector; ++v)
          own[v] = loaded[v];
      }
#pragma unroll
      for (int v = 0; v < Shape::vector; ++v)
        keys[c * Shape::vector + v] =
            column + v < length ? warp_key_of<Shape>(own[v]) : 0;
    }
    if constexpr (Shape::has_head) {
#pragma unroll
      for (int v = 0; v + 1 < Shape::vector; ++v)
        keys[v] = first + v < head ? 0 : keys[v];
    }
  }

  // The value of the element with this index, for all lanes.
  __device__ __forceinline__ float value_of(int first, int index) const {
    float value = values[0];
#pragma unroll
    for (int i = 1; i < Shape::items; ++i)
      value = first + offset(i) == index ? values[i] : value;
    return __shfl_sync(0xFFFFFFFFu, value,
                       (int)((unsigned)index / Shape::vector % 32));
  }
};

// The four largest words of a lane's elements; if it searches again, of those
// below a word.
template <typename Shape>
struct WarpWords {
  unsigned best, next, third, fourth;

  __device__ __forceinline__ void search(const WarpRow<Shape> &row,
                                         unsigned below) {
    best = next = third = fourth = 0;
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      unsigned word =
          (row.keys[i] & ~(unsigned)Shape::which) | (Shape::which - i);
      if (Shape::searches_again)
        word = word < below ? word : 0;
      const unsigned second = word < best ? word : best;
      best = word > best ? word : best;
      const unsigned last = second < next ? second : next;
      next = second > next ? second : next;
      const unsigned lowest = last < third ? last : third;
      third = last > third ? last : third;
      fourth = lowest > fourth ? lowest : fourth;
    }
  }
};

// The indices of the first elements, one per lane, and whether they are
// certain.
template <typename Shape>
__device__ __forceinline__ bool warp_best(const WarpRow<Shape> &row,
                                          int &index) {
  constexpr unsigned which = Shape::which;
  const int lane = threadIdx.x % 32;
  WarpWords<Shape> words = {0, 0, 0, 0};
  unsigned own = 0, holders = 0, word = 0xFFFFFFFFu;
#pragma unroll(Shape::searches_again ? 1 : Shape::k + 1)
  for (int slot = 0; slot <= Shape::k; ++slot) {
    if (slot == 0 || (Shape::searches_again && words.best == 0))
      words.search(row, word);
    word = __reduce_max_sync(0xFFFFFFFFu, words.best);
    if (slot == Shape::k)
      break;
    const bool has = words.best == word;
    const unsigned having = __ballot_sync(0xFFFFFFFFu, has);
    own = lane == slot ? word : own;
    holders = lane == slot ? having : holders;
    words.best = has ? words.next : words.best;
    words.next = has ? words.third : words.next;
    words.third = has ? words.fourth : words.third;
    words.fourth = has ? 0 : words.fourth;
  }
  // Words whose upper bits are equal follow each other, in one lane or in
  // several, so a slot is certain if the upper bits of the next one differ. For
  // NaN and for missing elements they are 0, and so they are in all later
  // slots.
  const unsigned after = __shfl_sync(0xFFFFFFFFu, own, lane + 1);
  const bool known = (own ^ (lane == Shape::k - 1 ? word : after)) > which &&
                     (holders & (holders - 1)) == 0;
  index = (31 - __clz((int)holders)) * Shape::vector +
          WarpRow<Shape>::offset((int)(which - (own & which)));
  return __all_sync(0xFFFFFFFFu, (known || lane >= Shape::k) &&
                                     (words.best != 0 || Shape::items <= 4 ||
                                      Shape::searches_again));
}

// The same by whole keys, which are removed one after another; -1 if none is
// left.
template <typename Shape>
__device__ __forceinline__ int warp_search(WarpRow<Shape> &row, int first) {
  int own = -1;
#pragma unroll 1
  for (int slot = 0; slot < Shape::k; ++slot) {
    unsigned best = 0;
#pragma unroll
    for (int i = 0; i < Shape::items; ++i)
      best = row.keys[i] > best ? row.keys[i] : best;
    best = __reduce_max_sync(0xFFFFFFFFu, best);
    if (best == 0)
      break;
    constexpr bool high = Shape::ties_high;
    int index = topk_no_index;
#pragma unroll
    for (int n = Shape::items - 1; n >= 0; --n) {
      const int i = topk_position<high>(n, Shape::items);
      index = row.keys[i] == best
                  ? topk_position<high>(first + WarpRow<Shape>::offset(i),
                                        topk_no_index)
                  : index;
    }
    index = topk_position<high>(__reduce_min_sync(0xFFFFFFFFu, index),
                                topk_no_index);
#pragma unroll
    for (int i = 0; i < Shape::items; ++i)
      row.keys[i] =
          first + WarpRow<Shape>::offset(i) == index ? 0 : row.keys[i];
    own = (int)threadIdx.x % 32 == slot ? index : own;
  }
  return own;
}

// The contents of a slot.
struct WarpSlot {
  int index;
  float value;
};

// Slots in the order of their indices, -1 last.
template <int K>
__device__ __forceinline__ WarpSlot warp_by_index(WarpSlot own) {
  const int lane = threadIdx.x % 32;
  int before = 0;
#pragma unroll 1
  for (int other = 0; other < K; ++other) {
    const unsigned index = __shfl_sync(0xFFFFFFFFu, (unsigned)own.index, other);
    before += index < (unsigned)own.index ||
              (index == (unsigned)own.index && other < lane);
  }
  WarpSlot to = own;
#pragma unroll 1
  for (int other = 0; other < K; ++other) {
    const int slot = __shfl_sync(0xFFFFFFFFu, before, other);
    const int index = __shfl_sync(0xFFFFFFFFu, own.index, other);
    const float value = __shfl_sync(0xFFFFFFFFu, own.value, other);
    if (slot == lane)
      to = {index, value};
  }
  return to;
}

// Selects from the whole row.
struct WarpWhole {
  static constexpr bool keeps_all = true;
  template <typename Row>
  __device__ __forceinline__ static void keep(Row &, int) {}
};

// Selects by the lanes of a warp, from the elements that `Groups` keeps.
template <typename Shape, typename Groups, typename Load, typename Emit>
__device__ __forceinline__ void topk_lanes(int length, int head, Load load,
                                           Emit emit) {
  const int lane = threadIdx.x % 32, first = lane * Shape::vector;
  WarpRow<Shape> row = {};
  row.fill(first, length, head, load);
  Groups::keep(row, first);
  int index;
  if (!warp_best(row, index))
    index = warp_search(row, first);
  // As topk_emit() does it.
  if constexpr (Shape::order == TopkOrder::unordered && Groups::keeps_all)
    if (length - head <= Shape::k)
      index = lane < length - head ? lane + head : -1;
  WarpSlot own = {lane < Shape::k ? index : -1,
                  as_float(Shape::largest ? 0xFF800000u : 0x7F800000u)};
  if constexpr (Shape::values) {
#pragma unroll 1
    for (int slot = 0; slot < Shape::k; ++slot) {
      const int at = __shfl_sync(0xFFFFFFFFu, own.index, slot);
      const float value = row.value_of(first, at);
      own.value = lane == slot && at >= 0 ? value : own.value;
    }
    // As selections by blocks return them: one zero, and one NaN.
    if constexpr (Shape::nan_first)
      own.value = add_f32(own.value, 0.0f);
  }
  if constexpr (Shape::has_head)
    own.index = own.index < 0 ? own.index : own.index - head;
  if constexpr (Shape::order == TopkOrder::index_ascending)
    own = warp_by_index<Shape::k>(own);
  emit(lane, own.index, own.value);
}

// Selects the k best of `length` elements by a warp.
//
//   load(column)              as in topk_rows.cuh, called once per column.
//   emit(slot, index, value)  called by all lanes at once, with the lane as the
//                             slot. From k on, and after the last element, the
//                             index is -1 and the value -inf.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_warp(int length, Load load, Emit emit) {
  topk_lanes<WarpShape<Config>, WarpWhole>(length, 0, load, emit);
}

// The same without the first `head` elements, fewer than those of a vector.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_warp(int length, int head, Load load,
                                          Emit emit) {
  topk_lanes<WarpShape<Config>, WarpWhole>(length, head, load, emit);
}

} // namespace dsv4
