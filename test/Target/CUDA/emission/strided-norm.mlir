// A norm of heads with strides: the row is divided into token and head once, and each product has 64 bits.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=16,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @strided_norm(
    %q: tensor<?x64x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""], dsv4.strides = #dsv4.strides<[?, 1152]>},
    %out: tensor<?x64x512xbf16> {dsv4.name = "out", dsv4.dims = ["tokens", "", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 2>})
    -> tensor<?x64x512xbf16> {
  %normed = dsv4.rms_norm %q outs(%out : tensor<?x64x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64x512xbf16>
  return %normed : tensor<?x64x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.rms_norm of bf16 to bf16
//CHECK-NEXT:// tokens = ?, q.1 = 64
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 8 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:strided_norm(const dsv4::bf16 *__restrict__ q,
//CHECK-NEXT:             dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:             int rows,
//CHECK-NEXT:             int q_stride_0,
//CHECK-NEXT:             int out_stride_1,
//CHECK-NEXT:             int out_stride_0) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int offset = row % 64;
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 4, 8>>(&q[(long long)(row / 64) * q_stride_0 + offset * 576 + lane * 8], 256);
//CHECK-NEXT:    const long long row_start = (long long)(row / 64) * out_stride_0 + (long long)offset * out_stride_1;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto value = dsv4::convert<float>(x);
//CHECK-NEXT:    const auto square_sum = dsv4::sum<16, 512>(value * value);
//CHECK-NEXT:    const auto inverse_rms = 1.0f / dsv4::sqrt(square_sum * 0.001953125f + 1e-06f);
//CHECK-NEXT:    const auto normed = dsv4::convert<dsv4::bf16>(value * dsv4::repeat<4, 8>(inverse_rms));
//CHECK-NEXT:    dsv4::store_words<16>(&out[row_start + lane * 8], normed);
//CHECK-NEXT:  }
//CHECK-NEXT:}
