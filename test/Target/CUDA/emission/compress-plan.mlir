// The work list of a decode step: a row for each token, which knows its request.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @compress_plan(
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["starts"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["tokens", ""]},
    %entry_position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["tokens"]},
    %entry_slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["tokens"]})
    -> (tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>) {
  %0, %1, %2 = dsv4.compress_plan window 4 positions(%position : tensor<?xi32>)
      requests(%request : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      slots(%slot : tensor<?xi32>)
      outs(%plan, %entry_position, %entry_slot : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  return %0, %1, %2 : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>
}

// The whole text.
//     CHECK:// dsv4.compress_plan of i32 to i32
//CHECK-NEXT:// tokens = ?, starts = ?
//CHECK-NEXT:// sm_90a: 128 threads, 1 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:compress_plan(const int *__restrict__ position,
//CHECK-NEXT:              const int *__restrict__ request,
//CHECK-NEXT:              const int *__restrict__ starts,
//CHECK-NEXT:              const int *__restrict__ slot,
//CHECK-NEXT:              int *__restrict__ plan,
//CHECK-NEXT:              int *__restrict__ entry_position,
//CHECK-NEXT:              int *__restrict__ entry_slot,
//CHECK-NEXT:              int starts_extent,
//CHECK-NEXT:              int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 128 + threadIdx.x;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int request_1 = dsv4::load<int>(&request[row]);
//CHECK-NEXT:    const bool condition = request_1 >= 0;
//CHECK-NEXT:    const long long offset = (long long)request_1 + 1;
//CHECK-NEXT:    const int start = condition && request_1 < starts_extent ? dsv4::load<int>(&starts[request_1]) : -1;
//CHECK-NEXT:    const int end = condition && offset < starts_extent ? dsv4::load<int>(&starts[offset]) : -1;
//CHECK-NEXT:    const int position_1 = dsv4::load<int>(&position[row]);
//CHECK-NEXT:    const bool is_of_request = condition && start >= 0 && start <= row && row < end;
//CHECK-NEXT:    const long long window_start = (long long)position_1 - 3;
//CHECK-NEXT:    const bool has_window = is_of_request && position_1 % 4 == 3 && window_start >= 0 && window_start <= 2147479552;
//CHECK-NEXT:    const int slot_1 = dsv4::load<int>(&slot[row]);
//CHECK-NEXT:    const bool is_entry = has_window && slot_1 >= 0;
//CHECK-NEXT:    const long long w = is_entry ? window_start : -1;
//CHECK-NEXT:    const int offset_1 = (int)w;
//CHECK-NEXT:    const long long row_start = (long long)row * 4;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    plan[row_start] = offset_1;
//CHECK-NEXT:    plan[row_start + 1] = is_entry ? request_1 : -1;
//CHECK-NEXT:    plan[row_start + 2] = (int)(is_entry ? position_1 - ((long long)row - start) : -1);
//CHECK-NEXT:    plan[row_start + 3] = is_entry ? start : -1;
//CHECK-NEXT:    entry_position[row] = offset_1;
//CHECK-NEXT:    entry_slot[row] = is_entry ? slot_1 : -1;
//CHECK-NEXT:  }
//CHECK-NEXT:}
