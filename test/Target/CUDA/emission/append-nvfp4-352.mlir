// A record with two parts of one row: NVFP4 with scales, and E4M3 without. One kernel reads the row once.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @append_nvfp4_352(
    %kv: tensor<?x576xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
    %cache: !dsv4.cache<64 x <nvfp4_352>> {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x576xbf16>
  %data = tensor.empty(%tokens) : tensor<?x512xf4E2M1FN>
  %scales_of_data = tensor.empty(%tokens) : tensor<?x32xf8E4M3FN>
  %rope_of_row = tensor.empty(%tokens) : tensor<?x64xf8E4M3FN>
  %payload, %scales = dsv4.quantize %kv columns [0, 512]
      outs(%data, %scales_of_data : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>,
       recipe = #dsv4.quantizer<floor = 0.001953125, floor_of = scale, rounding = up, payload = reciprocal>}
      : tensor<?x576xbf16>
  %rope = dsv4.quantize %kv columns [512, 64] outs(%rope_of_row : tensor<?x64xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN>} : tensor<?x576xbf16>
  dsv4.paged_append %cache[%slot] unique fields(%payload, %rope, %scales
      : tensor<?x512xf4E2M1FN>, tensor<?x64xf8E4M3FN>, tensor<?x32xf8E4M3FN>)
      : !dsv4.cache<64 x <nvfp4_352>>, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.quantize of bf16 to f4E2M1FN, dsv4.quantize of bf16 to f8E4M3FN, dsv4.paged_append of 64 x nvfp4_352
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128, 8)
//CHECK-NEXT:append_nvfp4_352(const dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:                 const int *__restrict__ slot,
//CHECK-NEXT:                 unsigned char *__restrict__ cache,
//CHECK-NEXT:                 int rows,
//CHECK-NEXT:                 int cache_pages) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 22528;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 352;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 256;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 320;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 576;
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 4>, 0, dsv4::evict_last>(&kv[offset + lane * 4], 128);
//CHECK-NEXT:    const auto x_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(&kv[offset + 512 + lane * 4]);
//CHECK-NEXT:    const int entry = dsv4::load<int>(&slot[row]);
//CHECK-NEXT:    const int page = entry / 64;
//CHECK-NEXT:    const int slot_1 = entry % 64;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(entry >= 0, page, cache_pages);
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const long long entry_1 = page_start + slot_1 * kCacheRowBytes;
//CHECK-NEXT:    const auto amax = dsv4::max_abs_nan<16, 16>(x);
//CHECK-NEXT:    const auto scales = dsv4::encode_up<dsv4::e4m3>(dsv4::max(amax / 6.0f, 0.001953125f) + amax * 0.0f);
//CHECK-NEXT:    const auto inverse_scale = 1.0f / dsv4::convert<float>(scales);
//CHECK-NEXT:    const auto payload = dsv4::encode<dsv4::e2m1>(dsv4::convert<float>(x) * dsv4::expand<4>(inverse_scale));
//CHECK-NEXT:    const auto payload_1 = dsv4::encode<dsv4::e4m3>(dsv4::convert<float>(x_1));
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&cache[entry_1 + lane * 2], payload, 32);
//CHECK-NEXT:      dsv4::store(&cache[entry_1 + kCacheRopeOffset + lane * 4], payload_1);
//CHECK-NEXT:      const int quotient = lane / 4u;
//CHECK-NEXT:      const int residue = lane % 4u;
//CHECK-NEXT:      if (residue == 0) {
//CHECK-NEXT:        dsv4::store(&cache[entry_1 + kCacheNopeScaleOffset + quotient * 8], scales, 1);
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
