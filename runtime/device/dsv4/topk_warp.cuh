//===- topk_warp.cuh - The best elements of short rows ----------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row by a warp. Each lane has its elements in registers and looks for its best
// two of them, and for how good the third is; then the warp takes the best of all
// lanes, one after another. A lane whose third is taken looks again.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "topk.cuh"

namespace dsv4 {

// The best `K` of rows, of which a lane has `Chunks` vectors of `Vector` elements.
// `Values`: whether what was selected is asked for, beside its index. `Computed`:
// whether elements are results of arithmetic, which makes one NaN only.
template <int K, int Vector, int Chunks, bool Values, bool Computed,
          TopkOrder Order, bool Largest>
struct WarpShape {
  enum : int {
    k = K,
    vector = Vector,
    chunks = Chunks,
    items = Vector * Chunks,
    // Places that are filled without a loop, as long as all goes as it mostly does.
    unrolled = K <= 8 ? K : 0
  };
  static constexpr bool values = Values, computed = Computed, largest = Largest;
  static constexpr TopkOrder order = Order;

  static_assert(K >= 1 && K <= 32, "a lane a place");
  static_assert(items <= 32, "registers");
};

// An element of a lane: what it is compared by, 0 where there is none, and its
// index in the row less that of the lane's first element.
struct WarpElement {
  unsigned key;
  int offset;
};

// Larger for larger results of arithmetic; 1 of NaN, whose magnitude is above that
// of infinity and goes round. The two zeros are one.
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
// Of an element: larger for those that come first.
template <typename Shape>
__device__ __forceinline__ unsigned warp_key_of(float value) {
  if constexpr (!Shape::computed)
    value = add_f32(value, 0.0f);
  return warp_key(Shape::largest ? value : sub_f32(0.0f, value));
}

// What a lane has of a row that is not taken yet.
template <typename Shape> struct WarpRow {
  enum : int { unknown = -0x10000 };

  unsigned keys[Shape::items];
  float values[Shape::items];
  // The best element, and the next: the last that was taken, where the offset of
  // the best is unknown.
  WarpElement best, next;
  // Of the one behind them.
  unsigned third;

  __device__ __forceinline__ static int offset(int item) {
    return item / Shape::vector * (32 * Shape::vector) + item % Shape::vector;
  }

  template <typename Load>
  __device__ __forceinline__ void fill(int first, int length, Load load) {
#pragma unroll
    for (int c = 0; c < Shape::chunks; ++c) {
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
  }

  // The best that come behind `last`; with `All` of all.
  template <bool All>
  __device__ __forceinline__ void search(WarpElement last) {
    best = next = {0, 0};
    third = 0;
#pragma unroll
    for (int i = 0; i < Shape::items; ++i) {
      // Of equal ones those in front come first, and are met first.
      const bool left = All || keys[i] < last.key ||
                        (keys[i] == last.key && offset(i) > last.offset);
      const unsigned key = left ? keys[i] : 0;
      const bool is_best = key > best.key, is_next = key > next.key;
      third = is_next ? next.key : key > third ? key : third;
      next.offset = is_best ? best.offset : is_next ? offset(i) : next.offset;
      next.key = is_best ? best.key : is_next ? key : next.key;
      best.offset = is_best ? offset(i) : best.offset;
      best.key = is_best ? key : best.key;
    }
  }

  __device__ __forceinline__ void take() {
    if (next.key != 0) {
      best = next;
      next.key = 0;
    } else {
      next = best;
      best = {third, unknown};
    }
  }

  __device__ __forceinline__ float value_of(int at) const {
    float value = values[0];
#pragma unroll
    for (int i = 1; i < Shape::items; ++i)
      value = offset(i) == at ? values[i] : value;
    return value;
  }
};

// What is in a place.
struct WarpPlace {
  int index;
  float value;
};

// What comes next of the row goes to a place. Without `Any` only where one lane
// has it and knows where; else nothing is done, and the result is false.
template <bool Any, typename Shape>
__device__ __forceinline__ bool warp_round(WarpRow<Shape> &row, int first,
                                           int place, WarpPlace &own) {
  const int lane = threadIdx.x % 32;
  const unsigned key = __reduce_max_sync(0xFFFFFFFFu, row.best.key);
  const bool has = row.best.key == key;
  const unsigned holders = __ballot_sync(0xFFFFFFFFu, has);
  int holder = 31 - __clz((int)holders);
  int index = __shfl_sync(0xFFFFFFFFu, first + row.best.offset, holder);
  // Where nothing is left all lanes have that.
  if ((holders & (holders - 1)) != 0 || index < 0) {
    if (!Any || key == 0)
      return false;
    // Several lanes have it, of which that with the lowest index gives it; or it
    // is the third of one.
    if (has && row.best.offset < 0)
      row.template search<false>(row.next);
    const int found = has ? first + row.best.offset : 0x7FFFFFFF;
    index = __reduce_min_sync(0xFFFFFFFFu, found);
    holder = 31 - __clz((int)__ballot_sync(0xFFFFFFFFu, found == index));
  }
  float value = own.value;
  if constexpr (Shape::values)
    value = __shfl_sync(0xFFFFFFFFu, row.value_of(row.best.offset), holder);
  if (lane == place)
    own = {index, value};
  if (lane == holder)
    row.take();
  return true;
}

// Places in the order of their indices, -1 last.
template <int K>
__device__ __forceinline__ WarpPlace warp_by_index(WarpPlace own) {
  const int lane = threadIdx.x % 32;
  int before = 0;
#pragma unroll 1
  for (int other = 0; other < K; ++other) {
    const unsigned index = __shfl_sync(0xFFFFFFFFu, (unsigned)own.index, other);
    before += index < (unsigned)own.index ||
              (index == (unsigned)own.index && other < lane);
  }
  WarpPlace to = own;
#pragma unroll 1
  for (int other = 0; other < K; ++other) {
    const int place = __shfl_sync(0xFFFFFFFFu, before, other);
    const int index = __shfl_sync(0xFFFFFFFFu, own.index, other);
    const float value = __shfl_sync(0xFFFFFFFFu, own.value, other);
    if (place == lane)
      to = {index, value};
  }
  return to;
}

// All of a row is chosen from.
struct WarpWhole {
  template <typename Row>
  __device__ __forceinline__ static void keep(Row &, int) {}
};

// By the lanes of a warp, from what `Groups` keeps of the row.
//
//   load(column)              as in topk_rows.cuh, called once a column.
//   emit(place, index, value) once by every lane, all of them at once, with its
//                             number as the place. From K on, and behind the last
//                             element, the index is -1 and the value -inf.
template <typename Shape, typename Groups = WarpWhole, typename Load,
          typename Emit>
__device__ __forceinline__ void topk_warp(int length, Load load, Emit emit) {
  const int lane = threadIdx.x % 32, first = lane * Shape::vector;
  WarpRow<Shape> row = {};
  row.fill(first, length, load);
  Groups::keep(row, first);
  row.template search<true>({0, 0});
  WarpPlace own = {-1, as_float(Shape::largest ? 0xFF800000u : 0x7F800000u)};
  int place = 0;
#pragma unroll
  for (; place < Shape::unrolled; ++place)
    if (!warp_round<false>(row, first, place, own))
      break;
#pragma unroll 1
  for (; place < Shape::k; ++place)
    warp_round<true>(row, first, place, own);
  if constexpr (Shape::order == TopkOrder::index_ascending)
    own = warp_by_index<Shape::k>(own);
  emit(lane, own.index, own.value);
}

} // namespace dsv4
