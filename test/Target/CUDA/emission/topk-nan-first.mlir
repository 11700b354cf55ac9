// NaN before every number. Values that are read again, because a bias chose them, become the elements + 0, as those
// that a selection returns.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x1024xbf16> {dsv4.name = "scores", dsv4.dims = ["rows", ""]},
    %bias: tensor<1024xf32> {dsv4.name = "bias"},
    %indices: tensor<?x64xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x64xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xi32>, tensor<?x64xf32>) {
  %i, %v = dsv4.topk %scores bias(%bias : tensor<1024xf32>) order sorted smallest ties high nan first
      outs(%indices, %values : tensor<?x64xi32>, tensor<?x64xf32>) : tensor<?x1024xbf16>
  return %i, %v : tensor<?x64xi32>, tensor<?x64xf32>
}

// The whole text.
//     CHECK:// dsv4.topk of bf16 to i32
//CHECK-NEXT:// rows = ?, scores.1 = 1024
//CHECK-NEXT:// sm_90a: 256 threads, vectors of 8 elements, one block per row, held in registers, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 64, threads = 256, vector = 8, vectors = 1;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:  static constexpr bool largest = false, ties_high = true, nan_first = true;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(256)
//CHECK-NEXT:topk(const dsv4::bf16 *__restrict__ scores,
//CHECK-NEXT:     const float *__restrict__ bias,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     float *__restrict__ values,
//CHECK-NEXT:     int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  dsv4::topk_block<TopkConfig>(
//CHECK-NEXT:    1024,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const auto scores_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 8>>(&scores[(long long)blockIdx.x * 1024 + column]);
//CHECK-NEXT:      const auto bias_1 = dsv4::load<dsv4::Tile<float, 1, 8>>(&bias[column]);
//CHECK-NEXT:      return dsv4::convert<float>(scores_1) + bias_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const long long row_start = (long long)blockIdx.x * 64;
//CHECK-NEXT:      const int column_1 = max(index, 0);
//CHECK-NEXT:      const auto scores_2 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 1>>(&scores[(long long)blockIdx.x * 1024 + column_1]);
//CHECK-NEXT:      const long long at = row_start + rank;
//CHECK-NEXT:      dsv4::store(&values[at], dsv4::where_valid(dsv4::convert<float>(scores_2), index, 4194304, dsv4::as_float(0x7F800000u)) + 0.0f);
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:    });
//CHECK-NEXT:}
