// A few rows that begin anywhere, each in the registers of a cluster.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="arch=sm_90a dims=rows=8,columns=16384" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["rows"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xi32>
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>, columns = #dsv4.policy<bucket, multiple = 4>}} {
  %i = dsv4.topk %scores starts(%starts : tensor<?xi32>)
      outs(%indices : tensor<?x512xi32>) : tensor<?x?xf32>
  return %i : tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.topk of f32 to i32
//CHECK-NEXT:// rows <= 8, columns <= 16384 (a multiple of 4)
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 4 elements, a cluster of 4 blocks per row, held in registers, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 512, threads = 1024, vector = 4, vectors = 1, cluster = 4;
//CHECK-NEXT:  static constexpr bool has_head = true;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(1024)
//CHECK-NEXT:topk(const float *__restrict__ scores,
//CHECK-NEXT:     const int *__restrict__ starts,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     int rows,
//CHECK-NEXT:     int columns) {
//CHECK-NEXT:  const int row = blockIdx.x / 4;
//CHECK-NEXT:  const bool is_first = threadIdx.x == 0;
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &starts[row]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int given_start = dsv4::load<int>(&starts[row]);
//CHECK-NEXT:  const int start = min(max(given_start, 0), columns);
//CHECK-NEXT:  const int end = max(given_start >= 0 ? columns : 0, start);
//CHECK-NEXT:  const int head = start % 4u;
//CHECK-NEXT:  const int base = start - head;
//CHECK-NEXT:  dsv4::topk_spread<TopkConfig>(
//CHECK-NEXT:    end - base, head,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const int scores_start = row * columns;
//CHECK-NEXT:      const auto scores_1 = dsv4::load<dsv4::Tile<float, 1, 4>>(&scores[scores_start + base + column]);
//CHECK-NEXT:      return scores_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const int row_start = row * 512;
//CHECK-NEXT:      const int at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:    });
//CHECK-NEXT:}
