//===- index_keys.cuh - Index keys, queries and their scores ----*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What index_score.cuh and its twin on the host share: the config, the records
// of keys and queries, how steps are cut, and which columns have no key.
//
// A row is a query of some heads. A group is `Config::queries` consecutive rows
// that share keys: row i of group g is g * queries + i. A column is a key of
// the group. A step is the columns that a warpgroup scores together.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"
#include "core/tiles.cuh"
#include "mma/index_row.cuh"
#include "mma/tensor_cores.cuh"

namespace dsv4 {

// A config derives from this.
struct IndexScoreDefaults {
  // mxfp4, nvfp4 (exact only) or e4m3, whose scale is not negative.
  static constexpr IndexFormat keys = IndexFormat::mxfp4;
  // mxfp4 or e4m3; the weights have the scale of the latter.
  static constexpr IndexFormat query = IndexFormat::e4m3;
  // Whether products are of f16, and sums in fp32, instead of 8-bit floats and
  // about 13 bits relative to the largest term, or f16. Takes twice the time.
  static constexpr bool exact = false;
  static constexpr int heads = 64;
  // Rows of a group.
  static constexpr int queries = 1;
  // Entries of a page.
  static constexpr int page_size = 64;
  // Bytes between the payloads, and the scales, of two entries of a page; 0 if
  // they lie one after another.
  static constexpr int payload_stride = 0, scale_stride = 0;
  // The known alignment of a page's payload and scales: 4, 8 or 16.
  static constexpr int align = 16;
  // Whether no other group reads the keys of a group. Caches evict such keys
  // first, or they would drive out the scores.
  static constexpr bool keys_once = false;
  // Warpgroups that compute; one more loads.
  static constexpr int warpgroups = 3;
  // Tiles of 64 keys of a step, 1 or 2; 1 if exact.
  static constexpr int tiles = 2;
  // Steps in shared memory, a multiple of 2 and of the warpgroups, and groups
  // whose queries are there.
  static constexpr int stages = 6, slots = 2;
};

// The addresses of the first payload and the first scales of a page; null if
// there is none.
struct IndexPage {
  const void *payload, *scales;
};
// A head of a query, aligned to 16 bytes, and its four UE8M0 if it has some.
struct IndexHead {
  const void *payload;
  unsigned scales;
};

template <typename Config>
struct IndexShape {
  enum : bool {
    keys_mxfp4 = Config::keys == IndexFormat::mxfp4,
    keys_nvfp4 = Config::keys == IndexFormat::nvfp4,
    keys_e4m3 = Config::keys == IndexFormat::e4m3,
    query_fp4 = Config::query == IndexFormat::mxfp4
  };
  enum : int {
    depth = 128,
    queries = Config::queries,
    tiles = Config::tiles,
    stages = Config::stages,
    slots = Config::slots,
    warpgroups = Config::warpgroups,
    page_size = Config::page_size,
    // Heads are computed in tiles; zeros fill the last one.
    head_tile = Config::heads <= 32 ? 32 : 64,
    head_tiles = (Config::heads + head_tile - 1) / head_tile,
    padded_heads = head_tile * head_tiles,
    // Bytes of a key and of its scales, and between keys of a page.
    payload = keys_e4m3 ? 128 : 64,
    scales = keys_nvfp4 ? 8 : 4,
    payload_stride = Config::payload_stride ? Config::payload_stride : +payload,
    scale_stride = Config::scale_stride ? Config::scale_stride : +scales,
    head_payload = query_fp4 ? 64 : 128,
    // Keys of a step, threads that compute, and all.
    tile_keys = 64,
    step = tile_keys * Config::tiles,
    consumers = 128 * Config::warpgroups,
    threads = consumers + 128,
    // Shared memory: first the queries and weights in f16, aligned to 1024
    // bytes.
    query_bytes = padded_heads * depth * (Config::exact ? 2 : 1),
    lane_weights = head_tile / 4,
    weight_row = 4 * (lane_weights + 4), // Without conflicts of banks.
    weight_bytes = head_tiles * weight_row * 4,
    // Of sums over heads, the scale in a gap of the weights of a query.
    scale_slot = lane_weights,
    // Weights in f16, for sums of MXFP4 keys; see put_half_weights().
    half_tile = 8 * 128,
    half_bytes = keys_mxfp4 ? head_tiles * half_tile : 0,
    tile_bytes = tile_keys * (payload + scales),
    stage_bytes = tiles * tile_bytes,
    missing_bytes = 16,
    queries_at = 0,
    halves_at = queries_at + slots * queries * query_bytes,
    weights_at = halves_at + slots * queries * half_bytes,
    limits_at = weights_at + slots * queries * weight_bytes,
    groups_at = limits_at + (slots * queries * 4 + 15) / 16 * 16,
    missing_at = groups_at + slots * 16,
    barriers_at = missing_at + stages * missing_bytes,
    ring_at = (barriers_at + 16 * (stages + slots) + 127) / 128 * 128,
    ring_end = ring_at + stages * stage_bytes,
    // Without products of warpgroups there is no ring, and the queries of one
    // group may be in f16.
    plain_weights_at = queries * padded_heads * depth * 2,
    plain_end = plain_weights_at + queries * weight_bytes,
    alignment = 1024,
    shared_bytes =
        (ring_end > plain_end ? ring_end : plain_end) + alignment - 16
  };

  static_assert(Config::heads >= 1 && Config::heads <= 128, "1 to 128 heads");
  static_assert(Config::queries >= 1 && Config::queries <= 8, "1 to 8 queries");
  static_assert(Config::tiles == 1 || Config::tiles == 2, "1 or 2 tiles");
  static_assert(!Config::exact || Config::tiles == 1,
                "exact scores are of one tile");
  static_assert(Config::keys != IndexFormat::bf16 &&
                    (Config::query == IndexFormat::mxfp4 ||
                     Config::query == IndexFormat::e4m3),
                "formats that tensor cores multiply");
  static_assert(Config::keys != IndexFormat::nvfp4 || Config::exact,
                "no 8-bit float has an E2M1 times an E4M3");
  static_assert(Config::page_size >= 1, "a page has entries");
  static_assert(Config::warpgroups >= 1 && Config::warpgroups <= 5,
                "1 to 5 warpgroups");
  static_assert(Config::stages >= 1 && Config::slots >= 1,
                "there are stages and slots");
  static_assert(Config::align == 4 || Config::align == 8 || Config::align == 16,
                "aligned to 4, 8 or 16 bytes");
};

template <typename Config>
__device__ constexpr int index_score_threads() {
  return IndexShape<Config>::threads;
}
template <typename Config>
__device__ constexpr int index_score_shared() {
  return IndexShape<Config>::shared_bytes;
}

// A group of rows, and its steps among those of all groups.
template <typename Config, typename Limit>
class IndexCursor {
public:
  using Shape = IndexShape<Config>;

  __device__ __forceinline__ IndexCursor(int group, int start, Limit given)
      : group(group), start(start), limit_of(given) {
    read();
  }

  // The next group that has steps.
  __device__ __forceinline__ void advance() {
    do {
      ++group;
      start = stop;
      read();
    } while (start == stop);
  }

  // The columns of a group: those of its longest row.
  __device__ __forceinline__ static int columns_of(int group, Limit limit) {
    int columns = 0;
#pragma unroll
    for (int i = 0; i < Shape::queries; ++i)
      columns = ::max(columns, limit(group * Shape::queries + i));
    return columns;
  }
  __device__ __forceinline__ static int steps_of(int group, Limit limit) {
    // Columns are at least 0, and may be near to 2^31.
    return (int)(((unsigned)columns_of(group, limit) + Shape::step - 1) /
                 Shape::step);
  }

  int group, start, stop, columns;

private:
  __device__ __forceinline__ void read() {
    columns = columns_of(group, limit_of);
    stop = start + (int)(((unsigned)columns + Shape::step - 1) / Shape::step);
  }

  Limit limit_of;
};

// The steps of a block, and where they begin.
struct IndexRange {
  int begin, end;         // Among the steps of all groups.
  int group, group_start; // The first group, and its first step.
};

// An equal part of the steps of all groups. Whole warps call it.
template <typename Config, typename Limit>
__device__ __forceinline__ IndexRange index_range(int groups, Limit limit) {
  using Cursor = IndexCursor<Config, Limit>;
  // A lane has as many consecutive groups as another.
  const int own = (int)(((unsigned)groups + 31) / 32);
  const int first = (int)(threadIdx.x % 32) * own;
  const auto steps = [&](int group) {
    return group < groups ? Cursor::steps_of(group, limit) : 0;
  };
  int sum = 0;
#pragma unroll 4
  for (int i = 0; i < own; ++i)
    sum += steps(first + i);
  const int upto = (int)sum_up_to_lane((unsigned)sum);
  const int total = from_lane<32, 32>(upto, 31);
  IndexRange range;
  // Blocks wait for this before they load, so there is one division. The first
  // blocks have the steps that are left.
  const int each = (int)((unsigned)total / gridDim.x),
            left = (int)((unsigned)total % gridDim.x), block = (int)blockIdx.x;
  range.begin = each * block + ::min(block, left);
  range.end = range.begin + each + (block < left);
  range.group = first;
  range.group_start = upto - sum;
  if (range.begin == range.end)
    return range;
  const unsigned after = __ballot_sync(0xFFFFFFFFu, upto > range.begin);
  const int lane = __ffs((int)after) - 1;
  // All lanes look through the groups of that one.
  range.group = from_lane<32, 32>(range.group, lane);
  range.group_start = from_lane<32, 32>(range.group_start, lane);
  while (true) {
    const int next = range.group_start + steps(range.group);
    if (next > range.begin)
      return range;
    range.group_start = next;
    ++range.group;
  }
}

// The steps of one group with columns of a part.
template <typename Config, typename Limit>
__device__ __forceinline__ IndexRange index_range_of(int group, Limit limit,
                                                     const TilePart &part) {
  constexpr int step = IndexShape<Config>::step;
  static_assert(TilePart::unit % step == 0, "parts begin with a step");
  const int steps = IndexCursor<Config, Limit>::steps_of(group, limit);
  const int end = ::min(steps, (int)(((unsigned)part.end + step - 1) / step));
  return {::min(part.begin / step, end), end, group, 0};
}

// What a lane has of a step: one key, if it owns one. Its tile has four warps
// with 16 keys each, and four lanes have two of these; see quad_sum().
template <typename Config>
struct IndexLane {
  // Of this lane among the step's keys.
  __device__ __forceinline__ static int key() {
    return (Config::tiles == 2 ? (int)(threadIdx.x & 2) * 32 : 0) +
           (int)(threadIdx.x / 32 % 4 * 16 + (threadIdx.x & 1) * 8 +
                 threadIdx.x % 32 / 4);
  }
  __device__ __forceinline__ static bool owns() {
    return Config::tiles == 2 || !(threadIdx.x & 2);
  }
};

// The value of a UE8M0.
__device__ __forceinline__ float index_scale(unsigned code) {
  return as_float(code == 0xFF ? 0x7FFFFFFFu
                  : code == 0  ? 0x00400000u
                               : code << 23);
}

// Calls emit(row, column) for the columns of each row that are not below its
// limit. The first `Warps` warps of all blocks take part.
template <int Warps, typename Limit, typename Emit>
__device__ __forceinline__ void for_scores_beyond(int rows, int columns,
                                                  Limit limit, Emit emit) {
  // Parts of rows, so that one long row is for many warps.
  constexpr int part = 4096;
  const int parts = (int)(((unsigned)columns + part - 1) / part);
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (long long i = blockIdx.x + (long long)(threadIdx.x / 32) * gridDim.x;
       i < (long long)rows * parts; i += (long long)Warps * gridDim.x) {
    const int row = (int)(i / parts), first = (int)(i % parts) * part;
    const int end = ::min(columns - first, part) + first;
    const int from = ::max(limit(row), first);
#pragma unroll 1
    for (int column = from + lane; column < end; column += 32)
      emit(row, column);
  }
}

} // namespace dsv4
