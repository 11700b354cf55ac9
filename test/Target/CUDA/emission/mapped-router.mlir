// Another bias for some rows, and experts that a table replaces, as i64, beside those that were chosen, as i16.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @routed(
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]}, %bias: tensor<64xbf16> {dsv4.name = "bias"},
    %other: tensor<64xf16> {dsv4.name = "other"}, %image: tensor<?xi1> {dsv4.name = "image", dsv4.dims = ["tokens"]},
    %t: tensor<65xi32> {dsv4.name = "t"}, %n: tensor<1xi32> {dsv4.name = "n"},
    %weights: tensor<?x8xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]}, %physical: tensor<?x8xi64> {dsv4.name = "physical", dsv4.dims = ["tokens", ""]},
    %replay: tensor<?x8xi16> {dsv4.name = "replay", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x8xi16>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x64xf32>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %ids = tensor.empty(%tokens) : tensor<?x8xi32>
  %s = dsv4.gate %logits function sigmoid outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %c = dsv4.topk %s bias(%bias : tensor<64xbf16>) other_bias(%other, %image : tensor<64xf16>, tensor<?xi1>)
      order sorted valid_rows(%n : tensor<1xi32>) shared 2 outs(%ids : tensor<?x8xi32>) : tensor<?x64xf32>
  %w = dsv4.route_weights %s[%c] renormalize shared 2 weight 0.5 outs(%weights : tensor<?x8xf32>)
      : tensor<?x64xf32>, tensor<?x8xi32>
  %p = dsv4.map_indices %c table(%t : tensor<65xi32>) outs(%physical : tensor<?x8xi64>) : tensor<?x8xi32>
  %r = dsv4.map_indices %c outs(%replay : tensor<?x8xi16>) : tensor<?x8xi32>
  return %w, %p, %r : tensor<?x8xf32>, tensor<?x8xi64>, tensor<?x8xi16>
}

// The whole text.
//     CHECK:// dsv4.gate of f32 to f32, dsv4.topk of f32 to i32, dsv4.route_weights of f32 to f32, dsv4.map_indices of i32 to i64, dsv4.map_indices of i32 to i16
//CHECK-NEXT:// tokens = ?, bias.0 = 64
//CHECK-NEXT:// sm_90a: 128 threads, vectors of 4 elements, one warp per row, held in registers, programmatic launch
//CHECK-NEXT:struct RoutedConfig : dsv4::TopkWarpDefaults {
//CHECK-NEXT:  static constexpr int k = 6, vector = 4, vectors = 1;
//CHECK-NEXT:  static constexpr bool needs_values = false, computed = true;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:routed(const float *__restrict__ logits,
//CHECK-NEXT:       const dsv4::bf16 *__restrict__ bias,
//CHECK-NEXT:       const dsv4::f16 *__restrict__ other,
//CHECK-NEXT:       const unsigned char *__restrict__ image,
//CHECK-NEXT:       const int *__restrict__ t,
//CHECK-NEXT:       const int *__restrict__ n,
//CHECK-NEXT:       float *__restrict__ weights,
//CHECK-NEXT:       long long *__restrict__ physical,
//CHECK-NEXT:       short *__restrict__ replay,
//CHECK-NEXT:       int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int n_1 = dsv4::load<int>(&n[0]);
//CHECK-NEXT:    const bool condition = row < n_1;
//CHECK-NEXT:    const int length = condition ? 64 : 0;
//CHECK-NEXT:    const unsigned char is_other = dsv4::load<unsigned char>(&image[row]);
//CHECK-NEXT:    dsv4::topk_warp<RoutedConfig>(
//CHECK-NEXT:      length,
//CHECK-NEXT:      [&](int column) {
//CHECK-NEXT:        const auto logits_1 = dsv4::load<dsv4::Tile<float, 1, 4>>(&logits[(long long)row * 64 + column]);
//CHECK-NEXT:        const auto other_bias = dsv4::load<dsv4::Tile<dsv4::f16, 1, 4>>(&other[column]);
//CHECK-NEXT:        const auto bias_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>>(&bias[column]);
//CHECK-NEXT:        const auto scores = dsv4::sigmoid(logits_1);
//CHECK-NEXT:        return scores + ((int)is_other != 0 ? dsv4::convert<float>(other_bias) : dsv4::convert<float>(bias_1));
//CHECK-NEXT:      },
//CHECK-NEXT:      [&](int rank, int index, float value) {
//CHECK-NEXT:        dsv4::launch_dependents();
//CHECK-NEXT:        const long long row_start = (long long)row * 8;
//CHECK-NEXT:        const bool condition_1 = rank < 6;
//CHECK-NEXT:        const int experts = condition_1 ? index : rank + 58;
//CHECK-NEXT:        const int offset = condition ? experts : -1;
//CHECK-NEXT:        const int routed_1 = condition_1 ? offset : -1;
//CHECK-NEXT:        const int column_1 = max(routed_1, 0);
//CHECK-NEXT:        const auto logits_2 = dsv4::load<dsv4::Tile<float, 1, 1>>(&logits[(long long)row * 64 + column_1]);
//CHECK-NEXT:        const auto scores_1 = dsv4::sigmoid(logits_2);
//CHECK-NEXT:        const auto picked = dsv4::where_valid(scores_1, routed_1, 64);
//CHECK-NEXT:        const auto sum = dsv4::sum<8, 8>(picked);
//CHECK-NEXT:        const auto shared = dsv4::where_valid<dsv4::Tile<float, 1, 1>>(0.5f, offset, 66);
//CHECK-NEXT:        const auto all = condition_1 ? picked / dsv4::max_nan(sum, 1.1754944e-38f) : shared;
//CHECK-NEXT:        const int column_2 = max(min(offset, 64), 0);
//CHECK-NEXT:        const auto table = dsv4::load<dsv4::Tile<int, 1, 1>>(&t[column_2]);
//CHECK-NEXT:        const auto mapped = dsv4::where_valid(table, offset, 65);
//CHECK-NEXT:        if (rank < 8) {
//CHECK-NEXT:          const long long at = row_start + rank;
//CHECK-NEXT:          dsv4::store(&weights[at], all);
//CHECK-NEXT:          dsv4::store(&physical[at], dsv4::widen(mapped));
//CHECK-NEXT:          replay[at] = (short)offset;
//CHECK-NEXT:        }
//CHECK-NEXT:      });
//CHECK-NEXT:  }
//CHECK-NEXT:}
