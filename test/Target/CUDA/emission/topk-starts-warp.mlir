// Short rows that begin anywhere, by a warp each.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=rows=64" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x256xf32> {dsv4.name = "scores", dsv4.dims = ["rows", ""]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["rows"]},
    %indices: tensor<?x6xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x6xi32>
    attributes {dsv4.policies = {rows = #dsv4.policy<dynamic>}} {
  %i = dsv4.topk %scores starts(%starts : tensor<?xi32>) order sorted ties high
      outs(%indices : tensor<?x6xi32>) : tensor<?x256xf32>
  return %i : tensor<?x6xi32>
}

// The whole text.
//     CHECK:// dsv4.topk of f32 to i32
//CHECK-NEXT:// rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, vectors of 4 elements, one warp per row, held in registers, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkWarpDefaults {
//CHECK-NEXT:  static constexpr int k = 6, vector = 4, vectors = 2;
//CHECK-NEXT:  static constexpr bool needs_values = false, computed = false;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:  static constexpr bool ties_high = true, has_head = true;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:topk(const float *__restrict__ scores,
//CHECK-NEXT:     const int *__restrict__ starts,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int given_start = dsv4::load<int>(&starts[row]);
//CHECK-NEXT:    const int start = min(max(given_start, 0), 256);
//CHECK-NEXT:    const int end = max(given_start >= 0 ? 256 : 0, start);
//CHECK-NEXT:    const int head = start % 4u;
//CHECK-NEXT:    const int base = start - head;
//CHECK-NEXT:    dsv4::topk_warp<TopkConfig>(
//CHECK-NEXT:      end - base, head,
//CHECK-NEXT:      [&](int column) {
//CHECK-NEXT:        const auto scores_1 = dsv4::load<dsv4::Tile<float, 1, 4>>(&scores[(long long)row * 256 + base + column]);
//CHECK-NEXT:        return scores_1;
//CHECK-NEXT:      },
//CHECK-NEXT:      [&](int rank, int index, float value) {
//CHECK-NEXT:        dsv4::launch_dependents();
//CHECK-NEXT:        const long long row_start = (long long)row * 6;
//CHECK-NEXT:        if (rank < 6) {
//CHECK-NEXT:          const long long at = row_start + rank;
//CHECK-NEXT:          indices[at] = index;
//CHECK-NEXT:        }
//CHECK-NEXT:      });
//CHECK-NEXT:  }
//CHECK-NEXT:}
