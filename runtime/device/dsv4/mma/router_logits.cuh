//===- router_logits.cuh - Logits of experts --------------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The logit of a row and an expert is the sum of the products of their
// elements. It depends on the two alone, not on other rows, the number of rows
// or the config: products are summed in the order of router_shape.cuh, in fp32.
//
// router_rows() is for few rows, and reads the weights once for Config::rows
// rows: all blocks share the weights, and each consumes some whole rows.
// router_parts() and router_join() do the same in two kernels, and every warp
// of the second consumes a row. router_tiles() is for many rows; it is a tile
// source, as topk_tiles.cuh describes it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "mma/router_rows.cuh"
#include "mma/router_tiles.cuh"

namespace dsv4 {

// Called by all threads of RouterRowsShape<Config>::blocks blocks for each
// Config::rows rows, of RouterRowsShape<Config>::threads threads, with
// `shared_bytes` of shared memory from `memory` on, aligned to 16 bytes. If
// Config::cluster is more than 1, blocks are in clusters.
//
//   workspace             `workspace` words for each Config::rows rows, or the
//                         `row_words` of each row if there are fewer, aligned
//                         to 16 bytes: 0 before the first block starts and when
//                         the last one ends. If they are not, results are
//                         wrong, but every block ends. No block waits long for
//                         one that may not be running.
//   ready()               called by all threads before they read `hidden` or
//                         use the workspace. The weights are read before it,
//                         or after it, as the config says.
//   consume(row, logits)  called once for each row, by all lanes of a warp,
//                         with the row as rows.cuh describes it: a Tile<float,
//                         vectors, vector>. Elements beyond the last expert
//                         are any numbers.
template <typename Config, typename Ready, typename Consume>
__device__ __forceinline__ void router_rows(Consume consume, char *memory,
                                            const RouterOperands<Config> &of,
                                            unsigned *workspace, Ready ready) {
  RouterRows<Config>(memory, of).run(workspace, ready, consume);
}

// The same in two kernels, which need no zeros and do not wait: `partials`
// floats for each Config::rows rows, of any content, aligned to 16 bytes.
// Called by as many blocks and threads as router_rows().
template <typename Config, typename Ready>
__device__ __forceinline__ void router_parts(char *memory,
                                             const RouterOperands<Config> &of,
                                             float *partials, Ready ready) {
  RouterRows<Config>(memory, of).run_part(partials, ready);
}
// Called by all threads of at least a warp for each row, in blocks of whole
// warps along x. `of` is that of router_parts(), but only the number of rows
// counts.
template <typename Config, typename Consume>
__device__ __forceinline__ void router_join(Consume consume,
                                            const RouterOperands<Config> &of,
                                            const float *partials) {
  using Shape = RouterRowsShape<Config>;
  const int row = (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32);
  if (row >= of.rows)
    return;
  partials += (long long)(row / Shape::rows) * Shape::partials;
  const auto logits = add_router_parts<Config>(
      partials + row % Shape::rows * Shape::row_partials);
  consume(row, logits);
}

// Called by all threads of RouterTilesShape<Config>::expert_blocks blocks for
// each `rows` rows. All threads consume, once. TilePosition has the row among
// all rows, and the expert.
template <typename Config, typename Consume>
__device__ __forceinline__ void router_tiles(Consume consume, char *memory,
                                             const RouterOperands<Config> &of) {
  RouterTiles<Config>(memory, of).run(consume);
}

} // namespace dsv4
