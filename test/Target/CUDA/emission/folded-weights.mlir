// A table of complex numbers, a Hadamard transform and weights into which the scale of a head is folded.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

#fp8 = #dsv4.format<f8E4M3FN, [<f32 per row>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, payload = reciprocal>

func.func @fused_q_indexer_rope_hadamard_quant(
    %q_input: tensor<?x64x128xbf16> {dsv4.name = "q_input", dsv4.dims = ["tokens", "", ""]},
    %weight: tensor<?x64xbf16> {dsv4.name = "weight", dsv4.dims = ["tokens", ""]},
    %freqs_cis: tensor<?x64xf32> {dsv4.name = "freqs_cis", dsv4.dims = ["positions", ""]},
    %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %q_fp8: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q_fp8", dsv4.dims = ["tokens", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q_input, %c0 : tensor<?x64x128xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x128xf32>
  %scale = tensor.empty(%tokens) : tensor<?x64xf32>
  %rotated = dsv4.rope %q_input table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi32>) outs(%heads : tensor<?x64x128xf32>)
      : tensor<?x64x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%heads : tensor<?x64x128xf32>)
      {scale = 0.0883883461} : tensor<?x64x128xf32>
  %payload, %scales = dsv4.quantize %transformed
      outs(%q_fp8, %scale : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>)
      {format = #fp8, recipe = #recipe} : tensor<?x64x128xf32>
  %folded = dsv4.scale_weights %weight scales(%scales : tensor<?x64xf32>)
      constants [0.0110485433] outs(%w : tensor<?x64xf32>) : tensor<?x64xbf16>
  return %payload, %folded : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>
}

// The whole text.
//     CHECK:// dsv4.rope of bf16 to f32, dsv4.hadamard of f32 to f32, dsv4.quantize of f32 to f8E4M3FN, dsv4.scale_weights of bf16 to f32
//CHECK-NEXT:// tokens = ?, q_input.1 = 64, positions = ?
//CHECK-NEXT:// sm_90a: 128 threads, 4 lanes per row, vectors of 16 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:fused_q_indexer_rope_hadamard_quant(const dsv4::bf16 *__restrict__ q_input,
//CHECK-NEXT:                                    const dsv4::bf16 *__restrict__ weight,
//CHECK-NEXT:                                    const float *__restrict__ freqs_cis,
//CHECK-NEXT:                                    const int *__restrict__ positions,
//CHECK-NEXT:                                    dsv4::e4m3 *__restrict__ q_fp8,
//CHECK-NEXT:                                    float *__restrict__ w,
//CHECK-NEXT:                                    int rows,
//CHECK-NEXT:                                    int positions_extent) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 4;
//CHECK-NEXT:  const int row = blockIdx.x * 32 + threadIdx.x / 4;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 128;
//CHECK-NEXT:    const long long offset_1 = offset + lane * 16;
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 16>>(&q_input[offset_1]);
//CHECK-NEXT:    const auto x_rope = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 16>>(&q_input[offset + 64 + lane * 16]);
//CHECK-NEXT:    const auto weights = dsv4::load<dsv4::Vec<dsv4::bf16, 1>>(&weight[row]);
//CHECK-NEXT:    const int token = row / 64u;
//CHECK-NEXT:    const int position = dsv4::load<int>(&positions[token]);
//CHECK-NEXT:    const bool in_table = position >= 0 && position < positions_extent;
//CHECK-NEXT:    const auto angles = dsv4::load_if<dsv4::Tile<float, 1, 16>>(in_table, &freqs_cis[(long long)position * 64 + lane * 16]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto value = dsv4::convert<float>(x_rope);
//CHECK-NEXT:    const auto value_1 = dsv4::evens(value);
//CHECK-NEXT:    const auto value_2 = dsv4::evens(angles);
//CHECK-NEXT:    const auto value_3 = dsv4::odds(value);
//CHECK-NEXT:    const auto value_4 = dsv4::odds(angles);
//CHECK-NEXT:    const auto rotated = in_table ? dsv4::interleave(value_1 * value_2 - value_3 * value_4, value_1 * value_4 + value_3 * value_2) : dsv4::one_nan(value);
//CHECK-NEXT:    const auto transformed = dsv4::hadamard<4>(dsv4::join(dsv4::one_nan(dsv4::convert<float>(x)), rotated));
//CHECK-NEXT:    const auto value_5 = transformed * 0.088388346f;
//CHECK-NEXT:    const auto amax = dsv4::max_abs<4, 128>(value_5);
//CHECK-NEXT:    const auto value_6 = dsv4::max(dsv4::max(amax, 0.0001f) / 448.0f, 1.1754944e-38f);
//CHECK-NEXT:    const auto inverse_scale = 1.0f / value_6;
//CHECK-NEXT:    const auto payload = dsv4::encode<dsv4::e4m3>(value_5 * dsv4::repeat<2, 16>(inverse_scale));
//CHECK-NEXT:    dsv4::store(&q_fp8[offset_1], payload, 64);
//CHECK-NEXT:    const auto folded = dsv4::convert<float>(weights) * value_6;
//CHECK-NEXT:    const auto folded_1 = folded * 0.011048543f;
//CHECK-NEXT:    if (lane == 0) {
//CHECK-NEXT:      dsv4::store(&w[row], folded_1);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
