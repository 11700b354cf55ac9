// A router and its logits: all blocks compute rows together, and warps choose from those that they get.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a

func.func @dense_router(
    %hidden: tensor<?x7168xbf16> {dsv4.name = "hidden", dsv4.dims = ["tokens", ""]},
    %gate: tensor<256x7168xbf16> {dsv4.name = "gate"},
    %bias: tensor<256xf32> {dsv4.name = "bias"},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x8xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x7168xbf16>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %logits = dsv4.router_logits %hidden, %gate outs(%row : tensor<?x256xf32>)
      : tensor<?x7168xbf16>, tensor<256x7168xbf16>
  %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted
      outs(%experts : tensor<?x8xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x8xf32>) : tensor<?x256xf32>, tensor<?x8xi32>
  return %chosen, %shares : tensor<?x8xi32>, tensor<?x8xf32>
}

// The whole text.
//     CHECK:// dsv4.router_logits of bf16 to f32, dsv4.gate of f32 to f32, dsv4.topk of f32 to i32, dsv4.route_weights of f32 to f32
//CHECK-NEXT:// tokens = ?, bias.0 = 256
//CHECK-NEXT:// sm_90a: 256 threads, a selection from rows that warps get, vectors of 4 elements, logits of 64 rows x 32 experts x 512 elements by tensor cores, 112 blocks in clusters of 8, 103440 bytes of dynamic shared memory, programmatic launch
//CHECK-NEXT:struct DenseRouterConfig : dsv4::RouterRowsDefaults {
//CHECK-NEXT:  using Weight = dsv4::bf16;
//CHECK-NEXT:  static constexpr int experts = 256, depth = 7168, hidden_align = 16, weight_align = 16, rows = 64, block_experts = 32, block_slices = 4, cluster = 8, vector = 4, row_bytes = 14368, shared_bytes = 103440;
//CHECK-NEXT:  static constexpr bool multicast = true, waits = true;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:struct DenseRouterConfig_1 : dsv4::TopkWarpDefaults {
//CHECK-NEXT:  static constexpr int k = 8, vector = 4, vectors = 2;
//CHECK-NEXT:  static constexpr bool needs_values = false, computed = true;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(256, 2)
//CHECK-NEXT:dense_router(const dsv4::bf16 *__restrict__ hidden,
//CHECK-NEXT:             const dsv4::bf16 *__restrict__ gate,
//CHECK-NEXT:             const float *__restrict__ bias,
//CHECK-NEXT:             int *__restrict__ experts,
//CHECK-NEXT:             float *__restrict__ weights,
//CHECK-NEXT:             int rows,
//CHECK-NEXT:             unsigned char *__restrict__ workspace) {
//CHECK-NEXT:  dsv4::hold_rows(
//CHECK-NEXT:    [&](auto consume) {
//CHECK-NEXT:      dsv4::hold_router_rows<DenseRouterConfig>(consume, dsv4::shared_from(0), workspace, hidden, 7168, gate, 7168, rows);
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int row, const auto &logits) {
//CHECK-NEXT:      dsv4::topk_warp<DenseRouterConfig_1>(
//CHECK-NEXT:        256,
//CHECK-NEXT:        [&](int column) {
//CHECK-NEXT:          const auto bias_1 = dsv4::load<dsv4::Tile<float, 1, 4>>(&bias[column]);
//CHECK-NEXT:          const auto logits_1 = dsv4::columns<32>(logits, column);
//CHECK-NEXT:          const auto scores = dsv4::sigmoid(logits_1);
//CHECK-NEXT:          return scores + bias_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int rank, int index, float value) {
//CHECK-NEXT:          const long long row_start = (long long)row * 8;
//CHECK-NEXT:          const int column_1 = max(index, 0);
//CHECK-NEXT:          const auto logits_2 = dsv4::pick(logits, column_1);
//CHECK-NEXT:          const auto scores_1 = dsv4::sigmoid(logits_2);
//CHECK-NEXT:          const auto picked = dsv4::where_valid(scores_1, index, 256);
//CHECK-NEXT:          const auto sum = dsv4::sum<8, 8>(picked);
//CHECK-NEXT:          if (rank < 8) {
//CHECK-NEXT:            const long long at = row_start + rank;
//CHECK-NEXT:            dsv4::store(&weights[at], picked / dsv4::max_nan(sum, 1.1754944e-38f) * 2.5f);
//CHECK-NEXT:            experts[at] = index;
//CHECK-NEXT:          }
//CHECK-NEXT:        });
//CHECK-NEXT:    });
//CHECK-NEXT:}
