// Scales column by column.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

#format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>
#recipe = #dsv4.quantizer<floor = 1.0e-10 : f32, rounding = up_pow2>

func.func @sglang_per_token_group_quant_fp8(
    %x: tensor<?x2048xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x2048xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<16x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]})
    -> (tensor<?x2048xf8E4M3FN>, tensor<16x?xf32>) {
  %payload, %group_scales = dsv4.quantize %x scales column_major
      outs(%data, %scales : tensor<?x2048xf8E4M3FN>, tensor<16x?xf32>)
      {format = #format, recipe = #recipe} : tensor<?x2048xbf16>
  return %payload, %group_scales : tensor<?x2048xf8E4M3FN>, tensor<16x?xf32>
}

// The whole text.
//     CHECK:// dsv4.quantize of bf16 to f8E4M3FN
//CHECK-NEXT:// rows = ?, scale_rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 16 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:sglang_per_token_group_quant_fp8(const dsv4::bf16 *__restrict__ x,
//CHECK-NEXT:                                 dsv4::e4m3 *__restrict__ data,
//CHECK-NEXT:                                 float *__restrict__ scales,
//CHECK-NEXT:                                 int rows,
//CHECK-NEXT:                                 int scale_rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 2048 + lane * 16;
//CHECK-NEXT:    const auto x_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 16>>(&x[offset], 512);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto amax = dsv4::max_abs<16, 128>(x_1);
//CHECK-NEXT:    const auto scales_1 = dsv4::encode_up<dsv4::ue8m0>(dsv4::max(dsv4::max(amax, 1e-10f) / 448.0f, 1.1754944e-38f));
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e4m3>(x_1, scales_1);
//CHECK-NEXT:    dsv4::store(&data[offset], payload, 256);
//CHECK-NEXT:    if (row < scale_rows) {
//CHECK-NEXT:      const int quotient = lane / 8u;
//CHECK-NEXT:      const int residue = lane % 8u;
//CHECK-NEXT:      if (residue == 0) {
//CHECK-NEXT:        dsv4::store_runs<1, 16, 0>(scales, row, scale_rows, dsv4::convert<float>(scales_1), quotient, 2);
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
