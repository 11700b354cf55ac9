// The work list of an online compressor: a row for each segment of a launch.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @compress_plan_online(
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
    %first_segment: tensor<?xi32> {dsv4.name = "first_segment", dsv4.dims = ["starts"]},
    %before: tensor<?xi32> {dsv4.name = "before", dsv4.dims = ["requests"]},
    %after: tensor<?xi32> {dsv4.name = "after", dsv4.dims = ["requests"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
    %plan: tensor<?x5xi32> {dsv4.name = "plan", dsv4.dims = ["segments", ""]},
    %entry_position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["segments"]},
    %entry_slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["segments"]})
    -> (tensor<?x5xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0, %1, %2 = dsv4.compress_plan window 128 algorithm online lengths(%length : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%first_segment : tensor<?xi32>)
      from(%before : tensor<?xi32>) to(%after : tensor<?xi32>) slots(%slot : tensor<?xi32>)
      outs(%plan, %entry_position, %entry_slot : tensor<?x5xi32>, tensor<?xi32>, tensor<?xi32>)
  return %0, %1, %2 : tensor<?x5xi32>, tensor<?xi32>, tensor<?xi32>
}

// The whole text.
//     CHECK:// dsv4.compress_plan of i32 to i32
//CHECK-NEXT:// requests = ?, starts = ?, tokens = ?, segments = ?
//CHECK-NEXT:// sm_90a: 128 threads, 1 lanes per row, vectors of 1 element, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:compress_plan_online(const int *__restrict__ length,
//CHECK-NEXT:                     const int *__restrict__ starts,
//CHECK-NEXT:                     const int *__restrict__ first_segment,
//CHECK-NEXT:                     const int *__restrict__ before,
//CHECK-NEXT:                     const int *__restrict__ after,
//CHECK-NEXT:                     const int *__restrict__ slot,
//CHECK-NEXT:                     int *__restrict__ plan,
//CHECK-NEXT:                     int *__restrict__ entry_position,
//CHECK-NEXT:                     int *__restrict__ entry_slot,
//CHECK-NEXT:                     int requests,
//CHECK-NEXT:                     int starts_extent,
//CHECK-NEXT:                     int tokens,
//CHECK-NEXT:                     int rows) {
//CHECK-NEXT:  const int searched = threadIdx.x * 32;
//CHECK-NEXT:  dsv4::prefetch_l2_if(blockIdx.x == 0 && searched < starts_extent, &first_segment[searched]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 128 + threadIdx.x;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int request = dsv4::search(first_segment, row, starts_extent - 1);
//CHECK-NEXT:    const bool condition = request >= 0;
//CHECK-NEXT:    const int offset = request + 1;
//CHECK-NEXT:    const bool condition_1 = condition && request < starts_extent;
//CHECK-NEXT:    const int start = condition_1 ? dsv4::load<int>(&starts[request]) : -1;
//CHECK-NEXT:    const bool condition_2 = condition && offset < starts_extent;
//CHECK-NEXT:    const int end = condition_2 ? dsv4::load<int>(&starts[offset]) : -1;
//CHECK-NEXT:    const int first_segment_1 = condition_1 ? dsv4::load<int>(&first_segment[request]) : -1;
//CHECK-NEXT:    const int after_segments = condition_2 ? dsv4::load<int>(&first_segment[offset]) : -1;
//CHECK-NEXT:    const bool is_of_request = condition && start >= 0 && first_segment_1 >= 0 && first_segment_1 <= row && row < after_segments && start < end;
//CHECK-NEXT:    const bool condition_3 = condition && request < requests;
//CHECK-NEXT:    const int length_1 = condition_3 ? dsv4::load<int>(&length[request]) : -1;
//CHECK-NEXT:    const long long position_of_token = length_1 - ((long long)end - start);
//CHECK-NEXT:    const long long number = (int)(position_of_token / 128) + (long long)row - first_segment_1;
//CHECK-NEXT:    const long long window_start = number * 128;
//CHECK-NEXT:    const long long position = max(position_of_token, window_start);
//CHECK-NEXT:    const long long first_token = start + position - position_of_token;
//CHECK-NEXT:    const bool is_segment = is_of_request && position_of_token >= 0 && first_token < end && window_start <= 2147479552;
//CHECK-NEXT:    const long long offset_1 = window_start + 128;
//CHECK-NEXT:    const long long left = offset_1 - position;
//CHECK-NEXT:    const long long count = min(left, end - first_token);
//CHECK-NEXT:    const long long offset_2 = first_token + count - 1;
//CHECK-NEXT:    const int from = condition_3 ? dsv4::load<int>(&before[request]) : -1;
//CHECK-NEXT:    const int to = condition_3 ? dsv4::load<int>(&after[request]) : -1;
//CHECK-NEXT:    const bool ends = is_segment && position + count == offset_1;
//CHECK-NEXT:    const int slot_1 = ends && offset_2 < tokens ? dsv4::load<int>(&slot[offset_2]) : -1;
//CHECK-NEXT:    const bool is_entry = ends && slot_1 >= 0;
//CHECK-NEXT:    const long long w = is_entry ? window_start : -1;
//CHECK-NEXT:    const long long row_start = (long long)row * 5;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    plan[row_start] = (int)(is_segment ? position : -1);
//CHECK-NEXT:    plan[row_start + 1] = (int)(is_segment ? count : -1);
//CHECK-NEXT:    plan[row_start + 2] = (int)(is_segment ? first_token : -1);
//CHECK-NEXT:    plan[row_start + 3] = is_segment ? from : -1;
//CHECK-NEXT:    plan[row_start + 4] = is_segment ? to : -1;
//CHECK-NEXT:    entry_position[row] = (int)w;
//CHECK-NEXT:    entry_slot[row] = is_entry ? slot_1 : -1;
//CHECK-NEXT:  }
//CHECK-NEXT:}
