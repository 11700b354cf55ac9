//===- is_last.cuh - Elements that come again -------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every row has an element, and asks whether a later row has the same one. A
// negative element counts as different from all others, and so does one of 64
// bits that int does not hold.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/integers.cuh"
#include "core/memory.cuh"

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Elements as int
//===----------------------------------------------------------------------===//

__device__ __forceinline__ int load_element(const int *from) {
  return load<int>(from);
}
__device__ __forceinline__ int load_element(const long long *from) {
  return narrow(load<long long>(from));
}

// The bits of four elements from an address aligned to 16 bytes.
__device__ __forceinline__ Tile<float, 1, 4> load_four(const int *from) {
  return load<Tile<float, 1, 4>>(from);
}
__device__ __forceinline__ Tile<float, 1, 4> load_four(const long long *from) {
  const Tile<int, 1, 4> elements =
      narrow(load<Tile<long long, 1, 4>, 16>(from));
  Tile<float, 1, 4> four;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    four.words[i] = as_float((unsigned)elements.words[i]);
  return four;
}

//===----------------------------------------------------------------------===//
// Each row by itself
//===----------------------------------------------------------------------===//

// Whether one of the four elements from `first` on that come after element `at`
// and before `count` is `own`.
template <typename Int>
__device__ __forceinline__ bool has_later(const Int *elements, int first,
                                          int at, int count, int own) {
  bool found = false;
#pragma unroll
  for (int i = first; i < first + 4; ++i)
    found |= i > at && i < count && load_element(elements + i) == own;
  return found;
}

// Whether no later one of `count` elements equals element `at`. Lanes take
// vectors of four in turn. They begin at a multiple of the bytes that all lanes
// take at a time, so that rows of one warp read the same ones together.
template <int Lanes, typename Int>
__device__ __forceinline__ bool is_last(const Int *elements, int at,
                                        int count) {
  constexpr int step = 4 * Lanes;
  const int lane = threadIdx.x % Lanes;
  const int own = load_element(elements + at);
  bool later = false;
  if (own >= 0 && at + 1 < count) {
    const int before = (int)((unsigned long long)(elements + at + 1) /
                             sizeof(Int) % (unsigned)step);
    int first = at + 1 - before + lane * 4;
    // The first step may begin before the elements, and the last one end after
    // them.
    later = has_later(elements, first, at, count, own);
#pragma unroll 4
    for (first += step; first + 4 <= count; first += step) {
      const auto vector = load_four(elements + first);
#pragma unroll
      for (int i = 0; i < 4; ++i)
        later |= as_unsigned(vector[i]) == (unsigned)own;
    }
    later |= has_later(elements, first, at, count, own);
  }
#pragma unroll
  for (int distance = 1; distance < Lanes; distance *= 2)
    later |= exchange<Lanes>((unsigned)later, distance) != 0;
  return !later;
}

//===----------------------------------------------------------------------===//
// The rows of a block together
//===----------------------------------------------------------------------===//

// What the rows of a block look for. Most elements of other rows are outside of
// the range of the block's elements, or have no bit in the filter.
template <int Rows>
struct WantedElements {
  enum : int { filter_bits = 16384, filter_words = filter_bits / 32 };

  // A bit for the low bits of every element: the bits of neighbouring elements,
  // as most slots are, are in few words.
  unsigned filter[filter_words];
  // The range of the elements that are not negative.
  unsigned lowest, highest;
  int elements[Rows];
  // Whether a later row has it.
  bool repeated[Rows];

  // All threads of the block call this.
  template <int Threads, typename Int>
  __device__ __forceinline__ void set(const Int *from) {
    int own = -1;
    if (threadIdx.x < Rows)
      own = load_element(from + threadIdx.x);
    // The rows may have looked for others before.
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < filter_words; i += Threads)
      filter[i] = 0;
    if (threadIdx.x == 0) {
      lowest = 0xFFFFFFFFu;
      highest = 0;
    }
    if (threadIdx.x < Rows)
      elements[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x < Rows) {
      bool found = false;
#pragma unroll 16
      for (int row = 1; row < Rows; ++row)
        found |= row > (int)threadIdx.x && elements[row] == own;
      repeated[threadIdx.x] = found && own >= 0;
      if (own >= 0) {
        atomicOr(&filter[own / 32 % filter_words], 1u << own % 32);
        atomicMin(&lowest, (unsigned)own);
        atomicMax(&highest, (unsigned)own);
      }
    }
    __syncthreads();
  }
  // Four elements of rows after the block.
  __device__ __forceinline__ void look(const Tile<float, 1, 4> &found) {
    unsigned any = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned element = as_unsigned(found[i]);
      any |= filter[element / 32 % filter_words] >> element % 32;
    }
    if (any & 1)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        mark((int)as_unsigned(found[i]));
  }
  __device__ __forceinline__ void mark(int element) {
#pragma unroll 16
    for (int row = 0; row < Rows; ++row)
      if (element >= 0 && elements[row] == element)
        repeated[row] = true;
  }
};

// The same by all `Threads` threads of a block, if there are more than
// `MaxAlone` elements. All threads hold rows. The row of a thread has the
// number `at`, and rows of a block are neighbours; the kernel has `rows` rows.
template <int Lanes, int Threads, int MaxAlone, typename Int>
__device__ __forceinline__ bool is_last(const Int *elements, int at, int count,
                                        int rows) {
  constexpr int block_rows = Threads / Lanes, thread_vectors = 4;
  const int row = threadIdx.x / Lanes, first = at - row;
  // The last block may lack threads, and has few elements to read.
  if (count <= MaxAlone || rows - first < block_rows ||
      count - first <= block_rows)
    return is_last<Lanes>(elements, at, count);
  __shared__ WantedElements<block_rows> wanted;
  wanted.template set<Threads>(elements + first);
  const unsigned lowest = wanted.lowest, range = wanted.highest - lowest;
  // Whole vectors after the block, and the elements before and after them.
  const unsigned after = first + block_rows;
  const unsigned odd =
      (unsigned)((unsigned long long)(elements + after) / sizeof(Int) % 4);
  const unsigned next = after + (4 - odd) % 4;
  const unsigned begin = next < (unsigned)count ? next : (unsigned)count;
  const unsigned end = begin + (count - begin) / 4 * 4;
  unsigned i = begin + 4 * threadIdx.x;
#pragma unroll 1
  for (; i < end; i += 4 * thread_vectors * Threads) {
    Tile<float, 1, 4> vectors[thread_vectors];
    unsigned least = 0xFFFFFFFFu;
#pragma unroll
    for (int v = 0; v < thread_vectors; ++v) {
      const unsigned from = i + 4 * v * Threads;
      // Past the end, read the first vector again.
      vectors[v] = load_four(elements + (from < end ? from : i));
    }
#pragma unroll
    for (int v = 0; v < thread_vectors; ++v)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const unsigned distance = as_unsigned(vectors[v][j]) - lowest;
        least = distance < least ? distance : least;
      }
    if (least <= range)
#pragma unroll
      for (int v = 0; v < thread_vectors; ++v)
        wanted.look(vectors[v]);
  }
  // Four threads look at those before, and four at those after.
  const bool is_before = threadIdx.x < 4;
  i = is_before ? after + threadIdx.x : end + threadIdx.x - 4;
  if (threadIdx.x < 8 && i < (is_before ? begin : (unsigned)count))
    wanted.mark(load_element(elements + i));
  __syncthreads();
  return !wanted.repeated[row];
}

} // namespace dsv4
