// A lookup with a shared expert, whose weight is given.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @sglang_hash_topk(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %table: tensor<?x6xi32> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi64> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %experts: tensor<?x7xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x7xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x7xi32>, tensor<?x7xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %chosen = dsv4.lookup %table[%ids] shared 1 experts 256 outs(%experts : tensor<?x7xi32>)
      : tensor<?x6xi32>, tensor<?xi64>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize shared 1 weight 0.4
      outs(%weights : tensor<?x7xf32>) : tensor<?x256xf32>, tensor<?x7xi32>
  return %chosen, %shares : tensor<?x7xi32>, tensor<?x7xf32>
}

// The whole text.
//     CHECK:// dsv4.lookup of i32 to i32, dsv4.gate of f32 to f32, dsv4.route_weights of f32 to f32
//CHECK-NEXT:// tokens = ?, words = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 1 element, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:sglang_hash_topk(const float *__restrict__ logits,
//CHECK-NEXT:                 const int *__restrict__ table,
//CHECK-NEXT:                 const long long *__restrict__ ids,
//CHECK-NEXT:                 int *__restrict__ experts,
//CHECK-NEXT:                 float *__restrict__ weights,
//CHECK-NEXT:                 int words,
//CHECK-NEXT:                 int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int vectors = lane < 7;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long id_i64 = dsv4::load<long long>(&ids[row]);
//CHECK-NEXT:    const int id = dsv4::narrow(id_i64);
//CHECK-NEXT:    const bool in_table = id >= 0 && id < words;
//CHECK-NEXT:    const int table_row = in_table ? id : 0;
//CHECK-NEXT:    const long long row_start = (long long)row * 7;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto columns = in_table ? dsv4::sequence<dsv4::Tile<int, 1, 1>>(0, 1, lane) : dsv4::fill<dsv4::Tile<int, 1, 1>>(-1);
//CHECK-NEXT:    const auto entries = dsv4::gather(&table[(long long)table_row * 6], columns, 6);
//CHECK-NEXT:    const auto found = in_table ? dsv4::splice(entries, 6, dsv4::sequence<dsv4::Tile<int, 1, 1>>(250, 1, lane), lane) : dsv4::fill<dsv4::Tile<int, 1, 1>>(-1);
//CHECK-NEXT:    const long long offset = row_start + lane;
//CHECK-NEXT:    dsv4::store_vectors(vectors, &experts[offset], found);
//CHECK-NEXT:    const auto routed = dsv4::splice(found, 6, dsv4::fill<dsv4::Tile<int, 1, 1>>(-1), lane);
//CHECK-NEXT:    const auto logits_1 = dsv4::gather(&logits[(long long)row * 256], routed, 256);
//CHECK-NEXT:    const auto scores = dsv4::sqrt_softplus(logits_1);
//CHECK-NEXT:    const auto picked = dsv4::where_valid(scores, routed, 256);
//CHECK-NEXT:    const auto sum = dsv4::sum<8, 8>(dsv4::keep_vectors(picked, vectors, -0.0f));
//CHECK-NEXT:    const auto shared = dsv4::where_valid<dsv4::Tile<float, 1, 1>>(0.4f, found, 257);
//CHECK-NEXT:    const auto all = dsv4::splice(picked / dsv4::repeat<1, 1>(dsv4::max_nan(sum, 1.1754944e-38f)), 6, shared, lane);
//CHECK-NEXT:    dsv4::store_vectors(vectors, &weights[offset], all);
//CHECK-NEXT:  }
//CHECK-NEXT:}
