// Scales in columns, as f32 and as four exponents in a word.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @dequantize_columns(
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<5x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]},
    %out: tensor<?x640xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]},
    %words: tensor<2x?xi32> {dsv4.name = "words", dsv4.dims = ["", "scale_rows"]},
    %out2: tensor<?x640xbf16> {dsv4.name = "out2", dsv4.dims = ["rows", ""]})
    -> (tensor<?x640xbf16>, tensor<?x640xbf16>) {
  %0 = dsv4.dequantize %data scales column_major(%scales : tensor<5x?xf32>) outs(%out : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x640xf8E4M3FN>
  %1 = dsv4.dequantize %data scales packed(%words : tensor<2x?xi32>) outs(%out2 : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return %0, %1 : tensor<?x640xbf16>, tensor<?x640xbf16>
}

// The whole text.
//     CHECK:// part 1 of 2: dsv4.dequantize of f8E4M3FN to bf16
//CHECK-NEXT://   sm_90a: 256 threads, 16 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:// part 2 of 2: dsv4.dequantize of f8E4M3FN to bf16
//CHECK-NEXT://   sm_90a: 256 threads, 16 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:// rows = ?, data.1 = 640, scale_rows = ?
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(256)
//CHECK-NEXT:dequantize_columns(const dsv4::e4m3 *__restrict__ data,
//CHECK-NEXT:                   const float *__restrict__ scales,
//CHECK-NEXT:                   dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:                   const int *__restrict__ words,
//CHECK-NEXT:                   dsv4::bf16 *__restrict__ out2,
//CHECK-NEXT:                   int rows,
//CHECK-NEXT:                   int blocks,
//CHECK-NEXT:                   int scale_rows) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  if (blockIdx.x < blocks) {
//CHECK-NEXT:    const int lane = threadIdx.x % 16;
//CHECK-NEXT:    const int row = blockIdx.x * 16 + threadIdx.x / 16;
//CHECK-NEXT:    if (row < rows) {
//CHECK-NEXT:      const long long offset = (long long)row * 640 + lane * 8;
//CHECK-NEXT:      const auto elements = dsv4::load<dsv4::Tile<dsv4::e4m3, 5, 8>, 0, dsv4::evict_last>(&data[offset], 128);
//CHECK-NEXT:      const auto group_scale = dsv4::load_runs_if<dsv4::Vec<float, 5>, 1>(row < scale_rows, scales, row, scale_rows, 0);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      dsv4::store(&out[offset], dsv4::dequantize<dsv4::bf16>(elements, group_scale), 256);
//CHECK-NEXT:    }
//CHECK-NEXT:  } else {
//CHECK-NEXT:    const int block = blockIdx.x - blocks;
//CHECK-NEXT:    const int lane = threadIdx.x % 16;
//CHECK-NEXT:    const int row = block * 16 + threadIdx.x / 16;
//CHECK-NEXT:    if (row < rows) {
//CHECK-NEXT:      const long long offset = (long long)row * 640 + lane * 8;
//CHECK-NEXT:      const auto elements = dsv4::load<dsv4::Tile<dsv4::e4m3, 5, 8>, 0, dsv4::evict_last>(&data[offset], 128);
//CHECK-NEXT:      const long long scale = (long long)row * 4;
//CHECK-NEXT:      const auto group_scale = dsv4::load_runs_if<dsv4::Vec<dsv4::ue8m0, 5>, 4>(row < scale_rows, words, scale, (long long)scale_rows * 4, 0);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      dsv4::store(&out2[offset], dsv4::dequantize<dsv4::bf16>(elements, group_scale), 256);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
