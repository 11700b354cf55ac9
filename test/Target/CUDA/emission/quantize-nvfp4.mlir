// Codes of 4 bits, and scales that two lanes share each.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=16,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>
#recipe = #dsv4.quantizer<limit = reciprocal>

func.func @quantize_nvfp4(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x32xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %payload, %group_scales = dsv4.quantize %x
      outs(%data, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #nvfp4, recipe = #recipe} : tensor<?x512xbf16>
  return %payload, %group_scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

// The whole text.
//     CHECK:// dsv4.quantize of bf16 to f4E2M1FN
//CHECK-NEXT:// rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 8 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:quantize_nvfp4(const dsv4::bf16 *__restrict__ x,
//CHECK-NEXT:               unsigned char *__restrict__ data,
//CHECK-NEXT:               dsv4::e4m3 *__restrict__ scales,
//CHECK-NEXT:               int rows) {
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto x_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 4, 8>>(&x[(long long)row * 512 + lane * 8], 256);
//CHECK-NEXT:    const long long row_start = (long long)row * 256;
//CHECK-NEXT:    const long long scales_start = (long long)row * 32;
//CHECK-NEXT:    const auto amax = dsv4::max_abs_nan<16, 16>(x_1);
//CHECK-NEXT:    const auto scales_1 = dsv4::encode<dsv4::e4m3>(dsv4::max(amax * 0.16666667f, 0.001953125f) + amax * 0.0f);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e2m1>(x_1, scales_1);
//CHECK-NEXT:    dsv4::store(&data[row_start + lane * 4], payload, 64);
//CHECK-NEXT:    const int quotient = lane / 2u;
//CHECK-NEXT:    const int residue = lane % 2u;
//CHECK-NEXT:    if (residue == 0) {
//CHECK-NEXT:      dsv4::store(&scales[scales_start + quotient], scales_1, 8);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
