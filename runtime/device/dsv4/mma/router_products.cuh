//===- router_products.cuh - Products of experts and rows -------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the two kernels of router_logits.cuh have in common. For CUDA only.
//
// Experts are A and rows are B. The order of elements is free, if it is the
// same for both. So lane c of four takes the 16 bytes c of every 64 of a row of
// B, which are its part of two products of 16 elements. Of A it takes the same
// elements. All kernels multiply elements in this order.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_shape.cuh"

#ifdef __CUDACC__

namespace dsv4 {

// 16 bytes, of which those from `left` on are not there and become zeros.
template <int AccessBytes>
__device__ __forceinline__ void load_router_unit(unsigned *to, int left,
                                                 const char *from) {
  if constexpr (AccessBytes == 16) {
    ld_16(to, left > 0, from, evict_normal());
  } else if constexpr (AccessBytes == 8) {
#pragma unroll
    for (int i = 0; i < 2; ++i)
      ld_8(to + 2 * i, left > 8 * i, from + 8 * i, evict_normal());
  } else if constexpr (AccessBytes == 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      ld_4(to + i, left > 4 * i, from + 4 * i, evict_normal());
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      to[i] = ld_2(left > 4 * i, from + 4 * i, evict_normal()) |
              ld_2(left > 4 * i + 2, from + 4 * i + 2, evict_normal()) << 16;
  }
}
// The same to shared memory, complete after wait_for_copies().
template <int AccessBytes>
__device__ __forceinline__ void copy_router_unit(unsigned to, int left,
                                                 const char *from) {
  if constexpr (AccessBytes >= 4) {
#pragma unroll
    for (int at = 0; at < 16; at += AccessBytes)
      copy_async_part<AccessBytes>(to + at, from + at,
                                   left > at ? AccessBytes : 0);
  } else {
    unsigned words[4];
    load_router_unit<AccessBytes>(words, left, from);
    st_shared_8(to, words[0], words[1]);
    st_shared_8(to + 8, words[2], words[3]);
  }
}

// A lane's weights of one expert and two products: the 8 elements of one lane.
template <typename Weight>
struct RouterUnit;
template <>
struct RouterUnit<bf16> {
  enum : int { parts = 1, words = 4 };
  unsigned word[words];

  __device__ __forceinline__ void split(unsigned (&to)[parts][4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      to[0][i] = word[i];
  }
};
// A float is the sum of three bf16, the smallest one first; an infinity or NaN
// is the last one.
template <>
struct RouterUnit<float> {
  enum : int { parts = 3, words = 8 };
  unsigned word[words];

  __device__ __forceinline__ void split(unsigned (&to)[parts][4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned left[2] = {word[2 * i], word[2 * i + 1]};
#pragma unroll
      for (int part = parts - 1; part >= 0; --part) {
        to[part][i] = permute_bytes(left[0], left[1], 0x7632);
#pragma unroll
        for (int j = 0; j < 2; ++j)
          left[j] = without_upper(left[j]);
      }
      // NaN, if the bits that say so were in the lower half.
#pragma unroll
      for (int j = 0; j < 2; ++j)
        if ((word[2 * i + j] & 0x7FFFFFFF) > 0x7F800000)
          to[parts - 1][i] |= 0x7FFFu << 16 * j;
    }
  }

private:
  // Exact.
  __device__ __forceinline__ static unsigned without_upper(unsigned bits) {
    const bool finite = (bits & 0x7F800000) != 0x7F800000;
    return finite ? as_unsigned(
                        sub_f32(as_float(bits), as_float(bits & 0xFFFF0000)))
                  : 0;
  }
};

// 16 experts and 32 elements, as fragments of A of two products: the units of
// the experts l / 4 and l / 4 + 8.
template <typename Weight>
struct RouterFragments {
  using Unit = RouterUnit<Weight>;
  unsigned a[2][Unit::parts][4];

  __device__ __forceinline__ RouterFragments(const Unit &low,
                                             const Unit &high) {
    unsigned rows[2][Unit::parts][4];
    low.split(rows[0]);
    high.split(rows[1]);
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int part = 0; part < Unit::parts; ++part)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          a[s][part][i] = rows[i % 2][part][2 * s + i / 2];
  }
  // Adds the products with 8 rows.
  __device__ __forceinline__ void multiply(float (&d)[4],
                                           const unsigned (&b)[4]) const {
#pragma unroll
    for (int s = 0; s < 2; ++s)
#pragma unroll
      for (int part = 0; part < Unit::parts; ++part)
        mma_bf16(d, a[s][part], b[2 * s], b[2 * s + 1]);
  }
};

} // namespace dsv4

#endif // __CUDACC__
