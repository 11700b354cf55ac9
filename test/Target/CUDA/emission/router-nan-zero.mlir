// A router in which an expert whose score is NaN weighs nothing.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @router(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>) : tensor<?x256xf32>
  %chosen = dsv4.topk %scores order sorted outs(%experts : tensor<?x6xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize nan zero outs(%weights : tensor<?x6xf32>)
      : tensor<?x256xf32>, tensor<?x6xi32>
  return %chosen, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}

// The whole text.
//     CHECK:// dsv4.gate of f32 to f32, dsv4.topk of f32 to i32, dsv4.route_weights of f32 to f32
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, vectors of 4 elements, one warp per row, held in registers, programmatic launch
//CHECK-NEXT:struct RouterConfig : dsv4::TopkWarpDefaults {
//CHECK-NEXT:  static constexpr int k = 6, vector = 4, vectors = 2;
//CHECK-NEXT:  static constexpr bool needs_values = false, computed = true;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:router(const float *__restrict__ logits,
//CHECK-NEXT:       int *__restrict__ experts,
//CHECK-NEXT:       float *__restrict__ weights,
//CHECK-NEXT:       int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    dsv4::topk_warp<RouterConfig>(
//CHECK-NEXT:      256,
//CHECK-NEXT:      [&](int column) {
//CHECK-NEXT:        const auto logits_1 = dsv4::load<dsv4::Tile<float, 1, 4>>(&logits[(long long)row * 256 + column]);
//CHECK-NEXT:        const auto scores = dsv4::sqrt_softplus(logits_1);
//CHECK-NEXT:        return scores;
//CHECK-NEXT:      },
//CHECK-NEXT:      [&](int rank, int index, float value) {
//CHECK-NEXT:        dsv4::launch_dependents();
//CHECK-NEXT:        const long long row_start = (long long)row * 6;
//CHECK-NEXT:        const int column_1 = max(index, 0);
//CHECK-NEXT:        const auto logits_2 = dsv4::load<dsv4::Tile<float, 1, 1>>(&logits[(long long)row * 256 + column_1]);
//CHECK-NEXT:        const auto scores_1 = dsv4::sqrt_softplus(logits_2);
//CHECK-NEXT:        const auto picked = dsv4::where_valid(dsv4::nan_to_zero(scores_1), index, 256);
//CHECK-NEXT:        const auto sum = dsv4::sum<8, 8>(picked);
//CHECK-NEXT:        if (rank < 6) {
//CHECK-NEXT:          const long long at = row_start + rank;
//CHECK-NEXT:          dsv4::store(&weights[at], picked / dsv4::max_nan(sum, 1.1754944e-38f));
//CHECK-NEXT:          experts[at] = index;
//CHECK-NEXT:        }
//CHECK-NEXT:      });
//CHECK-NEXT:  }
//CHECK-NEXT:}
