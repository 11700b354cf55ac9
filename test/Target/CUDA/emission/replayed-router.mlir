// Experts that were recorded, as i16, of rows that count, and those that a table has for them.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @replayed(
    %logits: tensor<?x64xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]}, %given: tensor<?x6xi16> {dsv4.name = "given", dsv4.dims = ["tokens", ""]},
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]}, %t: tensor<64xi32> {dsv4.name = "t"},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]}, %physical: tensor<?x6xi32> {dsv4.name = "physical", dsv4.dims = ["tokens", ""]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x64xf32>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %some = tensor.empty(%tokens) : tensor<?x6xi32>
  %c = dsv4.map_indices %given padding(%pad : tensor<?xi1>) outs(%some : tensor<?x6xi32>) : tensor<?x6xi16>
  %s = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x64xf32>) : tensor<?x64xf32>
  %w = dsv4.route_weights %s[%c] renormalize outs(%weights : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi32>
  %p = dsv4.map_indices %c table(%t : tensor<64xi32>) outs(%physical : tensor<?x6xi32>) : tensor<?x6xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.map_indices of i16 to i32, dsv4.gate of f32 to f32, dsv4.route_weights of f32 to f32, dsv4.map_indices of i32 to i32
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 1 element, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:replayed(const float *__restrict__ logits,
//CHECK-NEXT:         const short *__restrict__ given,
//CHECK-NEXT:         const unsigned char *__restrict__ pad,
//CHECK-NEXT:         const int *__restrict__ t,
//CHECK-NEXT:         float *__restrict__ weights,
//CHECK-NEXT:         int *__restrict__ physical,
//CHECK-NEXT:         int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int vectors = lane < 6;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 6 + lane;
//CHECK-NEXT:    const auto indices = dsv4::load_vectors<dsv4::Tile<short, 1, 1>, 0, dsv4::evict_last>(vectors, &given[offset]);
//CHECK-NEXT:    const unsigned char pad_1 = dsv4::load<unsigned char>(&pad[row]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto mapped = (int)pad_1 == 0 ? dsv4::widen(indices) : dsv4::fill<dsv4::Tile<int, 1, 1>>(-1);
//CHECK-NEXT:    const auto logits_1 = dsv4::gather(&logits[(long long)row * 64], mapped, 64);
//CHECK-NEXT:    const auto scores = dsv4::sqrt_softplus(logits_1);
//CHECK-NEXT:    const auto picked = dsv4::where_valid(scores, mapped, 64);
//CHECK-NEXT:    const auto sum = dsv4::sum<8, 8>(dsv4::keep_vectors(picked, vectors, -0.0f));
//CHECK-NEXT:    dsv4::store_vectors(vectors, &weights[offset], picked / dsv4::repeat<1, 1>(dsv4::max_nan(sum, 1.1754944e-38f)));
//CHECK-NEXT:    const auto table = dsv4::gather(&t[0], dsv4::min(mapped, dsv4::fill<dsv4::Tile<int, 1, 1>>(63)), 64);
//CHECK-NEXT:    const auto mapped_1 = dsv4::where_valid(table, mapped, 64);
//CHECK-NEXT:    dsv4::store_vectors(vectors, &physical[offset], mapped_1);
//CHECK-NEXT:  }
//CHECK-NEXT:}
