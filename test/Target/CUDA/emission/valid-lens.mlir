// Numbers of valid entries of the pages of a request: a vector of integers per row.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @pages(
    %n: tensor<?xi64> {dsv4.name = "n", dsv4.dims = ["rows"]},
    %out: tensor<?x8xi32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x8xi32> {
  %0 = dsv4.valid_lens lengths(%n : tensor<?xi64>) ratio 128 page 2 outs(%out : tensor<?x8xi32>)
  return %0 : tensor<?x8xi32>
}

// The whole text.
//     CHECK:// dsv4.valid_lens of i64 to i32
//CHECK-NEXT:// rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 1 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:pages(const long long *__restrict__ n,
//CHECK-NEXT:      int *__restrict__ out,
//CHECK-NEXT:      int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 128 + threadIdx.x;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long length_i64 = dsv4::load<long long>(&n[row]);
//CHECK-NEXT:    const int length = dsv4::saturate(length_i64);
//CHECK-NEXT:    const int complete = max(length, 0) / 128u;
//CHECK-NEXT:    const long long row_start = (long long)row * 8;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto left = dsv4::sequence<dsv4::Tile<int, 1, 8>>(complete, -2, 0);
//CHECK-NEXT:    const auto lens = dsv4::min(dsv4::max(left, dsv4::fill<dsv4::Tile<int, 1, 8>>(0)), dsv4::fill<dsv4::Tile<int, 1, 8>>(2));
//CHECK-NEXT:    dsv4::store(&out[row_start], lens);
//CHECK-NEXT:  }
//CHECK-NEXT:}
