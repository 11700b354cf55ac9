// Rows with a stride are appended to pages of a slab, whose stride is known at run time only.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=8,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @append_slab(
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?]>},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache", dsv4.strides = #dsv4.strides<[?]>}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %payload, %scales = dsv4.quantize %kv columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slot] unique
      fields(%payload, %kv, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.quantize of bf16 to f8E4M3FN, dsv4.paged_append of 64 x v4_584
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:append_slab(const dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:            const int *__restrict__ slot,
//CHECK-NEXT:            unsigned char *__restrict__ cache,
//CHECK-NEXT:            int rows,
//CHECK-NEXT:            int kv_stride,
//CHECK-NEXT:            int cache_pages,
//CHECK-NEXT:            int cache_page_stride) {
//CHECK-NEXT:  constexpr int kCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 448;
//CHECK-NEXT:  constexpr int kCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * kv_stride;
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 7, 8>>(&kv[offset + lane * 8], 128);
//CHECK-NEXT:    const auto rope = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 8>>(&kv[offset + 448 + lane * 8]);
//CHECK-NEXT:    const int entry = dsv4::load<int>(&slot[row]);
//CHECK-NEXT:    const int page = entry / 64;
//CHECK-NEXT:    const int slot_1 = entry % 64;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(entry >= 0, page, cache_pages);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto amax = dsv4::max_abs<8, 64>(x);
//CHECK-NEXT:    const auto scales = dsv4::encode_up<dsv4::ue8m0>(dsv4::max(amax, 0.0001f) * 0.002232143f);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e4m3>(x, scales);
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      const long long page_start = (long long)page * cache_page_stride;
//CHECK-NEXT:      const long long entry_1 = page_start + slot_1 * kCacheRowBytes;
//CHECK-NEXT:      dsv4::store(&cache[entry_1 + lane * 8], payload, 64);
//CHECK-NEXT:      dsv4::store(&cache[entry_1 + kCacheRopeOffset + lane * 16], rope);
//CHECK-NEXT:      if (lane == 0) {
//CHECK-NEXT:        dsv4::store(&cache[page_start + slot_1 * kCacheNopeScaleBytes + kCacheNopeScaleOffset], dsv4::pad<8>(scales));
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
