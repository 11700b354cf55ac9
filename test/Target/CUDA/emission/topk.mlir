// Rows of any length up to a bound, read once by a block; positions to lengths, slots of pages.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=entries=32768" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["queries", "entries"]},
    %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["queries"]},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["queries"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["queries", ""]},
    %slots: tensor<?x512xi32> {dsv4.name = "slots", dsv4.dims = ["queries", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xi32>)
    attributes {dsv4.policies = {entries = #dsv4.policy<bucket>, queries = #dsv4.policy<dynamic>}} {
  %chosen, %where = dsv4.topk %scores lengths(%positions : tensor<?xi32>) ratio 4
      pages(%table : tensor<?x?xi32>) page 64 requests(%request : tensor<?xi32>)
      outs(%indices, %slots : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x?xf32>
  return %chosen, %where : tensor<?x512xi32>, tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.topk of f32 to i32
//CHECK-NEXT:// queries = ?, entries <= 32768, requests = ?, pages = ?
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 4 elements, one block per row, read once, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 512, threads = 1024, vector = 4, vectors = 2;
//CHECK-NEXT:  static constexpr auto read = dsv4::TopkRead::first;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(1024)
//CHECK-NEXT:topk(const float *__restrict__ scores,
//CHECK-NEXT:     const int *__restrict__ positions,
//CHECK-NEXT:     const int *__restrict__ page_table,
//CHECK-NEXT:     const int *__restrict__ request,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     int *__restrict__ slots,
//CHECK-NEXT:     int rows,
//CHECK-NEXT:     int entries,
//CHECK-NEXT:     int requests,
//CHECK-NEXT:     int pages) {
//CHECK-NEXT:  const bool is_first = threadIdx.x == 0;
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &positions[blockIdx.x]);
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &request[blockIdx.x]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int position = dsv4::load<int>(&positions[blockIdx.x]);
//CHECK-NEXT:  const long long complete = ((long long)position + 1) / 4;
//CHECK-NEXT:  const int complete_1 = (int)complete;
//CHECK-NEXT:  const int length = min(max(complete_1, 0), entries);
//CHECK-NEXT:  const int request_1 = dsv4::load<int>(&request[blockIdx.x]);
//CHECK-NEXT:  const bool has_request = request_1 >= 0 && request_1 < requests;
//CHECK-NEXT:  dsv4::topk_block<TopkConfig>(
//CHECK-NEXT:    length,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const long long scores_start = (long long)blockIdx.x * entries;
//CHECK-NEXT:      const auto scores_1 = dsv4::load_part<dsv4::Tile<float, 1, 4>>(&scores[scores_start + column], entries - column);
//CHECK-NEXT:      return scores_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const long long row_start = (long long)blockIdx.x * 512;
//CHECK-NEXT:      const int page_number = index / 64;
//CHECK-NEXT:      const int entry = has_request && index >= 0 && page_number < pages ? dsv4::load<int>(&page_table[(long long)request_1 * pages + page_number]) : -1;
//CHECK-NEXT:      const long long slot = (long long)entry * 64 + index % 64;
//CHECK-NEXT:      const long long at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:      slots[at] = (int)(entry >= 0 && slot < 2147483648ll ? slot : -1);
//CHECK-NEXT:    });
//CHECK-NEXT:}
