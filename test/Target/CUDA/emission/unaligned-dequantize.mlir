// Decodes rows that begin at any byte: no load waits for the words of another.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=256,pdl=true,parts=[#dsv4.rows<lanes=32,vector=8,load=evict_last>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>

func.func @unaligned_dequantize(
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 1>},
    %scales: tensor<?x32xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 1>},
    %global: tensor<?xf32> {dsv4.name = "global", dsv4.dims = ["rows"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 2>})
    -> tensor<?x512xbf16> {
  %values = dsv4.dequantize %data
      scales(%scales, %global : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
      outs(%out : tensor<?x512xbf16>) {format = #nvfp4} : tensor<?x512xf4E2M1FN>
  return %values : tensor<?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.dequantize of f4E2M1FN to bf16
//CHECK-NEXT:// rows = ?, data.1 = 512
//CHECK-NEXT:// sm_90a: 256 threads, 32 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(256)
//CHECK-NEXT:unaligned_dequantize(const unsigned char *__restrict__ data,
//CHECK-NEXT:                     const dsv4::e4m3 *__restrict__ scales,
//CHECK-NEXT:                     const float *__restrict__ global,
//CHECK-NEXT:                     dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:                     int rows,
//CHECK-NEXT:                     int data_stride,
//CHECK-NEXT:                     int scales_stride,
//CHECK-NEXT:                     int out_stride) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * data_stride + lane * 4;
//CHECK-NEXT:    const auto elements_words = dsv4::load_words<dsv4::Tile<dsv4::e2m1, 2, 8>, 32, dsv4::evict_last>(&data[offset]);
//CHECK-NEXT:    const int quotient = lane / 2u;
//CHECK-NEXT:    const auto group_scale = dsv4::load<dsv4::Tile<dsv4::e4m3, 2, 1>, 0, dsv4::evict_last>(&scales[(long long)row * scales_stride + quotient], 16);
//CHECK-NEXT:    const auto row_scale = dsv4::load<dsv4::Vec<float, 1>, 0, dsv4::evict_last>(&global[row]);
//CHECK-NEXT:    const long long row_start = (long long)row * out_stride;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto elements = dsv4::realign<32>(elements_words, &data[offset]);
//CHECK-NEXT:    const auto row_scale_f32 = dsv4::repeat<2, 8>(row_scale);
//CHECK-NEXT:    dsv4::store_words<32>(&out[row_start + lane * 8], dsv4::convert<dsv4::bf16>(dsv4::dequantize<float>(elements, group_scale) * row_scale_f32));
//CHECK-NEXT:  }
//CHECK-NEXT:}
