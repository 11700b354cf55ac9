// A few long rows, each by the blocks of a cluster. Nothing is known of where one starts.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="arch=sm_90a dims=rows=8" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a --max-stack=24 sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x?xbf16> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %indices: tensor<?x2048xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x2048xbf16> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x2048xi32>, tensor<?x2048xbf16>)
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>}} {
  %0, %1 = dsv4.topk %scores order index_ascending smallest
      outs(%indices, %values : tensor<?x2048xi32>, tensor<?x2048xbf16>) : tensor<?x?xbf16>
  return %0, %1 : tensor<?x2048xi32>, tensor<?x2048xbf16>
}

// The whole text.
//     CHECK:// dsv4.topk of bf16 to i32
//CHECK-NEXT:// rows <= 8, columns <= 4194304
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 8 elements, a cluster of 16 blocks per row, read once, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 2048, threads = 1024, vector = 8, vectors = 2, cluster = 16;
//CHECK-NEXT:  static constexpr auto read = dsv4::TopkRead::sample;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::index_ascending;
//CHECK-NEXT:  static constexpr bool largest = false;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __cluster_dims__(16, 1, 1) __launch_bounds__(1024)
//CHECK-NEXT:topk(const dsv4::bf16 *__restrict__ scores,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     dsv4::bf16 *__restrict__ values,
//CHECK-NEXT:     int rows,
//CHECK-NEXT:     int columns) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int row = blockIdx.x / 16;
//CHECK-NEXT:  dsv4::topk_cluster<TopkConfig>(
//CHECK-NEXT:    columns,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const int scores_start = row * columns;
//CHECK-NEXT:      const auto scores_1 = dsv4::load_part<dsv4::Tile<dsv4::bf16, 1, 8>>(&scores[scores_start + column], columns - column);
//CHECK-NEXT:      return dsv4::convert<float>(scores_1);
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const int row_start = row * 2048;
//CHECK-NEXT:      const int at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:      values[at] = dsv4::convert<dsv4::bf16>(value);
//CHECK-NEXT:    });
//CHECK-NEXT:}
