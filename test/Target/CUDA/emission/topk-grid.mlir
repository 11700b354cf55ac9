// One row of millions of elements, by blocks that are no cluster; what they find goes to a workspace.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=1024,pdl=true,parts=[#dsv4.select<algorithm=grid,vector=4,vectors=2,blocks=64>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @topk_grid(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["queries", "entries"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["queries"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["queries", ""]}) -> tensor<?x512xi32> {
  %chosen = dsv4.topk %scores lengths(%lengths : tensor<?xi32>) order sorted outs(%indices : tensor<?x512xi32>)
      : tensor<?x?xf32>
  return %chosen : tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.topk of f32 to i32
//CHECK-NEXT:// queries = ?, entries <= 4194304
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 4 elements, 64 blocks per row, read once, programmatic launch
//CHECK-NEXT:struct TopkGridConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 512, threads = 1024, vector = 4, vectors = 2, blocks_per_row = 64;
//CHECK-NEXT:  static constexpr auto read = dsv4::TopkRead::sample;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::sorted;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(1024)
//CHECK-NEXT:topk_grid(const float *__restrict__ scores,
//CHECK-NEXT:          const int *__restrict__ lengths,
//CHECK-NEXT:          int *__restrict__ indices,
//CHECK-NEXT:          int rows,
//CHECK-NEXT:          int entries,
//CHECK-NEXT:          unsigned char *__restrict__ workspace) {
//CHECK-NEXT:  const int row = blockIdx.x / 64;
//CHECK-NEXT:  const bool is_first = threadIdx.x == 0;
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &lengths[row]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int given = dsv4::load<int>(&lengths[row]);
//CHECK-NEXT:  const int length = min(max(given, 0), entries);
//CHECK-NEXT:  dsv4::topk_grid<TopkGridConfig>(
//CHECK-NEXT:    length, workspace,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const long long scores_start = (long long)row * entries;
//CHECK-NEXT:      const auto scores_1 = dsv4::load_part<dsv4::Tile<float, 1, 4>>(&scores[scores_start + column], entries - column);
//CHECK-NEXT:      return scores_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const long long row_start = (long long)row * 512;
//CHECK-NEXT:      const long long at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:    });
//CHECK-NEXT:}
