//===- gate.cuh - Scores of experts -----------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of logits, in the steps of docs/Router.md, and elements of rows by
// index.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"
#include "rows/exp.cuh"
#include "rows/rows.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

// ln(1 + y) / y for 0 <= y <= 1, within 2 ulp; 1 for y = 0.
__device__ __forceinline__ float log1p_quotient(float y) {
  float p = fma_f32(y, -3.17605701e-03f, 1.95425265e-02f);
  p = fma_f32(p, y, -5.63736111e-02f);
  p = fma_f32(p, y, 1.05436236e-01f);
  p = fma_f32(p, y, -1.52696669e-01f);
  p = fma_f32(p, y, 1.96632743e-01f);
  p = fma_f32(p, y, -2.49516159e-01f);
  p = fma_f32(p, y, 3.33297104e-01f);
  p = fma_f32(p, y, -4.99998927e-01f);
  return fma_f32(p, y, 1.0f);
}

// The root of ln(1 + e^x). With h = e^(-|x|/2) and y = h * h, ln(1 + e^x) is
// x + ln(1 + y) for x >= 0, else ln(1 + y), whose root is that of ln(1 + y) / y
// times h: that does not underflow where y does.
__device__ __forceinline__ float sqrt_softplus(float x) {
  const float h = exp_minus_half_f32(abs_f32(x));
  const float y = mul_f32(h, h), quotient = log1p_quotient(y);
  // Both sides are computed, because elements without branches share constants.
  const float above = fma_f32(y, quotient, x);
  const bool negative = x < 0.0f;
  const float root = sqrt_large_f32(negative ? quotient : above);
  const float below = mul_f32(h, root);
  return negative ? below : root;
}

__device__ __forceinline__ float sigmoid(float x) {
  const float y = exp_f32(-abs_f32(x));
  const float part = div_f32(x < 0.0f ? y : 1.0f, add_f32(1.0f, y));
  return x == x ? part : add_f32(x, x);
}

// For x <= 0; NaN of NaN.
__device__ __forceinline__ float exp(float x) {
  return x == x ? exp_f32(x) : add_f32(x, x);
}

template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
sqrt_softplus(Tile<float, S, V> x) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    x.words[i] = sqrt_softplus(x.words[i]);
  return x;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> sigmoid(Tile<float, S, V> x) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    x.words[i] = sigmoid(x.words[i]);
  return x;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> exp(Tile<float, S, V> x) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    x.words[i] = exp(x.words[i]);
  return x;
}

template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> nan_to_zero(Tile<float, S, V> x) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    x.words[i] = x.words[i] == x.words[i] ? x.words[i] : 0.0f;
  return x;
}

// The larger of each pair, NaN if one is NaN.
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V> max_nan(Tile<float, S, V> a,
                                                     float b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = max_nan_f32(a.words[i], b);
  return a;
}

template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
max_nan(Tile<float, S, V> a, const Tile<float, S, V> &b) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    a.words[i] = max_nan_f32(a.words[i], b.words[i]);
  return a;
}

// The largest of a group, NaN if there is one.
template <int Lanes, int Group, int S, int V>
__device__ __forceinline__ Groups<Lanes, Group, S, V>
max_nan(const Tile<float, S, V> &from) {
  constexpr int part = Group < V ? Group : V;
  float values[S * V / part];
#pragma unroll
  for (int i = 0; i < S * V / part; ++i) {
    values[i] = from.words[i * part];
#pragma unroll
    for (int j = 1; j < part; ++j)
      values[i] = max_nan_f32(values[i], from.words[i * part + j]);
  }
  return fold_groups<MaxNaN, Lanes, Group, S, V>(values);
}

//===----------------------------------------------------------------------===//
// Elements by index
//===----------------------------------------------------------------------===//

// The elements of a row of `count` elements with these indices; zero bits for
// an index out of range.
template <typename T, int S, int V>
__device__ __forceinline__ Tile<T, S, V>
gather(const T *row, const Tile<int, S, V> &indices, int count) {
  Tile<T, S, V> to = {};
#pragma unroll
  for (int i = 0; i < S * V; ++i) {
    const int index = indices.words[i];
    const bool valid = (unsigned)index < (unsigned)count;
    const T *from = row + (valid ? index : 0);
    if constexpr (bits_of<T>::value == 64) {
      ld_8(to.words + 2 * i, valid, from, evict_normal());
    } else if constexpr (bits_of<T>::value == 32) {
      unsigned word;
      ld_4(&word, valid, from, evict_normal());
      assign(to.words[i], word);
    } else {
      constexpr int words = Tile<T, S, V>::vector_words;
      to.words[i / V * words + i % V / 2] |= ld_2(valid, from, evict_normal())
                                             << i % V % 2 * 16;
    }
  }
  return to;
}

// The element with this index of a row that the lanes of a warp hold; another
// index in each lane. 0 for an index that no lane has.
template <int S, int V>
__device__ __forceinline__ Tile<float, 1, 1> pick(const Tile<float, S, V> &row,
                                                  int index) {
  const int lane = (int)((unsigned)index / V % 32);
  const int item = (int)((unsigned)index / (32 * V) * V + (unsigned)index % V);
  Tile<float, 1, 1> to = {};
#pragma unroll
  for (int i = 0; i < S * V; ++i) {
    const float value = __shfl_sync(0xFFFFFFFFu, row.words[i], lane);
    to.words[0] = item == i ? value : to.words[0];
  }
  return to;
}

// start + j * step for every element j of a row that a thread has: those from
// first + s * stride on in its vector s.
template <typename To>
__device__ __forceinline__ To sequence(int start, int step, int first,
                                       int stride = 0) {
  To to;
#pragma unroll
  for (int i = 0; i < To::steps * To::vector; ++i)
    to.words[i] =
        (int)((unsigned)start +
              (unsigned)(first + i / To::vector * stride + i % To::vector) *
                  (unsigned)step);
  return to;
}

// The elements of `head` that are before element `count` of their row, and the
// other ones of `tail`. Positions are those of sequence().
template <typename T, int S, int V>
__device__ __forceinline__ Tile<T, S, V> splice(Tile<T, S, V> head, int count,
                                                const Tile<T, S, V> &tail,
                                                int first, int stride = 0) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    if (first + i / V * stride + i % V >= count)
      head.words[i] = tail.words[i];
  return head;
}

// The values whose index is below `count`, and the other number for the others.
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
where_valid(Tile<float, S, V> values, const Tile<int, S, V> &indices, int count,
            float otherwise = 0.0f) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    if ((unsigned)indices.words[i] >= (unsigned)count)
      values.words[i] = otherwise;
  return values;
}
template <int S, int V>
__device__ __forceinline__ Tile<float, S, V>
where_valid(Tile<float, S, V> values, int index, int count,
            float otherwise = 0.0f) {
  return where_valid(values, fill<Tile<int, S, V>>(index), count, otherwise);
}
// The same of indices: -1 for the others.
template <int S, int V>
__device__ __forceinline__ Tile<int, S, V>
where_valid(Tile<int, S, V> values, const Tile<int, S, V> &indices, int count) {
#pragma unroll
  for (int i = 0; i < S * V; ++i)
    if ((unsigned)indices.words[i] >= (unsigned)count)
      values.words[i] = -1;
  return values;
}
template <int S, int V>
__device__ __forceinline__ Tile<int, S, V> where_valid(Tile<int, S, V> values,
                                                       int index, int count) {
  return where_valid(values, fill<Tile<int, S, V>>(index), count);
}
// The same if all values are one number.
template <typename Values, typename Indices>
__device__ __forceinline__ Values where_valid(float value,
                                              const Indices &indices,
                                              int count) {
  return where_valid(fill<Values>(value), indices, count);
}

} // namespace dsv4
