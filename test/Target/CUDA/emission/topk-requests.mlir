// The request of a row is looked for in cu_seq_lens, and its pages begin at a column of the table.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a --max-stack=16 sm_80 sm_100a sm_120a

func.func @topk_requests(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]},
    %page_start: tensor<?xi32> {dsv4.name = "page_start", dsv4.dims = ["rows"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %slots: tensor<?x512xi32> {dsv4.name = "slots", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xi32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>}} {
  %0, %1 = dsv4.topk %scores lengths(%length : tensor<?xi32>)
      pages(%table : tensor<?x?xi32>) page 64 cu_seq_lens(%cu_seq_lens : tensor<?xi32>)
      page_starts(%page_start : tensor<?xi32>)
      outs(%indices, %slots : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x?xf32>
  return %0, %1 : tensor<?x512xi32>, tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.topk of f32 to i32
//CHECK-NEXT:// rows = ?, columns <= 4194304, requests = ?, pages = ?, starts = ?
//CHECK-NEXT:// sm_90a: 512 threads, vectors of 4 elements, one block per row, read once, programmatic launch
//CHECK-NEXT:struct TopkRequestsConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 512, threads = 512, vector = 4, vectors = 4;
//CHECK-NEXT:  static constexpr auto read = dsv4::TopkRead::sample;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(512, 2)
//CHECK-NEXT:topk_requests(const float *__restrict__ scores,
//CHECK-NEXT:              const int *__restrict__ length,
//CHECK-NEXT:              const int *__restrict__ table,
//CHECK-NEXT:              const int *__restrict__ cu_seq_lens,
//CHECK-NEXT:              const int *__restrict__ page_start,
//CHECK-NEXT:              int *__restrict__ indices,
//CHECK-NEXT:              int *__restrict__ slots,
//CHECK-NEXT:              int rows,
//CHECK-NEXT:              int columns,
//CHECK-NEXT:              int requests,
//CHECK-NEXT:              int pages,
//CHECK-NEXT:              int starts) {
//CHECK-NEXT:  const bool is_first = threadIdx.x == 0;
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &length[blockIdx.x]);
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &page_start[blockIdx.x]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int given = dsv4::load<int>(&length[blockIdx.x]);
//CHECK-NEXT:  const int length_1 = min(max(given, 0), columns);
//CHECK-NEXT:  const int requests_1 = starts - 1;
//CHECK-NEXT:  const int request = dsv4::search(cu_seq_lens, blockIdx.x, requests_1);
//CHECK-NEXT:  const bool known = request < requests_1 && request < requests;
//CHECK-NEXT:  const int first_row = known ? dsv4::load<int>(&cu_seq_lens[request]) : -1;
//CHECK-NEXT:  const int end_row = known ? dsv4::load<int>(&cu_seq_lens[request + 1]) : -1;
//CHECK-NEXT:  const int first_page = dsv4::load<int>(&page_start[blockIdx.x]);
//CHECK-NEXT:  const bool has_request = first_row >= 0 && first_row <= (int)blockIdx.x && end_row >= 0 && (int)blockIdx.x < end_row;
//CHECK-NEXT:  dsv4::topk_block<TopkRequestsConfig>(
//CHECK-NEXT:    length_1,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const long long scores_start = (long long)blockIdx.x * columns;
//CHECK-NEXT:      const auto scores_1 = dsv4::load_part<dsv4::Tile<float, 1, 4>>(&scores[scores_start + column], columns - column);
//CHECK-NEXT:      return scores_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const long long row_start = (long long)blockIdx.x * 512;
//CHECK-NEXT:      const int page_number = index / 64;
//CHECK-NEXT:      const long long column_of_page = (long long)first_page + page_number;
//CHECK-NEXT:      const int entry = has_request && first_page >= 0 && index >= 0 && column_of_page < pages ? dsv4::load<int>(&table[(long long)request * pages + column_of_page]) : -1;
//CHECK-NEXT:      const long long slot = (long long)entry * 64 + index % 64;
//CHECK-NEXT:      const long long at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:      slots[at] = (int)(entry >= 0 && slot < 2147483648ll ? slot : -1);
//CHECK-NEXT:    });
//CHECK-NEXT:}
