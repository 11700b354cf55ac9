// Weights multiplied by constants alone: a row of them per token.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @scale(%weights: tensor<?x64xbf16> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]},
                 %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""]}) -> tensor<?x64xf32> {
  %scaled = dsv4.scale_weights %weights constants [0.0883883461, 0.125] outs(%w : tensor<?x64xf32>)
      : tensor<?x64xbf16>
  return %scaled : tensor<?x64xf32>
}

// The whole text.
//     CHECK:// dsv4.scale_weights of bf16 to f32
//CHECK-NEXT:// tokens = ?, weights.1 = 64
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:scale(const dsv4::bf16 *__restrict__ weights,
//CHECK-NEXT:      float *__restrict__ w,
//CHECK-NEXT:      int rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 64 + lane * 8;
//CHECK-NEXT:    const auto weights_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 8>, 0, dsv4::evict_last>(&weights[offset]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto folded = dsv4::convert<float>(weights_1) * 0.088388346f;
//CHECK-NEXT:    const auto folded_1 = folded * 0.125f;
//CHECK-NEXT:    dsv4::store(&w[offset], folded_1);
//CHECK-NEXT:  }
//CHECK-NEXT:}
