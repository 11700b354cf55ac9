// Numbers of valid entries without an axis of their own: a row is one number.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @numbers(
    %t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %out: tensor<?xi32> {dsv4.name = "out", dsv4.dims = ["rows"]}) -> tensor<?xi32> {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi32>) window 128 outs(%out : tensor<?xi32>)
  return %0 : tensor<?xi32>
}

// The whole text.
//     CHECK:// dsv4.valid_lens of i32 to i32
//CHECK-NEXT:// rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 1 lanes per row, vectors of 1 element, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:numbers(const int *__restrict__ t,
//CHECK-NEXT:        int *__restrict__ out,
//CHECK-NEXT:        int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 128 + threadIdx.x;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int position = dsv4::load<int>(&t[row]);
//CHECK-NEXT:    const long long count = min(max((long long)position + 1, 0ll), 128ll);
//CHECK-NEXT:    const int count_1 = (int)count;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto left = dsv4::sequence<dsv4::Tile<int, 1, 1>>(count_1, 0, 0);
//CHECK-NEXT:    dsv4::store(&out[row], left);
//CHECK-NEXT:  }
//CHECK-NEXT:}
