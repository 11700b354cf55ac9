// Two rows of each request, which has one length, of a cache that is compressed by 4.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=rows=64,columns=8192" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["requests"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xi32>
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>, columns = #dsv4.policy<bucket, multiple = 4>}} {
  %i = dsv4.topk %scores lengths(%lengths : tensor<?xi32>) next_n 2 ratio 4
      outs(%indices : tensor<?x512xi32>) : tensor<?x?xf32>
  return %i : tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.topk of f32 to i32
//CHECK-NEXT:// rows <= 64, columns <= 8192 (a multiple of 4), requests = ?
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 4 elements, one block per row, held in registers, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 512, threads = 1024, vector = 4, vectors = 2;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(1024)
//CHECK-NEXT:topk(const float *__restrict__ scores,
//CHECK-NEXT:     const int *__restrict__ lengths,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     int rows,
//CHECK-NEXT:     int columns,
//CHECK-NEXT:     int requests) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int request_of_row = blockIdx.x / 2;
//CHECK-NEXT:  const int given = request_of_row < requests ? dsv4::load<int>(&lengths[request_of_row]) : 0;
//CHECK-NEXT:  const int rows_after = 1 - blockIdx.x % 2;
//CHECK-NEXT:  const int complete = max(max(given, 0) - rows_after, 0) / 4u;
//CHECK-NEXT:  const int length = min(complete, columns);
//CHECK-NEXT:  dsv4::topk_block<TopkConfig>(
//CHECK-NEXT:    length,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const int scores_start = blockIdx.x * columns;
//CHECK-NEXT:      const auto scores_1 = dsv4::load<dsv4::Tile<float, 1, 4>>(&scores[scores_start + column]);
//CHECK-NEXT:      return scores_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const int row_start = blockIdx.x * 512;
//CHECK-NEXT:      const int at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:    });
//CHECK-NEXT:}
