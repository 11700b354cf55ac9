//===- router_logits.h - Logits of experts, on a CPU ------------*- C++ -*-===//
//
// Part of the dsv4 project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The twin of the device library's router_logits.cuh: the same functions, in
// plain loops. A slice is summed in double precision and rounded once; slices
// and groups are added in the order of the GPU's. A block computes the rows
// that it consumes, and the workspace is not used.
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
    float parts[router_group_slices];
    for (int c = 0; c < router_group_slices; ++c) {
      const int first = group + c * router_slice;
      double part = 0;
      for (int i = first; i < first + router_slice && i < depth; ++i)
        part += router_number(hidden[i]) * router_number(weights[i]);
      parts[c] = (float)part;
    }
    all = add_f32(
        all, add_f32(add_f32(parts[0], parts[1]), add_f32(parts[2], parts[3])));
  }
  return all;
}

// Consumes rows of this block, from `first` to `end`, by its warps.
template <typename Config, typename Consume>
__device__ inline void consume_router_rows(const RouterOperands<Config> &of,
                                           int first, int end, int warps,
                                           Consume consume) {
  using Shape = RouterRowsShape<Config>;
  const int lane = threadIdx.x % 32;
  for (int row = first + threadIdx.x / 32; row < end; row += warps) {
    Tile<float, Shape::vectors, Shape::vector> logits = {};
    for (int i = 0; i < Shape::vectors * Shape::vector; ++i) {
      const int expert =
          (i / Shape::vector * 32 + lane) * Shape::vector + i % Shape::vector;
      if (expert < Shape::experts)
        logits.words[i] = router_logit(of, row, expert);
    }
    consume(row, logits);
  }
}

template <typename Config, typename Ready, typename Consume>
__device__ inline void router_rows(Consume consume, char *,
                                   const RouterOperands<Config> &of, unsigned *,
                                   Ready ready) {
  using Shape = RouterRowsShape<Config>;
  ready();
  const RouterRowsBlock<Config> block(of.rows);
  const int first = block.first_row + block.own_row();
  consume_router_rows(of, first, first + block.own_count(), Shape::warps,
                      consume);
}

// The second kernel computes everything.
template <typename Config, typename Ready>
__device__ inline void router_parts(char *, const RouterOperands<Config> &,
                                    float *, Ready ready) {
  ready();
}
template <typename Config, typename Consume>
__device__ inline void
router_join(Consume consume, const RouterOperands<Config> &of, const float *) {
  const int warps = (int)(blockDim.x / 32), first = (int)blockIdx.x * warps;
  consume_router_rows(of, first, ::min(first + warps, of.rows), warps, consume);
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
