// A dense tensor: NVFP4 with a scale a row after the E4M3 ones.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=256,parts=[#dsv4.rows<lanes=16,vector=16>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @dequantize_nvfp4(
    %data: tensor<?x512xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["n", ""]},
    %scale: tensor<?x32xf8E4M3FN> {dsv4.name = "scale", dsv4.dims = ["n", ""]},
    %global: tensor<?xf32> {dsv4.name = "global_scale", dsv4.dims = ["n"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["n", ""]})
    -> tensor<?x512xbf16> {
  %values = dsv4.dequantize %data
      scales(%scale, %global : tensor<?x32xf8E4M3FN>, tensor<?xf32>)
      outs(%out : tensor<?x512xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>}
      : tensor<?x512xf4E2M1FN>
  return %values : tensor<?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.dequantize of f4E2M1FN to bf16
//CHECK-NEXT:// n = ?, data.1 = 512
//CHECK-NEXT:// sm_90a: 256 threads, 16 lanes per row, vectors of 16 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(256)
//CHECK-NEXT:dequantize_nvfp4(const unsigned char *__restrict__ data,
//CHECK-NEXT:                 const dsv4::e4m3 *__restrict__ scale,
//CHECK-NEXT:                 const float *__restrict__ global_scale,
//CHECK-NEXT:                 dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:                 int rows) {
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto elements = dsv4::load<dsv4::Tile<dsv4::e2m1, 2, 16>>(&data[(long long)row * 256 + lane * 8], 128);
//CHECK-NEXT:    const auto group_scale = dsv4::load<dsv4::Tile<dsv4::e4m3, 2, 1>>(&scale[(long long)row * 32 + lane], 16);
//CHECK-NEXT:    const auto row_scale = dsv4::load<dsv4::Vec<float, 1>>(&global_scale[row]);
//CHECK-NEXT:    const long long row_start = (long long)row * 512;
//CHECK-NEXT:    const auto row_scale_f32 = dsv4::repeat<2, 16>(row_scale);
//CHECK-NEXT:    dsv4::store(&out[row_start + lane * 16], dsv4::convert<dsv4::bf16>(dsv4::dequantize<float>(elements, group_scale) * row_scale_f32), 512);
//CHECK-NEXT:  }
//CHECK-NEXT:}
