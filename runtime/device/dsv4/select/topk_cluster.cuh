//===- topk_cluster.cuh - Rows shared by a cluster --------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row by 2 to 16 blocks of a cluster, for rows that one block would read too
// slowly. (More than 8 blocks need the attribute for clusters of non-portable
// size.) The first block collects the lists of all and emits the result.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "select/topk_rows.cuh"

namespace dsv4 {

struct TopkClusterShared {
  // The length of this block's list, one per exchange: a later one must not
  // overwrite a length that a slower block still reads. There are at most three
  // exchanges: after the first pass, after a repeated one, which finds all that
  // are wanted, and after lists were reduced, which happens once.
  unsigned own[3];
  // The lengths of all blocks.
  unsigned counts[16];
};

template <typename Config>
struct TopkCluster {
  static_assert(Config::cluster >= 2 && Config::cluster <= 16,
                "2 to 16 blocks");
  static_assert(Config::read == TopkRead::sample, "all blocks have one bound");
  using Shape = TopkShape<Config>;
  enum : int { size = Config::cluster };
  static constexpr bool has_registers = true;

  TopkClusterShared &cluster;
  int exchanges;
  bool reduced;
  // The length of the first list, and of all lists together.
  int first, all;

  __device__ __forceinline__ TopkCluster(TopkClusterShared &cluster)
      : cluster(cluster), exchanges(0), reduced(false), first(0), all(0) {}

  __device__ __forceinline__ TopkRange range(int length) const {
    return topk_range<Shape>(cluster_rank<size>(), size, length);
  }

  // All blocks see the same counts, so all make the same decision.
  __device__ __forceinline__ TopkNext next(int count, int wanted, bool any) {
    unsigned &own = cluster.own[exchanges++];
    if (threadIdx.x == 0)
      own = (unsigned)count;
    cluster_arrive_own<size>();
    cluster_wait<size>();
    if (threadIdx.x < size)
      cluster.counts[threadIdx.x] = ld_cluster_4(&own, threadIdx.x);
    __syncthreads();
    first = (int)cluster.counts[0];
    all = before(size);
    // No block has left anything out, so such a list has all that are wanted.
    if (all < wanted && !any)
      return TopkNext::repeat;
    if (all > Shape::capacity && !reduced) {
      reduced = true;
      return TopkNext::reduce;
    }
    return cluster_rank<size>() == 0 ? TopkNext::merge : TopkNext::leave;
  }
  // The lengths of the lists before that of block `part`.
  __device__ __forceinline__ int before(int part) const {
    const int lane = threadIdx.x % 32;
    return (int)__reduce_add_sync(0xFFFFFFFFu,
                                  lane < part ? cluster.counts[lane] : 0);
  }
  // This block's own list need not be fetched.
  __device__ __forceinline__ int begin() const { return first; }
  __device__ __forceinline__ int end() const { return all; }
  // If this list was reduced, most entries of the others come after it.
  __device__ __forceinline__ bool chooses(bool narrowed) const {
    return narrowed;
  }
  // Distributes the warps evenly over the lists.
  __device__ __forceinline__ void copy(int count, const TopkBound &bound,
                                       bool choosing, int from, int end) const {
    TopkEntry *list = topk_shared<Shape>().list;
    constexpr int warps = Shape::threads / 32,
                  each = warps > size ? warps / size : 1, stride = each * 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 1
    for (int part = warp / each; part < size; part += warps / each) {
      const int begin = before(part), next = begin + (int)cluster.counts[part];
      const int stop = next < end ? next : end;
#pragma unroll 1
      for (int at = (begin > from ? begin : from) + warp % each * 32; at < stop;
           at += 4 * stride) {
        // Four loads in flight at a time.
        unsigned entries[4][2], slots[4];
        bool there[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int of = at + i * stride + lane;
          there[i] = of < stop;
          slots[i] = count + of - from;
          ld_cluster_8_if(entries[i], there[i], list, of - begin, part);
        }
        if (choosing)
          topk_keep<Shape>(entries, bound, there, slots);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          st_shared_8_if(there[i], list, slots[i], entries[i][0],
                         entries[i][1]);
      }
    }
  }

  // No block ends while another may read its memory. The barrier is relaxed,
  // because no write is read after it, and this block has stored what it read
  // in its own memory, so its loads are complete.
  __device__ __forceinline__ void release() { cluster_arrive_relaxed<size>(); }
  __device__ __forceinline__ void close() {
    if (cluster_rank<size>() != 0)
      cluster_arrive_relaxed<size>();
    cluster_wait<size>();
  }
};

// Selects the k best of `length` elements, without the head, by the blocks of a
// cluster.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_cluster(int length, int head, Load load,
                                             Emit emit) {
  using Shape = TopkShape<Config>;
  if (length > head) {
    __shared__ TopkClusterShared cluster;
    TopkCluster<Config> group(cluster);
    topk_row<Shape>(group, length, head, load, emit);
  } else if (cluster_rank<Config::cluster>() == 0) {
    topk_emit<Shape>(0, true, head, emit);
  }
}

// Selects the k best of `length` elements by the blocks of a cluster.
template <typename Config, typename Load, typename Emit>
__device__ __forceinline__ void topk_cluster(int length, Load load, Emit emit) {
  topk_cluster<Config>(length, 0, load, emit);
}

} // namespace dsv4
