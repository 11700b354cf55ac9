// Rows that begin anywhere, in the registers of a block; of bf16, and of any length.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=rows=64,columns=8192" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x?xbf16> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["rows"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xi32>
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>, columns = #dsv4.policy<bucket>}} {
  %i = dsv4.topk %scores starts(%starts : tensor<?xi32>) lengths(%lengths : tensor<?xi32>) ties high
      outs(%indices : tensor<?x512xi32>) : tensor<?x?xbf16>
  return %i : tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.topk of bf16 to i32
//CHECK-NEXT:// rows <= 64, columns <= 8192
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 8 elements, one block per row, held in registers, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 512, threads = 1024, vector = 8, vectors = 1;
//CHECK-NEXT:  static constexpr bool ties_high = true, has_head = true;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(1024)
//CHECK-NEXT:topk(const dsv4::bf16 *__restrict__ scores,
//CHECK-NEXT:     const int *__restrict__ starts,
//CHECK-NEXT:     const int *__restrict__ lengths,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     int rows,
//CHECK-NEXT:     int columns) {
//CHECK-NEXT:  const bool is_first = threadIdx.x == 0;
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &starts[blockIdx.x]);
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &lengths[blockIdx.x]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int given_start = dsv4::load<int>(&starts[blockIdx.x]);
//CHECK-NEXT:  const int start = min(max(given_start, 0), columns);
//CHECK-NEXT:  const int given = dsv4::load<int>(&lengths[blockIdx.x]);
//CHECK-NEXT:  const int length = min(max(given, 0), columns);
//CHECK-NEXT:  const int end = max(given_start >= 0 ? min(start + length, columns) : 0, start);
//CHECK-NEXT:  const int head = start % 8u;
//CHECK-NEXT:  const int base = start - head;
//CHECK-NEXT:  dsv4::topk_block<TopkConfig>(
//CHECK-NEXT:    end - base, head,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const int offset = base + column;
//CHECK-NEXT:      const int scores_start = blockIdx.x * columns;
//CHECK-NEXT:      const auto scores_1 = dsv4::load_part<dsv4::Tile<dsv4::bf16, 1, 8>>(&scores[scores_start + offset], columns - offset);
//CHECK-NEXT:      return dsv4::convert<float>(scores_1);
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const int row_start = blockIdx.x * 512;
//CHECK-NEXT:      const int at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:    });
//CHECK-NEXT:}
