//===- index_sums.cuh - Sums over heads -------------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sums over heads of index_score.cuh, of products that are added in f32 or
// in f16, and the weights in shared memory that they read. For CUDA only; the
// host has a twin of index_score.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_fragments.cuh"

#ifdef __CUDACC__

namespace dsv4 {

//===----------------------------------------------------------------------===//
// Weights of one query in shared memory, which a warp brings
//===----------------------------------------------------------------------===//

// Where the weight of a head is, in the order of a lane's accumulators.
template <typename Config>
__device__ __forceinline__ float &index_weight(char *weights, int head) {
  using Shape = IndexShape<Config>;
  const int column = head % Shape::head_tile;
  return ((float *)weights)[head / Shape::head_tile * Shape::weight_row +
                            column / 2 % 4 * (Shape::lane_weights + 4) +
                            column / 8 * 2 + column % 2];
}

// A lane has those of heads l, l + 32 and so on.
template <typename Config, int Count>
__device__ __forceinline__ void
put_index_weights(char *weights, const float (&values)[Count]) {
#pragma unroll
  for (int j = 0; j < Count; ++j)
    index_weight<Config>(weights, j * 32 + threadIdx.x % 32) = values[j];
}

// The same weights in f16, relative to the largest one, as B of products of
// warpgroups: a tile of heads has eight rows of 128 bytes. Each weight is the
// sum of two, in the even and the odd rows. `exponent` is that of the products
// in f32, less that of the products in f16. Loops, because warps that load have
// few registers.
template <typename Config>
__device__ __forceinline__ void put_half_weights(char *halves, char *weights,
                                                 int exponent) {
  using Shape = IndexShape<Config>;
  const int lane = threadIdx.x % 32;
  unsigned largest = 0;
#pragma unroll 1
  for (int head = lane; head < Shape::padded_heads; head += 32)
    largest = ::max(largest, as_unsigned(index_weight<Config>(weights, head)) &
                                 0x7FFFFFFFu);
  // The largest one becomes 2^14 and more, so that f16 has all bits of others.
  // Infinity and NaN stay what they are.
  constexpr unsigned top = 14;
  largest = __reduce_max_sync(0xFFFFFFFFu, largest) >> 23;
  largest = ::max(::min(largest, 254u + top - exponent), top + 1);
#pragma unroll 1
  for (int head = lane; head < Shape::padded_heads; head += 32) {
    const int column = head % Shape::head_tile;
    const float value = mul_f32(index_weight<Config>(weights, head),
                                as_float((254 + top - largest) << 23));
    unsigned pair = cvt_f16x2_f32(value, 0);
    float high, zero;
    cvt_f32_f16x2(high, zero, pair);
    const float left = add_f32(value, -high);
    // Nothing is left of infinity.
    pair = cvt_f16x2_f32(high, left == left ? left : 0);
    char *tile = halves + head / Shape::head_tile * Shape::half_tile;
#pragma unroll 1
    for (int row = 0; row < 8; ++row)
      *(unsigned short *)(tile + row * 128 + ((column / 8) ^ row) * 16 +
                          column % 8 * 2) =
          (unsigned short)(row % 2 ? pair >> 16 : pair);
  }
  if (lane == 0)
    ((float *)weights)[Shape::scale_slot] =
        as_float((largest + exponent - top) << 23);
}

//===----------------------------------------------------------------------===//
// Sums over heads
//===----------------------------------------------------------------------===//

// Of two keys: four chains, because that of one would be twice as long.
struct IndexSums {
  float part[2][2] = {};

  // Four accumulators of two heads. max(x, 0) * w is (x + |x|) * (w / 2), in
  // two instructions at the full rate, and NaN if x is.
  __device__ __forceinline__ void add(const float *d, const float *weights) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      part[0][i] =
          fma_f32(add_f32(d[i], abs_f32(d[i])), weights[i], part[0][i]);
      part[1][i] =
          fma_f32(add_f32(d[2 + i], abs_f32(d[2 + i])), weights[i], part[1][i]);
    }
  }
};

// The sums of four lanes c, `odd` and `upper` being its bits. Lane c has the
// sum of key c of the keys l / 4, l / 4 + 8 of the first tile and those of the
// second; of one tile, lanes 2 and 3 have what 0 and 1 have.
template <int Tiles>
__device__ __forceinline__ float own_sum(const IndexSums *sums, bool odd,
                                         bool upper) {
  float pair[Tiles];
#pragma unroll
  for (int t = 0; t < Tiles; ++t) {
    const float first = add_f32(sums[t].part[0][0], sums[t].part[0][1]);
    const float second = add_f32(sums[t].part[1][0], sums[t].part[1][1]);
    const float other = exchange<32>(odd ? first : second, 1);
    pair[t] = add_f32(odd ? second : first, other);
  }
  const float given = exchange<32>(upper ? pair[0] : pair[Tiles - 1], 2);
  return add_f32(upper ? pair[Tiles - 1] : pair[0], given);
}

// Of two keys, of products that are added in f16. The sum over heads is a
// product, too: a lane's pairs are a fragment of A, and weights are B. All even
// columns of the result are equal, and so are all odd ones, so that a lane has
// the sums of its keys.
struct IndexHalfSums {
  float part[4];

  // Begins the sum over a tile of heads. `pairs` may be touched again when it
  // is complete. The first tile of heads does not `add`.
  template <int Pairs>
  __device__ __forceinline__ void start(unsigned (&pairs)[Pairs],
                                        const unsigned (&d)[Pairs],
                                        unsigned weights, bool add) {
#pragma unroll
    for (int i = 0; i < Pairs; ++i)
      pairs[i] = relu_f16x2(d[i]);
    pin(part);
    begin_products();
#pragma unroll
    for (int i = 0; i < Pairs; i += 4) {
      const unsigned a[4] = {pairs[i], pairs[i + 1], pairs[i + 2],
                             pairs[i + 3]};
      wgmma_f16(part, a, swizzled_rows(weights + i / 2), add || i > 0);
    }
    commit_products();
  }
};
template <int Tiles>
__device__ __forceinline__ float own_sum(const IndexHalfSums *sums, bool odd,
                                         bool upper) {
  const auto sum = [&](const float (&part)[4]) {
    return odd ? add_f32(part[2], part[3]) : add_f32(part[0], part[1]);
  };
  const float first = sum(sums[0].part), last = sum(sums[Tiles - 1].part);
  return upper ? last : first;
}

// What products are added in, and how they are summed up over heads.
template <IndexProducts Products>
struct IndexAdding {
  using Number = float;
  using Sums = IndexSums;
};
template <>
struct IndexAdding<IndexProducts::f8_in_f16> {
  using Number = unsigned; // Two f16.
  using Sums = IndexHalfSums;
};

// The scale of the key that this lane has of a step.
template <int Products, int Tiles>
__device__ __forceinline__ float
own_scale(const IndexFragment<Products> (&keys)[Tiles], bool upper) {
  return upper ? keys[Tiles - 1].scale : keys[0].scale;
}

} // namespace dsv4

#endif // __CUDACC__
