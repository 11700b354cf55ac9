//===- router_logits.h - Logits of experts, on a CPU ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The twin of the device library's router_logits.cuh: the same functions, in
// plain loops. A chunk is summed in double precision and rounded once; chunks
// and groups are added in the order of the GPU's. The blocks that consume whole
// rows compute them, the others do nothing, and the workspace is not used.
//
//===----------------------------------------------------------------------===//

#ifndef DSV4_HOST_ROUTER_LOGITS_H
#define DSV4_HOST_ROUTER_LOGITS_H

namespace dsv4 {

__device__ inline double router_number(bf16 of) {
  return as_float((unsigned)of.bits << 16);
}
__device__ inline double router_number(float of) { return of; }

template <typename Config>
__device__ inline float router_logit(const RouterOperands<Config> &of, int row,
                                     int expert) {
  constexpr int depth = Config::depth;
  const bf16 *hidden = of.hidden + row * of.hidden_stride;
  const typename Config::Weight *weights =
      of.weights + expert * of.weight_stride;
  float all = 0;
  for (int group = 0; group < depth; group += router_group) {
    float sum = 0;
    for (int chunk = group; chunk < group + router_group && chunk < depth;
         chunk += router_chunk) {
      double part = 0;
      for (int i = chunk; i < chunk + router_chunk && i < depth; ++i)
        part += router_number(hidden[i]) * router_number(weights[i]);
      sum = chunk == group ? (float)part : add_f32(sum, (float)part);
    }
    all = group == 0 ? sum : add_f32(all, sum);
  }
  return all;
}

template <typename Config, typename Ready, typename Consume>
__device__ inline void router_rows(Consume consume, char *,
                                   const RouterOperands<Config> &of, unsigned *,
                                   float *, Ready ready) {
  using Shape = RouterRowsShape<Config>;
  ready();
  const RouterRowsBlock<Config> block(of.rows);
  // The first cluster of its rows.
  if ((int)(blockIdx.x % (unsigned)Shape::blocks) >= Shape::cluster)
    return;
  const int lane = threadIdx.x % 32;
  for (int i = threadIdx.x / 32; i < block.own_count(); i += Shape::warps) {
    const int row = block.first_row + block.own_row() + i;
    Tile<float, Shape::vectors, Shape::vector> logits = {};
    for (int item = 0; item < Shape::vectors * Shape::vector; ++item) {
      const int expert = (item / Shape::vector * 32 + lane) * Shape::vector +
                         item % Shape::vector;
      if (expert < Shape::experts)
        logits.words[item] = router_logit(of, row, expert);
    }
    consume(row, logits);
  }
}

template <typename Config, typename Consume>
__device__ inline void router_tiles(Consume consume, char *,
                                    const RouterOperands<Config> &of) {
  using Shape = RouterTilesShape<Config>;
  const RouterTilesBlock<Config> block;
  float values[Shape::items] = {};
  for (int i = 0; i < Shape::items; ++i) {
    const TilePosition at = block.position(i, of.rows);
    if (at.owned)
      values[i] = router_logit(of, at.row, at.column);
  }
  consume(values, [&](int i) { return block.position(i, of.rows); });
}

} // namespace dsv4

#endif // DSV4_HOST_ROUTER_LOGITS_H
