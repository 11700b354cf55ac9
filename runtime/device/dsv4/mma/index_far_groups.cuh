//===- index_far_groups.cuh - Keys with scales far apart --------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of index_score_ring.cuh for MXFP4 keys whose groups are too far
// apart for products that are added in f16. No quantiser writes many of them.
// For CUDA only; the host has a twin of index_score.cuh.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/index_sums.cuh"

#ifdef __CUDACC__

namespace dsv4 {

// 16 keys of a warp, of which this lane has words of keys l / 4 and l / 4 + 8,
// and their products with E4M3 queries in shared memory, by products of the
// warp that are added in f32. Keys are loaded and expanded anew for each eight
// heads, because the warps that compute have few registers left.
template <typename Config>
class IndexFarGroups {
public:
  using Shape = IndexShape<Config>;

  // The keys of the columns from `first` on. A column from `columns` on has no
  // key.
  template <typename Page>
  __device__ __forceinline__ IndexFarGroups(Page page, int group, int first,
                                            int columns)
      : lane(threadIdx.x % 32) {
    unsigned words[2][4], codes[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int column = first + lane / 4 + 8 * i;
      IndexPage from{nullptr, nullptr};
      if (column < columns)
        from = page(group, column / Shape::page_size);
      const int entry = column % Shape::page_size;
      there[i] = from.payload != nullptr;
      payload[i] = (const char *)from.payload +
                   (long long)entry * Shape::payload_stride + (lane & 3) * 16;
      codes[i] = load_if<unsigned>(there[i], (const char *)from.scales +
                                                 (long long)entry *
                                                     Shape::scale_stride) >>
                     8 * (lane & 3) &
                 0xFF;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        words[i][j] = word(i, j);
    }
    ScaleWindow<Table::max_distance> window;
    find_tables<IndexProducts::f8>(tables, scale, words, codes, window);
  }

  // The score of this lane's key: l / 4, or l / 4 + 8 of an odd lane. The query
  // and its weights begin at these addresses of shared memory.
  __device__ __forceinline__ float score(unsigned query,
                                         unsigned weights) const {
    const int c = lane & 3;
    IndexSums sums[1];
#pragma unroll 1
    for (int heads = 0; heads < Shape::padded_heads; heads += 8) {
      const int head = heads + lane / 4;
      float d[4] = {};
#pragma unroll 1
      for (int j = 0; j < 4; ++j) {
        unsigned a[4];
#pragma unroll
        for (int i = 0; i < 2; ++i)
          expand_e2m1(a[i], a[i + 2], word(i, j), tables[i].low,
                      tables[i].high);
        const unsigned row = query + head * Shape::depth + 4 * c;
        const unsigned b0 = ld_shared_4(row + (2 * j ^ (head & 7)) * 16);
        const unsigned b1 = ld_shared_4(row + ((2 * j + 1) ^ (head & 7)) * 16);
        mma_f8<FloatType::e5m2, FloatType::e4m3>(d, a, b0, b1);
      }
      unsigned pair[2];
      ld_shared_8(pair, weights + c * (Shape::lane_weights + 4) * 4 +
                            heads / Shape::head_tile * Shape::weight_row * 4 +
                            heads % Shape::head_tile);
      const float by[2] = {as_float(pair[0]), as_float(pair[1])};
      sums[0].add(d, by);
    }
    return mul_f32(own_sum<1>(sums, lane & 1, lane & 2), scale);
  }

private:
  using Table = MagnitudeTable<magnitude_exponent>;

  // A word of this lane's group of key i.
  __device__ __forceinline__ unsigned word(int i, int j) const {
    return load_if<unsigned>(there[i], payload[i] + 4 * j);
  }

  const char *payload[2];
  bool there[2];
  Table tables[2] = {Table(0), Table(0)};
  float scale; // Of this lane's key.
  int lane;
};

} // namespace dsv4

#endif // __CUDACC__
