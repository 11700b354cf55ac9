// The whole chain of an append in one kernel: nothing between its ops goes to memory.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=8,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!window = !dsv4.cache<64 x #dsv4.record<v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @append_swa(
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %weight: tensor<512xbf16> {dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %window: !window {dsv4.name = "window"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>

  %normed = dsv4.rms_norm %kv weight(%weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %window[%position] ring 128
      requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !window, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.rms_norm of bf16 to bf16, dsv4.rope of bf16 to bf16, dsv4.quantize of bf16 to f8E4M3FN, dsv4.paged_append of 64 x v4_584
//CHECK-NEXT:// tokens = ?, positions = ?, requests = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:append_swa(const dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:           const dsv4::bf16 *__restrict__ weight,
//CHECK-NEXT:           const float *__restrict__ angles,
//CHECK-NEXT:           const int *__restrict__ position,
//CHECK-NEXT:           const int *__restrict__ request,
//CHECK-NEXT:           const int *__restrict__ length,
//CHECK-NEXT:           unsigned char *__restrict__ window,
//CHECK-NEXT:           int rows,
//CHECK-NEXT:           int positions,
//CHECK-NEXT:           int requests,
//CHECK-NEXT:           int window_pages) {
//CHECK-NEXT:  constexpr int kWindowPageBytes = 37440;
//CHECK-NEXT:  constexpr int kWindowRowBytes = 576;
//CHECK-NEXT:  constexpr int kWindowRopeOffset = 448;
//CHECK-NEXT:  constexpr int kWindowNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kWindowNopeScaleOffset = 36864;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int offset = lane * 8;
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 8>>(&kv[(long long)row * 512 + offset], 128);
//CHECK-NEXT:    const auto weight_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 8>>(&weight[offset], 128);
//CHECK-NEXT:    const int position_1 = dsv4::load<int>(&position[row]);
//CHECK-NEXT:    const bool condition = position_1 >= 0;
//CHECK-NEXT:    const bool in_table = condition && position_1 < positions;
//CHECK-NEXT:    const long long offset_1 = (long long)position_1 * 64;
//CHECK-NEXT:    const int request_1 = dsv4::load<int>(&request[row]);
//CHECK-NEXT:    const bool has_request = condition && request_1 >= 0 && request_1 < requests;
//CHECK-NEXT:    const int length_1 = has_request ? dsv4::load<int>(&length[request_1]) : 0;
//CHECK-NEXT:    const int in_ring = position_1 % 128;
//CHECK-NEXT:    const long long page = (long long)request_1 * 2 + in_ring / 64;
//CHECK-NEXT:    const int slot = in_ring % 64;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(has_request && length_1 < (long long)position_1 + 129, page, window_pages);
//CHECK-NEXT:    const long long page_start = page * kWindowPageBytes;
//CHECK-NEXT:    const auto cosines = dsv4::load_if<dsv4::Tile<float, 1, 4>>(in_table, &angles[offset_1 + lane * 4]);
//CHECK-NEXT:    const auto sines = dsv4::load_if<dsv4::Tile<float, 1, 4>>(in_table, &angles[offset_1 + 32 + lane * 4]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const long long entry = page_start + slot * kWindowRowBytes;
//CHECK-NEXT:    const auto value = dsv4::convert<float>(x);
//CHECK-NEXT:    const auto square_sum = dsv4::sum<8, 512>(value * value);
//CHECK-NEXT:    const auto inverse_rms = 1.0f / dsv4::sqrt(square_sum * 0.001953125f + 1e-06f);
//CHECK-NEXT:    const auto normed = dsv4::convert<dsv4::bf16>(value * dsv4::repeat<8, 8>(inverse_rms) * dsv4::convert<float>(weight_1));
//CHECK-NEXT:    const auto value_1 = dsv4::steps<0, 7>(normed);
//CHECK-NEXT:    const auto amax = dsv4::max_abs<8, 64>(value_1);
//CHECK-NEXT:    const auto scales = dsv4::encode_up<dsv4::ue8m0>(dsv4::max(amax, 0.0001f) * 0.002232143f);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e4m3>(value_1, scales);
//CHECK-NEXT:    const auto value_2 = dsv4::steps<7, 1>(normed);
//CHECK-NEXT:    const auto value_3 = dsv4::convert<float>(value_2);
//CHECK-NEXT:    const auto value_4 = dsv4::evens(value_3);
//CHECK-NEXT:    const auto value_5 = dsv4::odds(value_3);
//CHECK-NEXT:    const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(dsv4::interleave(value_4 * cosines - value_5 * sines, value_4 * sines + value_5 * cosines)) : value_2;
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&window[entry + offset], payload, 64);
//CHECK-NEXT:      dsv4::store(&window[entry + kWindowRopeOffset + lane * 16], rotated);
//CHECK-NEXT:      if (lane == 0) {
//CHECK-NEXT:        dsv4::store(&window[page_start + slot * kWindowNopeScaleBytes + kWindowNopeScaleOffset], dsv4::pad<8>(scales));
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
