// A quantiser of rows that begin at any element: lanes read aligned words, and realign them.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=16,vector=16>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>
#recipe = #dsv4.quantizer<limit = reciprocal>

func.func @unaligned_quantize(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 2>},
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 1>},
    %scales: tensor<?x32xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 1>})
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %payload, %group_scales = dsv4.quantize %x
      outs(%data, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #nvfp4, recipe = #recipe} : tensor<?x512xbf16>
  return %payload, %group_scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

// The whole text.
//     CHECK:// dsv4.quantize of bf16 to f4E2M1FN
//CHECK-NEXT:// rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 16 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:unaligned_quantize(const dsv4::bf16 *__restrict__ x,
//CHECK-NEXT:                   unsigned char *__restrict__ data,
//CHECK-NEXT:                   dsv4::e4m3 *__restrict__ scales,
//CHECK-NEXT:                   int rows,
//CHECK-NEXT:                   int x_stride,
//CHECK-NEXT:                   int data_stride,
//CHECK-NEXT:                   int scales_stride) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * x_stride + lane * 16;
//CHECK-NEXT:    const auto x_words = dsv4::load_words<dsv4::Tile<dsv4::bf16, 2, 16>, 16>(&x[offset]);
//CHECK-NEXT:    const long long row_start = (long long)row * data_stride;
//CHECK-NEXT:    const long long scales_start = (long long)row * scales_stride;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto x_1 = dsv4::realign<16>(x_words, &x[offset]);
//CHECK-NEXT:    const auto amax = dsv4::max_abs_nan<16, 16>(x_1);
//CHECK-NEXT:    const auto scales_1 = dsv4::encode<dsv4::e4m3>(dsv4::max(amax * 0.16666667f, 0.001953125f) + amax * 0.0f);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e2m1>(x_1, scales_1);
//CHECK-NEXT:    dsv4::store_words<16>(&data[row_start + lane * 8], payload);
//CHECK-NEXT:    dsv4::store(&scales[scales_start + lane], scales_1, 16);
//CHECK-NEXT:  }
//CHECK-NEXT:}
