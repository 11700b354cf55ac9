// A mask of rows, and the numbers of token-expert pairs.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @vllm_topk_hash_softplus_sqrt(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %table: tensor<?x6xi32> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %sources: tensor<?x6xi32> {dsv4.name = "sources", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %chosen, %numbers = dsv4.lookup %table[%ids] padding(%pad : tensor<?xi1>) token_experts
      outs(%experts, %sources : tensor<?x6xi32>, tensor<?x6xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %chosen, %numbers, %shares : tensor<?x6xi32>, tensor<?x6xi32>, tensor<?x6xf32>
}

// The whole text.
//     CHECK:// dsv4.lookup of i32 to i32, dsv4.gate of f32 to f32, dsv4.route_weights of f32 to f32
//CHECK-NEXT:// tokens = ?, words = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 1 element, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:vllm_topk_hash_softplus_sqrt(const float *__restrict__ logits,
//CHECK-NEXT:                             const int *__restrict__ table,
//CHECK-NEXT:                             const int *__restrict__ ids,
//CHECK-NEXT:                             const unsigned char *__restrict__ pad,
//CHECK-NEXT:                             int *__restrict__ experts,
//CHECK-NEXT:                             int *__restrict__ sources,
//CHECK-NEXT:                             float *__restrict__ weights,
//CHECK-NEXT:                             int words,
//CHECK-NEXT:                             int rows,
//CHECK-NEXT:                             int tokens) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int vectors = lane < 6;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int id = dsv4::load<int>(&ids[row]);
//CHECK-NEXT:    const bool in_table = id >= 0 && id < words;
//CHECK-NEXT:    const unsigned char pad_1 = dsv4::load<unsigned char>(&pad[row]);
//CHECK-NEXT:    const bool exists = in_table && (int)pad_1 == 0;
//CHECK-NEXT:    const long long row_start = (long long)row * 6;
//CHECK-NEXT:    const auto entries = dsv4::load_vectors<dsv4::Tile<int, 1, 1>, 0, dsv4::evict_last>(exists ? vectors : 0, &table[(long long)id * 6 + lane]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto found = exists ? entries : dsv4::fill<dsv4::Tile<int, 1, 1>>(-1);
//CHECK-NEXT:    const long long offset = row_start + lane;
//CHECK-NEXT:    dsv4::store_vectors(vectors, &experts[offset], found);
//CHECK-NEXT:    const auto token_experts = dsv4::sequence<dsv4::Tile<int, 1, 1>>(row, tokens, lane);
//CHECK-NEXT:    dsv4::store_vectors(vectors, &sources[offset], token_experts);
//CHECK-NEXT:    const auto logits_1 = dsv4::gather(&logits[(long long)row * 256], found, 256);
//CHECK-NEXT:    const auto scores = dsv4::sqrt_softplus(logits_1);
//CHECK-NEXT:    const auto picked = dsv4::where_valid(scores, found, 256);
//CHECK-NEXT:    const auto sum = dsv4::sum<8, 8>(dsv4::keep_vectors(picked, vectors, -0.0f));
//CHECK-NEXT:    dsv4::store_vectors(vectors, &weights[offset], picked / dsv4::repeat<1, 1>(dsv4::max_nan(sum, 1.1754944e-38f)) * 1.5f);
//CHECK-NEXT:  }
//CHECK-NEXT:}
