// FP8 by a given scale: its reciprocal, and an inverse as it is.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @quantize_given(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %scale: tensor<1xf32> {dsv4.name = "scale"},
    %data: tensor<?x512xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %y: tensor<?x512xf32> {dsv4.name = "y", dsv4.dims = ["rows", ""]},
    %inverse: tensor<1xf32> {dsv4.name = "inverse"},
    %data2: tensor<?x512xf8E4M3FN> {dsv4.name = "data2", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xf8E4M3FN>, tensor<?x512xf8E4M3FN>) {
  %0 = dsv4.quantize %x given(%scale : tensor<1xf32>) outs(%data : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<payload = reciprocal>}
      : tensor<?x512xbf16>
  %1 = dsv4.quantize %y given inverse(%inverse : tensor<1xf32>) outs(%data2 : tensor<?x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x512xf32>
  return %0, %1 : tensor<?x512xf8E4M3FN>, tensor<?x512xf8E4M3FN>
}

// The whole text.
//     CHECK:// part 1 of 2: dsv4.quantize of bf16 to f8E4M3FN
//CHECK-NEXT://   sm_90a: 128 threads, 16 lanes per row, vectors of 16 elements, programmatic launch
//CHECK-NEXT:// part 2 of 2: dsv4.quantize of f32 to f8E4M3FN
//CHECK-NEXT://   sm_90a: 128 threads, 16 lanes per row, vectors of 16 elements, programmatic launch
//CHECK-NEXT:// rows = ?
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:quantize_given(const dsv4::bf16 *__restrict__ x,
//CHECK-NEXT:               const float *__restrict__ scale,
//CHECK-NEXT:               dsv4::e4m3 *__restrict__ data,
//CHECK-NEXT:               const float *__restrict__ y,
//CHECK-NEXT:               const float *__restrict__ inverse,
//CHECK-NEXT:               dsv4::e4m3 *__restrict__ data2,
//CHECK-NEXT:               int x_rows,
//CHECK-NEXT:               int x_blocks,
//CHECK-NEXT:               int y_rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  if (blockIdx.x < x_blocks) {
//CHECK-NEXT:    const int lane = threadIdx.x % 16;
//CHECK-NEXT:    const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:    if (row < x_rows) {
//CHECK-NEXT:      const long long offset = (long long)row * 512 + lane * 16;
//CHECK-NEXT:      const auto x_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 2, 16>>(&x[offset], 512);
//CHECK-NEXT:      const auto outer = dsv4::load<dsv4::Vec<float, 1>>(&scale[0]);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      const auto inverse_scale = 1.0f / dsv4::min(dsv4::max(outer, 1.1754944e-38f), 3.4028235e+38f);
//CHECK-NEXT:      const auto payload = dsv4::encode<dsv4::e4m3>(dsv4::convert<float>(x_1) * dsv4::repeat<2, 16>(inverse_scale));
//CHECK-NEXT:      dsv4::store(&data[offset], payload, 256);
//CHECK-NEXT:    }
//CHECK-NEXT:  } else {
//CHECK-NEXT:    const int block = blockIdx.x - x_blocks;
//CHECK-NEXT:    const int lane = threadIdx.x % 16;
//CHECK-NEXT:    const int row = block * 8 + threadIdx.x / 16;
//CHECK-NEXT:    if (row < y_rows) {
//CHECK-NEXT:      const long long offset = (long long)row * 512 + lane * 16;
//CHECK-NEXT:      const auto x_1 = dsv4::load<dsv4::Tile<float, 2, 16>>(&y[offset], 1024);
//CHECK-NEXT:      const auto outer = dsv4::load<dsv4::Vec<float, 1>>(&inverse[0]);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      const auto payload = dsv4::encode<dsv4::e4m3>(x_1 * dsv4::repeat<2, 16>(dsv4::min(dsv4::max(outer, 1.1754944e-38f), 3.4028235e+38f)));
//CHECK-NEXT:      dsv4::store(&data2[offset], payload, 256);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
