// The work list of a prefill: a row for each entry, whose request is looked for, and whose slot is in a
// page of the request.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @compress_plan_entries(
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
    %entry_starts: tensor<?xi32> {dsv4.name = "entry_starts", dsv4.dims = ["starts"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "max_pages"]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %entry_position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["entries"]},
    %entry_slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["entries"]})
    -> (tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0, %1, %2 = dsv4.compress_plan window 128 lengths(%length : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%entry_starts : tensor<?xi32>)
      pages(%table : tensor<?x?xi32>) page 64
      outs(%plan, %entry_position, %entry_slot : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return %0, %1, %2 : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>
}

// The whole text.
//     CHECK:// dsv4.compress_plan of i32 to i32
//CHECK-NEXT:// requests = ?, starts = ?, max_pages = ?, entries = ?
//CHECK-NEXT:// sm_90a: 128 threads, 1 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:compress_plan_entries(const int *__restrict__ length,
//CHECK-NEXT:                      const int *__restrict__ starts,
//CHECK-NEXT:                      const int *__restrict__ entry_starts,
//CHECK-NEXT:                      const int *__restrict__ table,
//CHECK-NEXT:                      int *__restrict__ plan,
//CHECK-NEXT:                      int *__restrict__ entry_position,
//CHECK-NEXT:                      int *__restrict__ entry_slot,
//CHECK-NEXT:                      int starts_extent,
//CHECK-NEXT:                      int requests,
//CHECK-NEXT:                      int max_pages,
//CHECK-NEXT:                      int rows) {
//CHECK-NEXT:  const int searched = threadIdx.x * 32;
//CHECK-NEXT:  dsv4::prefetch_l2_if(blockIdx.x == 0 && searched < starts_extent, &entry_starts[searched]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 128 + threadIdx.x;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int request = dsv4::search(entry_starts, row, starts_extent - 1);
//CHECK-NEXT:    const bool condition = request >= 0;
//CHECK-NEXT:    const int offset = request + 1;
//CHECK-NEXT:    const bool condition_1 = condition && request < requests;
//CHECK-NEXT:    const bool condition_2 = condition && request < starts_extent;
//CHECK-NEXT:    const int start = condition_2 ? dsv4::load<int>(&starts[request]) : -1;
//CHECK-NEXT:    const bool condition_3 = condition && offset < starts_extent;
//CHECK-NEXT:    const int end = condition_3 ? dsv4::load<int>(&starts[offset]) : -1;
//CHECK-NEXT:    const int first_entry = condition_2 ? dsv4::load<int>(&entry_starts[request]) : -1;
//CHECK-NEXT:    const int after_entries = condition_3 ? dsv4::load<int>(&entry_starts[offset]) : -1;
//CHECK-NEXT:    const bool is_of_request = condition_1 && start >= 0 && first_entry >= 0 && first_entry <= row && row < after_entries;
//CHECK-NEXT:    const int length_1 = condition_1 ? dsv4::load<int>(&length[request]) : -1;
//CHECK-NEXT:    const long long first_position = length_1 - ((long long)end - start);
//CHECK-NEXT:    const long long number = (int)(first_position / 128) + (long long)row - first_entry;
//CHECK-NEXT:    const long long window_start = number * 128;
//CHECK-NEXT:    const long long last_token = start + window_start + 127 - first_position;
//CHECK-NEXT:    const bool has_window = is_of_request && first_position >= 0 && last_token < end && window_start >= 0 && window_start <= 2147479552;
//CHECK-NEXT:    const long long number_1 = window_start / 128;
//CHECK-NEXT:    const long long logical_page = number_1 / 64;
//CHECK-NEXT:    const int logical_page_1 = (int)logical_page;
//CHECK-NEXT:    const bool in_table = has_window && logical_page_1 < max_pages;
//CHECK-NEXT:    const int page = in_table ? dsv4::load<int>(&table[(long long)request * max_pages + logical_page_1]) : -1;
//CHECK-NEXT:    const long long slot = (long long)page * 64 + (int)(number_1 % 64);
//CHECK-NEXT:    const bool is_entry = has_window && page >= 0 && slot <= 2147483647;
//CHECK-NEXT:    const long long w = is_entry ? window_start : -1;
//CHECK-NEXT:    const int offset_1 = (int)w;
//CHECK-NEXT:    const long long row_start = (long long)row * 4;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    plan[row_start] = offset_1;
//CHECK-NEXT:    plan[row_start + 1] = is_entry ? request : -1;
//CHECK-NEXT:    plan[row_start + 2] = (int)(is_entry ? first_position : -1);
//CHECK-NEXT:    plan[row_start + 3] = is_entry ? start : -1;
//CHECK-NEXT:    entry_position[row] = offset_1;
//CHECK-NEXT:    entry_slot[row] = (int)(is_entry ? slot : -1);
//CHECK-NEXT:  }
//CHECK-NEXT:}
