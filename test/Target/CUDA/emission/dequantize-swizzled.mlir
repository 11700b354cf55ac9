// Scales in blocks of 128 x 4, of which a row has a run in each, that are read back.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @dequantize_swizzled(
    %data: tensor<?x4096xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x256xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]},
    %global: tensor<1xf32> {dsv4.name = "global"},
    %out: tensor<?x4096xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x4096xbf16> {
  %values = dsv4.dequantize %data scales swizzle_128x4(%scales, %global : tensor<?x256xf8E4M3FN>, tensor<1xf32>)
      outs(%out : tensor<?x4096xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>} : tensor<?x4096xf4E2M1FN>
  return %values : tensor<?x4096xbf16>
}

// The whole text.
//     CHECK:// dsv4.dequantize of f4E2M1FN to bf16
//CHECK-NEXT:// rows = ?, data.1 = 4096, scale_rows = ?
//CHECK-NEXT:// sm_90a: 256 threads, 32 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(256)
//CHECK-NEXT:dequantize_swizzled(const unsigned char *__restrict__ data,
//CHECK-NEXT:                    const dsv4::e4m3 *__restrict__ scales,
//CHECK-NEXT:                    const float *__restrict__ global,
//CHECK-NEXT:                    dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:                    int rows,
//CHECK-NEXT:                    int scale_rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto elements = dsv4::load<dsv4::Tile<dsv4::e2m1, 16, 8>, 0, dsv4::evict_last>(&data[(long long)row * 2048 + lane * 4], 128);
//CHECK-NEXT:    const auto row_scale = dsv4::load<dsv4::Vec<float, 1>, 0, dsv4::evict_last>(&global[0]);
//CHECK-NEXT:    const int block_of_rows = row / 128u;
//CHECK-NEXT:    const int row_in_block = row % 128u;
//CHECK-NEXT:    const int quotient = row_in_block / 32u;
//CHECK-NEXT:    const int residue = row_in_block % 32u;
//CHECK-NEXT:    const long long scale = (long long)block_of_rows * 32768 + (residue * 4 + quotient) * 4;
//CHECK-NEXT:    const int blocks_of_rows = scale_rows / 128u;
//CHECK-NEXT:    const long long row_start = (long long)row * 4096;
//CHECK-NEXT:    const int quotient_1 = lane / 2u;
//CHECK-NEXT:    const auto group_scale = dsv4::load_runs_if<dsv4::Tile<dsv4::e4m3, 16, 1>, 4>(block_of_rows < blocks_of_rows, scales, scale, 512, quotient_1, 16);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto row_scale_f32 = dsv4::repeat<16, 8>(row_scale);
//CHECK-NEXT:    dsv4::store(&out[row_start + lane * 8], dsv4::convert<dsv4::bf16>(dsv4::dequantize<float>(elements, group_scale) * row_scale_f32), 512);
//CHECK-NEXT:  }
//CHECK-NEXT:}
