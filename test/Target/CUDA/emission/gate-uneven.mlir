// Rows of a width that is prime: three lanes of 32 have a vector less than the others.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=32,vector=1,store=streaming>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gate(
    %logits: tensor<?x1021xbf16> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x1021xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]})
    -> tensor<?x1021xf32> {
  %0 = dsv4.gate %logits function softmax outs(%scores : tensor<?x1021xf32>) : tensor<?x1021xbf16>
  return %0 : tensor<?x1021xf32>
}

// The whole text.
//     CHECK:// dsv4.gate of bf16 to f32
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 32 lanes per row, vectors of 1 element, streaming stores, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gate(const dsv4::bf16 *__restrict__ logits,
//CHECK-NEXT:     float *__restrict__ scores,
//CHECK-NEXT:     int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const int vectors = lane < 29 ? 32 : 31;
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 1021 + lane;
//CHECK-NEXT:    const auto logits_1 = dsv4::load_vectors<dsv4::Tile<dsv4::bf16, 32, 1>>(vectors, &logits[offset], 64);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto value = dsv4::convert<float>(logits_1);
//CHECK-NEXT:    const auto max_logit = dsv4::max_nan<32, 1024>(dsv4::keep_vectors(value, vectors, dsv4::as_float(0xFF800000u)));
//CHECK-NEXT:    const auto powers = dsv4::exp(value - dsv4::repeat<32, 1>(max_logit));
//CHECK-NEXT:    const auto power_sum = dsv4::sum<32, 1024>(dsv4::keep_vectors(powers, vectors, -0.0f));
//CHECK-NEXT:    const auto scores_1 = powers / dsv4::repeat<32, 1>(power_sum);
//CHECK-NEXT:    dsv4::store_vectors_streaming(vectors, &scores[offset], scores_1, 128);
//CHECK-NEXT:  }
//CHECK-NEXT:}
