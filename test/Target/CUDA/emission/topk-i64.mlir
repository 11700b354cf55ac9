// Scores of f16, indices of ui32 and slots of i64: each rank is widened where it is stored.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @topk(
    %scores: tensor<?x4096xf16> {dsv4.name = "scores", dsv4.dims = ["rows", ""]},
    %length: tensor<?xi64> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %table: tensor<?x?xi64> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %indices: tensor<?x64xui32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %slots: tensor<?x64xi64> {dsv4.name = "slots", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xui32>, tensor<?x64xi64>) {
  %chosen, %where = dsv4.topk %scores lengths(%length : tensor<?xi64>)
      pages(%table : tensor<?x?xi64>) page 16
      outs(%indices, %slots : tensor<?x64xui32>, tensor<?x64xi64>) : tensor<?x4096xf16>
  return %chosen, %where : tensor<?x64xui32>, tensor<?x64xi64>
}

// The whole text.
//     CHECK:// dsv4.topk of f16 to ui32
//CHECK-NEXT:// rows = ?, pages = ?
//CHECK-NEXT:// sm_90a: 1024 threads, vectors of 8 elements, one block per row, held in registers, programmatic launch
//CHECK-NEXT:struct TopkConfig : dsv4::TopkDefaults {
//CHECK-NEXT:  static constexpr int k = 64, threads = 1024, vector = 8, vectors = 1;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(1024)
//CHECK-NEXT:topk(const dsv4::f16 *__restrict__ scores,
//CHECK-NEXT:     const long long *__restrict__ length,
//CHECK-NEXT:     const long long *__restrict__ table,
//CHECK-NEXT:     int *__restrict__ indices,
//CHECK-NEXT:     long long *__restrict__ slots,
//CHECK-NEXT:     int rows,
//CHECK-NEXT:     int pages) {
//CHECK-NEXT:  const bool is_first = threadIdx.x == 0;
//CHECK-NEXT:  dsv4::prefetch_l2_if(is_first, &length[blockIdx.x]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const long long given_i64 = dsv4::load<long long>(&length[blockIdx.x]);
//CHECK-NEXT:  const int given = dsv4::saturate(given_i64);
//CHECK-NEXT:  const int length_1 = min(max(given, 0), 4096);
//CHECK-NEXT:  dsv4::topk_block<TopkConfig>(
//CHECK-NEXT:    length_1,
//CHECK-NEXT:    [&](int column) {
//CHECK-NEXT:      const auto scores_1 = dsv4::load<dsv4::Tile<dsv4::f16, 1, 8>>(&scores[(long long)blockIdx.x * 4096 + column]);
//CHECK-NEXT:      return dsv4::convert<float>(scores_1);
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int rank, int index, float value) {
//CHECK-NEXT:      const long long row_start = (long long)blockIdx.x * 64;
//CHECK-NEXT:      const int page_number = index / 16;
//CHECK-NEXT:      const int entry = index >= 0 && page_number < pages ? dsv4::narrow(dsv4::load<long long>(&table[(long long)blockIdx.x * pages + page_number])) : -1;
//CHECK-NEXT:      const long long slot = (long long)entry * 16 + index % 16;
//CHECK-NEXT:      const long long at = row_start + rank;
//CHECK-NEXT:      indices[at] = index;
//CHECK-NEXT:      slots[at] = (long long)(int)(entry >= 0 && slot < 2147483648ll ? slot : -1);
//CHECK-NEXT:    });
//CHECK-NEXT:}
