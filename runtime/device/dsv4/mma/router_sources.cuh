//===- router_sources.cuh - Logits of experts, for kernels ------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// router_logits.cuh as emitted kernels call it: all blocks of a launch compute
// all rows. A launch of router_rows() has a workspace of zeros, and leaves it
// so.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_logits.cuh"

namespace dsv4 {

// A config has `shared_bytes` and, of rows, the `row_bytes` of the workspace.
struct RouterRowsDefaults : RouterDefaults {
  // Not before the wait.
  static constexpr bool weights_first = false;
  // Whether the kernel may start before the previous one has ended, and waits
  // here.
  static constexpr bool waits = false;
};

// Brings what this block reads of the weights into the L2 cache. Other blocks
// with the same weights need not.
template <typename Config>
__device__ __forceinline__ void
prefetch_router_weights(const RouterOperands<Config> &of) {
  using Shape = RouterRowsShape<Config>;
  constexpr int line = 128, size = Shape::weight_size,
                lines = Shape::block_depth * size / line;
  const RouterRowsBlock<Config> block(of.rows);
  if (block.row_block > 0)
    return;
  const int left = (Shape::depth - block.first_element) * size;
#pragma unroll
  for (int i = threadIdx.x; i < Shape::block_experts * lines;
       i += Shape::threads) {
    const int expert = block.first_expert + i / lines, at = i % lines * line;
    const char *const from =
        (const char *)(of.weights + expert * of.weight_stride +
                       block.first_element) +
        at;
    prefetch_l2_if(expert < Shape::experts && at < left, from);
  }
}

// Calls consume(row, logits) once for each row, by all lanes of a warp that
// holds it.
template <typename Config, typename Consume>
__device__ __forceinline__ void
hold_router_rows(Consume consume, char *memory, unsigned char *workspace,
                 const bf16 *hidden, long long hidden_stride,
                 const typename Config::Weight *weights,
                 long long weight_stride, int rows) {
  using Shape = RouterRowsShape<Config>;
  static_assert(Config::shared_bytes == Shape::shared_bytes &&
                    Config::row_bytes == 4 * Shape::row_words,
                "what the compiler plans");
  const RouterOperands<Config> of = {hidden, hidden_stride, weights,
                                     weight_stride, rows};
  // The L2 cache sees what the previous kernel writes later.
  if constexpr (Config::waits)
    prefetch_router_weights<Config>(of);
  router_rows<Config>(consume, memory, of, (unsigned *)workspace, [] {
    if constexpr (Config::waits) {
      wait_for_previous_kernel();
      launch_dependents();
    }
  });
}

// The same as a tile source (topk_tiles.cuh): rows are those of the launch.
template <typename Config, typename Consume>
__device__ __forceinline__ void
router_row_tiles(Consume consume, char *memory, unsigned char *workspace,
                 const bf16 *hidden, long long hidden_stride,
                 const typename Config::Weight *weights,
                 long long weight_stride, int rows) {
  using Shape = RouterRowsShape<Config>;
  constexpr int vector = Shape::vector;
  hold_router_rows<Config>(
      [&](int row, const Tile<float, Shape::vectors, vector> &logits) {
        const int lane = threadIdx.x % 32;
        consume(logits.words, [&](int i) {
          const int expert = (i / vector * 32 + lane) * vector + i % vector;
          return TilePosition{row, expert, expert < Config::experts};
        });
      },
      memory, workspace, hidden, hidden_stride, weights, weight_stride, rows);
}

// The same for many rows, without a workspace.
template <typename Config, typename Consume>
__device__ __forceinline__ void router_block_tiles(
    Consume consume, char *memory, const bf16 *hidden, long long hidden_stride,
    const typename Config::Weight *weights, long long weight_stride, int rows) {
  static_assert(Config::shared_bytes == RouterTilesShape<Config>::shared_bytes,
                "what the compiler plans");
  router_tiles<Config>(consume, memory,
                       RouterOperands<Config>{hidden, hidden_stride, weights,
                                              weight_stride, rows});
}

} // namespace dsv4
