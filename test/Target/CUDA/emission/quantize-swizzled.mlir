// Scales in blocks of 128 x 4, of which a row has a run in each.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

#format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>
#recipe = #dsv4.quantizer<>

func.func @vllm_scaled_fp4_quant(
    %x: tensor<?x4096xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %global: tensor<1xf32> {dsv4.name = "global"},
    %data: tensor<?x4096xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x256xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]})
    -> (tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>) {
  %payload, %group_scales = dsv4.quantize %x given(%global : tensor<1xf32>) scales swizzle_128x4
      outs(%data, %scales : tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>)
      {format = #format, recipe = #recipe} : tensor<?x4096xbf16>
  return %payload, %group_scales : tensor<?x4096xf4E2M1FN>, tensor<?x256xf8E4M3FN>
}

// The whole text.
//     CHECK:// dsv4.quantize of bf16 to f4E2M1FN
//CHECK-NEXT:// rows = ?, scale_rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 32 lanes per row, vectors of 16 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:vllm_scaled_fp4_quant(const dsv4::bf16 *__restrict__ x,
//CHECK-NEXT:                      const float *__restrict__ global,
//CHECK-NEXT:                      unsigned char *__restrict__ data,
//CHECK-NEXT:                      dsv4::e4m3 *__restrict__ scales,
//CHECK-NEXT:                      int rows,
//CHECK-NEXT:                      int scale_rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto x_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 16>>(&x[(long long)row * 4096 + lane * 16], 1024);
//CHECK-NEXT:    const auto outer = dsv4::load<dsv4::Vec<float, 1>>(&global[0]);
//CHECK-NEXT:    const long long row_start = (long long)row * 2048;
//CHECK-NEXT:    const int block_of_rows = row / 128u;
//CHECK-NEXT:    const int row_in_block = row % 128u;
//CHECK-NEXT:    const int quotient = row_in_block / 32u;
//CHECK-NEXT:    const int residue = row_in_block % 32u;
//CHECK-NEXT:    const long long scale = (long long)block_of_rows * 32768 + (residue * 4 + quotient) * 4;
//CHECK-NEXT:    const int blocks_of_rows = scale_rows / 128u;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto amax = dsv4::max_abs_nan<32, 16>(x_1);
//CHECK-NEXT:    const auto value = dsv4::min(dsv4::max(outer, 1.1754944e-38f), 3.4028235e+38f);
//CHECK-NEXT:    const auto value_1 = amax * 0.0f;
//CHECK-NEXT:    const auto scales_1 = dsv4::encode<dsv4::e4m3>(dsv4::max(amax / 6.0f / dsv4::repeat<8, 1>(value), 0.001953125f) + value_1);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e2m1>(x_1, dsv4::max(dsv4::dequantize<float>(scales_1, value), 1.1754944e-38f) + value_1);
//CHECK-NEXT:    dsv4::store(&data[row_start + lane * 8], payload, 256);
//CHECK-NEXT:    if (block_of_rows < blocks_of_rows) {
//CHECK-NEXT:      dsv4::store_runs<4, 256, 0>(scales, scale, 512, scales_1, lane, 32);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
