// A hash router with ids and a table of i64: rows of indices are vectors of i32 between the load
// and the store.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @hash_router(
    %table: tensor<129280x6xi64> {dsv4.name = "table"},
    %ids: tensor<?xi64> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %logits: tensor<?x256xf16> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %experts: tensor<?x6xi64> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi64>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf16>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>
  %found = dsv4.lookup %table[%ids] outs(%experts : tensor<?x6xi64>)
      : tensor<129280x6xi64>, tensor<?xi64>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf16>
  %shares = dsv4.route_weights %scores[%found] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi64>
  return %found, %shares : tensor<?x6xi64>, tensor<?x6xf32>
}

// The whole text.
//     CHECK:// dsv4.lookup of i64 to i64, dsv4.gate of f16 to f32, dsv4.route_weights of f32 to f32
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 1 element, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:hash_router(const long long *__restrict__ table,
//CHECK-NEXT:            const long long *__restrict__ ids,
//CHECK-NEXT:            const dsv4::f16 *__restrict__ logits,
//CHECK-NEXT:            long long *__restrict__ experts,
//CHECK-NEXT:            float *__restrict__ weights,
//CHECK-NEXT:            int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int vectors = lane < 6;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long id_i64 = dsv4::load<long long>(&ids[row]);
//CHECK-NEXT:    const int id = dsv4::narrow(id_i64);
//CHECK-NEXT:    const bool in_table = id >= 0 && id < 129280;
//CHECK-NEXT:    const long long row_start = (long long)row * 6;
//CHECK-NEXT:    const auto entries = dsv4::load_vectors<dsv4::Tile<long long, 1, 1>, 0, dsv4::evict_last>(in_table ? vectors : 0, &table[(long long)id * 6 + lane]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto entries_1 = dsv4::narrow(entries);
//CHECK-NEXT:    const auto found = in_table ? entries_1 : dsv4::fill<dsv4::Tile<int, 1, 1>>(-1);
//CHECK-NEXT:    const long long offset = row_start + lane;
//CHECK-NEXT:    dsv4::store_vectors(vectors, &experts[offset], dsv4::widen(found));
//CHECK-NEXT:    const auto logits_1 = dsv4::gather(&logits[(long long)row * 256], found, 256);
//CHECK-NEXT:    const auto scores = dsv4::sqrt_softplus(dsv4::convert<float>(logits_1));
//CHECK-NEXT:    const auto picked = dsv4::where_valid(scores, found, 256);
//CHECK-NEXT:    const auto sum = dsv4::sum<8, 8>(dsv4::keep_vectors(picked, vectors, -0.0f));
//CHECK-NEXT:    dsv4::store_vectors(vectors, &weights[offset], picked / dsv4::repeat<1, 1>(dsv4::max_nan(sum, 1.1754944e-38f)) * 1.5f);
//CHECK-NEXT:  }
//CHECK-NEXT:}
