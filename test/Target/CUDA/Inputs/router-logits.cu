// Logits of experts, stored by both functions, and a router in one kernel and
// in two. RouterLogitsTest.cpp runs them on the host, router-logits.test
// compiles them with NVRTC.

#ifndef EXPERTS
#define EXPERTS 256
#endif
#ifndef DEPTH
#define DEPTH 7168
#endif
#ifndef WEIGHT
#define WEIGHT dsv4::bf16
#endif
#ifndef ALIGN
#define ALIGN 16
#endif
#ifndef ROWS
#define ROWS 8
#endif
#ifndef BLOCK_EXPERTS
#define BLOCK_EXPERTS 32
#endif
#ifndef BLOCK_SLICES
#define BLOCK_SLICES 4
#endif
#ifndef CLUSTER
#define CLUSTER 1
#endif
#ifndef MULTICAST
#define MULTICAST false
#endif
#ifndef K
#define K 8
#endif

struct Config : dsv4::RouterDefaults {
  using Weight = WEIGHT;
  static constexpr int experts = EXPERTS, depth = DEPTH, hidden_align = ALIGN,
                       weight_align = ALIGN, rows = ROWS,
                       block_experts = BLOCK_EXPERTS,
                       block_slices = BLOCK_SLICES, cluster = CLUSTER;
  static constexpr bool multicast = MULTICAST;
};
using RowsShape = dsv4::RouterRowsShape<Config>;
using TilesShape = dsv4::RouterTilesShape<Config>;
using Row = dsv4::Tile<float, RowsShape::vectors, RowsShape::vector>;

struct Select : dsv4::TopkWarpDefaults {
  static constexpr int k = K, vector = RowsShape::vector,
                       vectors = RowsShape::vectors;
  static constexpr bool needs_values = false, computed = true;
  static constexpr dsv4::TopkOrder order = dsv4::TopkOrder::sorted;
};

#define OPERANDS                                                               \
  const dsv4::bf16 *__restrict__ hidden, long long hidden_stride,              \
      const WEIGHT *__restrict__ weights, long long weight_stride, int rows

extern "C" __global__ void __launch_bounds__(RowsShape::threads, 1)
    store_rows(OPERANDS, unsigned *__restrict__ workspace,
               float *__restrict__ logits) {
  const dsv4::RouterOperands<Config> of = {hidden, hidden_stride, weights,
                                           weight_stride, rows};
  dsv4::router_rows(
      [&](int row, const Row &values) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < Row::steps * Row::vector; ++i) {
          const int expert =
              (i / Row::vector * 32 + lane) * Row::vector + i % Row::vector;
          if (expert < EXPERTS)
            logits[(long long)row * EXPERTS + expert] = values[i];
        }
      },
      dsv4::shared_from(0), of, workspace,
      [] { dsv4::wait_for_previous_kernel(); });
}

#define ROUTE                                                                  \
  [&](int row, const Row &logits) {                                            \
    const auto scores = dsv4::sigmoid(logits);                                 \
    dsv4::topk_warp<Select>(                                                   \
        EXPERTS,                                                               \
        [&](int column) { return dsv4::columns<32>(scores, column); },         \
        [&](int rank, int index, float) {                                      \
          const auto picked =                                                  \
              dsv4::where_valid(dsv4::pick(scores, index), index, EXPERTS);    \
          const auto sum = dsv4::sum<32, 32>(picked);                          \
          if (rank < K) {                                                      \
            dsv4::store(&shares[(long long)row * K + rank], picked / sum);     \
            experts[(long long)row * K + rank] = index;                        \
          }                                                                    \
        });                                                                    \
  }

extern "C" __global__ void __launch_bounds__(RowsShape::threads, 1)
    route_rows(OPERANDS, unsigned *__restrict__ workspace,
               int *__restrict__ experts, float *__restrict__ shares) {
  const dsv4::RouterOperands<Config> of = {hidden, hidden_stride, weights,
                                           weight_stride, rows};
  dsv4::router_rows(ROUTE, dsv4::shared_from(0), of, workspace,
                    [] { dsv4::wait_for_previous_kernel(); });
}

extern "C" __global__ void __launch_bounds__(RowsShape::threads, 1)
    store_parts(OPERANDS, float *__restrict__ partials) {
  const dsv4::RouterOperands<Config> of = {hidden, hidden_stride, weights,
                                           weight_stride, rows};
  dsv4::router_parts(dsv4::shared_from(0), of, partials,
                     [] { dsv4::wait_for_previous_kernel(); });
}
extern "C" __global__ void __launch_bounds__(128, 1)
    route_parts(OPERANDS, float *__restrict__ partials,
                int *__restrict__ experts, float *__restrict__ shares) {
  const dsv4::RouterOperands<Config> of = {hidden, hidden_stride, weights,
                                           weight_stride, rows};
  dsv4::wait_for_previous_kernel();
  dsv4::router_join(ROUTE, of, partials);
}

extern "C" __global__ void __launch_bounds__(TilesShape::threads, 1)
    store_tiles(OPERANDS, float *__restrict__ logits) {
  const dsv4::RouterOperands<Config> of = {hidden, hidden_stride, weights,
                                           weight_stride, rows};
  dsv4::router_tiles(
      [&](const auto &values, auto map) {
#pragma unroll
        for (int i = 0; i < TilesShape::items; ++i) {
          const dsv4::TilePosition at = map(i);
          if (at.owned)
            logits[(long long)at.row * EXPERTS + at.column] = values[i];
        }
      },
      dsv4::shared_from(0), of);
}
