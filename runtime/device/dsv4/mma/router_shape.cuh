//===- router_shape.cuh - How logits of experts are cut ---------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What router_logits.cuh and its twin on the host share: the config, the
// constants that follow from it, and the operands.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "core/memory.cuh"
#include "mma/tensor_cores.cuh"
#include "select/topk_tiles.cuh"

namespace dsv4 {

// The order of all sums. A slice of elements is summed by tensor cores. The
// four slices of a group are added as (0 + 1) + (2 + 3), and groups one after
// another.
enum : int {
  router_slice = 128,
  router_group_slices = 4,
  router_group = router_slice * router_group_slices
};

// A config derives from this, and has the numbers of `experts` and of elements
// of a row, the `depth`.
struct RouterDefaults {
  // bf16 or float. A float is three bf16 of which it is the sum.
  using Weight = bf16;
  // The known alignment, in bytes, of the addresses of rows.
  static constexpr int hidden_align = 16, weight_align = 16;

  // Of router_rows() and router_parts(): the rows of a block, a multiple of 8
  // up to 64; its experts, a multiple of 16; and its slices, 1, 2 or 4.
  static constexpr int rows = 8, block_experts = 32, block_slices = 4;
  // Blocks of a cluster, which are neighbours along the experts, up to 8.
  static constexpr int cluster = 1;
  // Whether the blocks of a cluster load the rows for each other (sm_90+). Rows
  // are then aligned to 16 bytes, and so is their length.
  static constexpr bool multicast = false;
  // Whether weights are read before ready() of router_rows().
  static constexpr bool weights_first = true;
  // How often a block of router_rows() tries to read partial sums, before it
  // leaves its rows to the last block.
  static constexpr int tries = 64;
  // Elements of a vector of the rows that are consumed.
  static constexpr int vector = 4;

  // Of router_tiles(): elements of a step, 64 or 128, and steps in shared
  // memory.
  static constexpr int step = 64, stages = 4;
};

// Elements are in rows, `stride` elements apart.
template <typename Config>
struct RouterOperands {
  const bf16 *hidden;
  long long hidden_stride;
  const typename Config::Weight *weights;
  long long weight_stride;
  int rows;
};

// The largest access, in bytes, that is in a row or outside of it.
__device__ constexpr int router_access_bytes(int align, int row_bytes) {
  const int bits = align | row_bytes | 16;
  return bits & -bits;
}

template <typename Config>
struct RouterShape {
  enum : int {
    experts = Config::experts,
    depth = Config::depth,
    weight_size = sizeof(typename Config::Weight),
    groups = (depth + router_group - 1) / router_group,
    hidden_access_bytes = router_access_bytes(Config::hidden_align, depth * 2),
    weight_access_bytes =
        router_access_bytes(Config::weight_align, depth *weight_size)
  };
  static_assert(experts >= 1 && depth >= 1, "a router has experts");
};

// Of router_rows(), router_parts() and router_join().
template <typename Config>
struct RouterRowsShape : RouterShape<Config> {
  using Base = RouterShape<Config>;
  enum : int {
    rows = Config::rows,
    block_experts = Config::block_experts,
    block_slices = Config::block_slices,
    cluster = Config::cluster,
    // Blocks along the elements, along the experts, and of `rows` rows.
    block_depth = router_slice * block_slices,
    parts = (Base::depth + block_depth - 1) / block_depth,
    group_parts = router_group_slices / block_slices,
    expert_blocks = (Base::experts + block_experts - 1) / block_experts,
    blocks = expert_blocks * parts,
    // A warp has 16 experts and a slice.
    expert_warps = block_experts / 16,
    warps = expert_warps * block_slices,
    threads = 32 * warps,
    row_experts = expert_blocks * block_experts,
    // The rows that a block consumes, and those that it loads for its cluster.
    own_rows = (rows + blocks - 1) / blocks,
    cluster_rows = (rows + cluster - 1) / cluster,
    vector = Config::vector,
    vectors = (Base::experts + 32 * vector - 1) / (32 * vector),
    // Two warpgroups multiply, where there are some. Others have the same
    // shared memory.
    by_groups = rows == 64 && block_experts == 32 && block_slices == 4 &&
                Config::multicast && Base::weight_size == 2,
    // Nanoseconds that a block waits before it reads partial sums. Those of
    // many rows take longer to be there, and still longer if they are read
    // before.
    pause = rows > 32 ? 200 : 0
  };
  // Shared memory. Padding spreads neighbours over the banks.
  enum : int {
    hidden_pitch = block_depth * 2 + 64,
    sum_pitch = block_experts * 4 + 16,
    hidden_bytes = rows * hidden_pitch,
    sum_bytes = block_slices * rows * sum_pitch,
    // Of its own rows, and of one that was left.
    logit_bytes = (own_rows + 1) * row_experts * 4,
    most_bytes = hidden_bytes > sum_bytes ? hidden_bytes : sum_bytes,
    // Barriers of rows: of each slice, if warpgroups multiply, else one.
    hidden_parts = by_groups ? block_slices : 1,
    head_bytes = by_groups ? 8 * hidden_parts : 16,
    data_bytes = most_bytes > logit_bytes ? most_bytes : logit_bytes,
    // Of warpgroups: 64 elements of all experts. Two for each slice, aligned to
    // 1024 bytes.
    tile_bytes = block_experts * 128,
    tiles_bytes = by_groups ? 1024 - 16 + 2 * block_slices * tile_bytes : 0,
    shared_bytes = head_bytes + data_bytes + tiles_bytes
  };
  // Words of the workspace, for each `rows` rows: states, and then sums. A row
  // has all of its partial sums side by side, so fewer rows need less.
  enum : int {
    state_words = 8,
    row_partials = parts * row_experts,
    partials = rows * row_partials,
    row_words = state_words + row_partials,
    workspace = rows * row_words
  };
  static_assert(blocks < 1 << 16, "half a word counts blocks");
  // Neighbouring logits that a thread adds: the fewest with which each thread
  // adds once, if registers hold their parts.
  enum : int {
    all_parts = Base::groups * group_parts,
    own_logits = own_rows * row_experts,
    join_width = own_logits <= threads || all_parts > 32       ? 1
                 : own_logits <= 2 * threads || all_parts > 16 ? 2
                                                               : 4
  };

  static_assert(rows % 8 == 0 && rows <= 64, "whole products");
  static_assert(block_experts % 16 == 0 && threads <= 1024, "whole products");
  static_assert(block_slices == 1 || block_slices == 2 || block_slices == 4,
                "parts of a group");
  static_assert(expert_blocks % cluster == 0,
                "the blocks of a cluster have the same elements");
  static_assert(!Config::multicast || Base::hidden_access_bytes == 16,
                "bulk copies have multiples of 16 bytes");
  static_assert(vector == 1 || vector == 2 || vector == 4, "a vector");
};

// What this block of router_rows() has: `count` rows from `first_row` on, those
// of row block `row_block`; experts from `first_expert` on; and part `part` of
// their elements, from `first_element` on.
template <typename Config>
struct RouterRowsBlock {
  using Shape = RouterRowsShape<Config>;
  int row_block, part, first_element, first_expert, first_row, count;

  __device__ __forceinline__ explicit RouterRowsBlock(int rows) {
    const int at = (int)(blockIdx.x % (unsigned)Shape::blocks);
    row_block = (int)(blockIdx.x / (unsigned)Shape::blocks);
    part = at / Shape::expert_blocks;
    first_element = part * Shape::block_depth;
    first_expert = at % Shape::expert_blocks * Shape::block_experts;
    first_row = row_block * Shape::rows;
    count = ::min(rows - first_row, (int)Shape::rows);
  }
  // The first of the rows that it consumes, among those of the row block, and
  // their number. Blocks that start last wait least for others.
  __device__ __forceinline__ static int own_row() {
    const int at = (int)(blockIdx.x % (unsigned)Shape::blocks);
    return (Shape::blocks - 1 - at) * Shape::own_rows;
  }
  __device__ __forceinline__ int own_count() const {
    const int left = count - own_row();
    return left < 0 ? 0 : ::min(left, (int)Shape::own_rows);
  }
};

// Of router_tiles(): all warps consume.
template <typename Config>
struct RouterTilesShape : RouterShape<Config> {
  using Base = RouterShape<Config>;
  enum : int {
    rows = 64,
    block_experts = 128,
    // A warp has 32 experts and 32 rows.
    expert_warps = block_experts / 32,
    warps = expert_warps * (rows / 32),
    threads = 32 * warps,
    expert_blocks = (Base::experts + block_experts - 1) / block_experts,
    // Elements that a thread has.
    items = 32,
    step = Config::step,
    steps = (Base::depth + step - 1) / step,
    slice_steps = router_slice / step,
    group_steps = router_group / step,
    hidden_bytes = rows * step * 2,
    weight_row = step * Base::weight_size,
    stage_bytes = hidden_bytes + block_experts * weight_row,
    shared_bytes = Config::stages * stage_bytes
  };
  static_assert(step == 64 || step == 128, "a part of a slice");
  static_assert(Config::stages >= 2, "one step is loaded during another");
};

// What this block of router_tiles() has.
template <typename Config>
struct RouterTilesBlock {
  using Shape = RouterTilesShape<Config>;
  int first_row, first_expert;

  __device__ __forceinline__ RouterTilesBlock() {
    constexpr unsigned blocks = Shape::expert_blocks;
    first_row = (int)(blockIdx.x / blocks) * Shape::rows;
    first_expert = (int)(blockIdx.x % blocks) * Shape::block_experts;
  }
  // Of an item of this thread, in fragments of 16 experts and 8 rows.
  __device__ __forceinline__ TilePosition position(int item, int rows) const {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int fragment = item / 4;
    const int row = first_row + warp / Shape::expert_warps * 32 +
                    fragment % 4 * 8 + lane % 4 * 2 + item % 2;
    const int expert = first_expert + warp % Shape::expert_warps * 32 +
                       fragment / 4 * 16 + item % 4 / 2 * 8 + lane / 4;
    return TilePosition{row, expert, row < rows && expert < Shape::experts};
  }
};

} // namespace dsv4
