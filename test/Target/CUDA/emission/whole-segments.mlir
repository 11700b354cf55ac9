// Groups of five FP4 values share bytes: one lane has each field as a vector, and all scales of it.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x <[
  <"nope" : 60 x f4E2M1FN in row>, <"rope" : 48 x bf16 in row at 32>,
  <"nope_scale" : 12 x f8E4M3FN in row scales "nope" per 5 interleave 4>]>>

func.func @gather(
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["topk"]},
    %out: tensor<?x108xbf16> {dsv4.name = "out", dsv4.dims = ["topk", ""]}) -> tensor<?x108xbf16> {
  %rows = dsv4.paged_gather %cache[%indices] outs(%out : tensor<?x108xbf16>)
      : !cache, tensor<?xi32>
  return %rows : tensor<?x108xbf16>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x record to bf16
//CHECK-NEXT:// topk = ?
//CHECK-NEXT:// sm_90a: 32 threads, 1 lane per row, which holds whole segments, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(32)
//CHECK-NEXT:gather(const unsigned char *__restrict__ cache,
//CHECK-NEXT:       const int *__restrict__ indices,
//CHECK-NEXT:       dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:       int cache_pages,
//CHECK-NEXT:       int rows) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 8960;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 140;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 128;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 32;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int row = blockIdx.x * 32 + threadIdx.x;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int index = dsv4::load<int>(&indices[row]);
//CHECK-NEXT:    const int page = index / 64;
//CHECK-NEXT:    const int slot = index % 64;
//CHECK-NEXT:    const bool valid = index >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    const long long row_start = (long long)row * 108;
//CHECK-NEXT:    const auto nope = dsv4::load_if<dsv4::Vec<dsv4::e2m1, 60>, 4, dsv4::evict_last>(valid, &cache[entry]);
//CHECK-NEXT:    const auto nope_scale = dsv4::load_if<dsv4::Vec<dsv4::e4m3, 12>, 0, dsv4::evict_last>(valid, &cache[entry + kCacheNopeScaleOffset]);
//CHECK-NEXT:    const auto rope = dsv4::load_if<dsv4::Vec<dsv4::bf16, 48>, 4, dsv4::evict_last>(valid, &cache[entry + kCacheRopeOffset]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto nope_scale_f32 = dsv4::expand<60>(dsv4::convert<float>(dsv4::transpose<4>(nope_scale)));
//CHECK-NEXT:    dsv4::store(&out[row_start], dsv4::convert<dsv4::bf16>(dsv4::convert<float>(nope) * nope_scale_f32));
//CHECK-NEXT:    dsv4::store<8>(&out[row_start + 60], rope);
//CHECK-NEXT:  }
//CHECK-NEXT:}
