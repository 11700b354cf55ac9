// Columns of two views, joined and quantised in one kernel.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @concat_fp8(
    %pe: tensor<?x64xbf16> {dsv4.name = "pe", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>},
    %nope: tensor<?x64xbf16> {dsv4.name = "nope", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>},
    %data: tensor<?x128xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scale: tensor<?x1xf32> {dsv4.name = "scale", dsv4.dims = ["rows", ""]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %pe, %c0 : tensor<?x64xbf16>
  %row = tensor.empty(%rows) : tensor<?x128xbf16>
  %joined = dsv4.concat_rows %pe, %nope outs(%row : tensor<?x128xbf16>) : tensor<?x64xbf16>, tensor<?x64xbf16>
  %0:2 = dsv4.quantize %joined outs(%data, %scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<floor = 1.0e-12 : f32, payload = reciprocal>}
      : tensor<?x128xbf16>
  return %0#0, %0#1 : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}

// The whole text.
//     CHECK:// dsv4.concat_rows of bf16 to bf16, dsv4.quantize of bf16 to f8E4M3FN
//CHECK-NEXT:// rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 4 lanes per row, vectors of 16 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:concat_fp8(const dsv4::bf16 *__restrict__ pe,
//CHECK-NEXT:           const dsv4::bf16 *__restrict__ nope,
//CHECK-NEXT:           dsv4::e4m3 *__restrict__ data,
//CHECK-NEXT:           float *__restrict__ scale,
//CHECK-NEXT:           int rows,
//CHECK-NEXT:           int pe_stride,
//CHECK-NEXT:           int nope_stride) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 4;
//CHECK-NEXT:  const int row = blockIdx.x * 32 + threadIdx.x / 4;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 16>>(&pe[(long long)row * pe_stride + lane * 16]);
//CHECK-NEXT:    const auto y = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 16>>(&nope[(long long)row * nope_stride + lane * 16]);
//CHECK-NEXT:    const long long row_start = (long long)row * 128;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto value = dsv4::join(x, y);
//CHECK-NEXT:    const auto amax = dsv4::max_abs<4, 128>(value);
//CHECK-NEXT:    const auto value_1 = dsv4::max(dsv4::max(amax, 1e-12f) / 448.0f, 1.1754944e-38f);
//CHECK-NEXT:    const auto inverse_scale = 1.0f / value_1;
//CHECK-NEXT:    const auto payload = dsv4::encode<dsv4::e4m3>(dsv4::convert<float>(value) * dsv4::repeat<2, 16>(inverse_scale));
//CHECK-NEXT:    dsv4::store(&data[row_start + lane * 16], payload, 64);
//CHECK-NEXT:    if (lane == 0) {
//CHECK-NEXT:      dsv4::store(&scale[row], value_1);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
