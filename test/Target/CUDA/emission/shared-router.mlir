// A router of groups with a shared expert in the last lane, and rows that do not count.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @sglang_biased_grouped_topk(
    %logits: tensor<?x256xbf16> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<256xf32> {dsv4.name = "bias"},
    %valid: tensor<1xi32> {dsv4.name = "valid"},
    %experts: tensor<?x9xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x9xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x9xi32>, tensor<?x9xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xbf16>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x256xf32>)
      : tensor<?x256xbf16>
  %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted groups 8 keep 4 by 2
      valid_rows(%valid : tensor<1xi32>) shared 1 outs(%experts : tensor<?x9xi32>)
      : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5 shared 1 of_sum 0.4
      outs(%weights : tensor<?x9xf32>) : tensor<?x256xf32>, tensor<?x9xi32>
  return %chosen, %shares : tensor<?x9xi32>, tensor<?x9xf32>
}

// The whole text.
//     CHECK:// dsv4.gate of bf16 to f32, dsv4.topk of f32 to i32, dsv4.route_weights of f32 to f32
//CHECK-NEXT:// tokens = ?, bias.0 = 256
//CHECK-NEXT:// sm_90a: 128 threads, vectors of 4 elements, one warp per row, held in registers, programmatic launch
//CHECK-NEXT:struct SglangBiasedGroupedTopkConfig : dsv4::TopkWarpDefaults {
//CHECK-NEXT:  static constexpr int k = 8, vector = 4, vectors = 2, groups = 8, group_size = 32, kept_groups = 4, best_per_group = 2;
//CHECK-NEXT:  static constexpr bool needs_values = false, computed = true;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:sglang_biased_grouped_topk(const dsv4::bf16 *__restrict__ logits,
//CHECK-NEXT:                           const float *__restrict__ bias,
//CHECK-NEXT:                           const int *__restrict__ valid,
//CHECK-NEXT:                           int *__restrict__ experts,
//CHECK-NEXT:                           float *__restrict__ weights,
//CHECK-NEXT:                           int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int valid_1 = dsv4::load<int>(&valid[0]);
//CHECK-NEXT:    const bool condition = row < valid_1;
//CHECK-NEXT:    const int length = condition ? 256 : 0;
//CHECK-NEXT:    dsv4::topk_groups<SglangBiasedGroupedTopkConfig>(
//CHECK-NEXT:      length,
//CHECK-NEXT:      [&](int column) {
//CHECK-NEXT:        const auto logits_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>>(&logits[(long long)row * 256 + column]);
//CHECK-NEXT:        const auto bias_1 = dsv4::load<dsv4::Tile<float, 1, 4>>(&bias[column]);
//CHECK-NEXT:        const auto scores = dsv4::sigmoid(dsv4::convert<float>(logits_1));
//CHECK-NEXT:        return scores + bias_1;
//CHECK-NEXT:      },
//CHECK-NEXT:      [&](int rank, int index, float value) {
//CHECK-NEXT:        dsv4::launch_dependents();
//CHECK-NEXT:        const long long row_start = (long long)row * 9;
//CHECK-NEXT:        const bool condition_1 = rank < 8;
//CHECK-NEXT:        const int experts_1 = condition_1 ? index : rank + 248;
//CHECK-NEXT:        const int offset = condition ? experts_1 : -1;
//CHECK-NEXT:        const int routed = condition_1 ? offset : -1;
//CHECK-NEXT:        const int column_1 = max(routed, 0);
//CHECK-NEXT:        const auto logits_2 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 1>>(&logits[(long long)row * 256 + column_1]);
//CHECK-NEXT:        const auto scores_1 = dsv4::sigmoid(dsv4::convert<float>(logits_2));
//CHECK-NEXT:        const auto picked = dsv4::where_valid(scores_1, routed, 256);
//CHECK-NEXT:        const auto sum = dsv4::sum<16, 16>(picked);
//CHECK-NEXT:        const auto shared = dsv4::where_valid(sum * 0.4f, offset, 257);
//CHECK-NEXT:        const auto all = condition_1 ? picked : shared;
//CHECK-NEXT:        if (rank < 9) {
//CHECK-NEXT:          const long long at = row_start + rank;
//CHECK-NEXT:          dsv4::store(&weights[at], all / dsv4::max_nan(sum, 1.1754944e-38f) * 2.5f);
//CHECK-NEXT:          experts[at] = offset;
//CHECK-NEXT:        }
//CHECK-NEXT:      });
//CHECK-NEXT:  }
//CHECK-NEXT:}
