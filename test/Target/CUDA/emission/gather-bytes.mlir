// Stored fields by the byte offsets of entries, in a slab of pages.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x <index_fp8_132>>

func.func @gather_bytes(
    %k_cache: !cache {dsv4.name = "k_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slots: tensor<?xi64> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["tokens", ""]},
    %scale: tensor<?x1xf32> {dsv4.name = "scale", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %0:2 = dsv4.paged_gather %k_cache[%slots] in_bytes
      fields(%k, %scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) : !cache, tensor<?xi64>
  return %0#0, %0#1 : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x index_fp8_132 to f8E4M3FN
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather_bytes(const unsigned char *__restrict__ k_cache,
//CHECK-NEXT:             const long long *__restrict__ slots,
//CHECK-NEXT:             dsv4::e4m3 *__restrict__ k,
//CHECK-NEXT:             float *__restrict__ scale,
//CHECK-NEXT:             int k_cache_pages,
//CHECK-NEXT:             int k_cache_page_stride,
//CHECK-NEXT:             int rows) {
//CHECK-NEXT:  constexpr int kPageBytes = 8448;
//CHECK-NEXT:  constexpr int kKeyBytes = 128;
//CHECK-NEXT:  constexpr int kKCacheRowBytes = 128;
//CHECK-NEXT:  constexpr int kKCacheKeyScaleBytes = 4;
//CHECK-NEXT:  constexpr int kKCacheKeyScaleOffset = 8192;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = dsv4::load<long long>(&slots[row]);
//CHECK-NEXT:    const long long start = max(offset, 0ll);
//CHECK-NEXT:    const long long in_page = (unsigned long long)start % kPageBytes;
//CHECK-NEXT:    const int in_page_1 = (int)in_page;
//CHECK-NEXT:    const long long quotient = (unsigned long long)start / kPageBytes;
//CHECK-NEXT:    const int page = dsv4::narrow(quotient);
//CHECK-NEXT:    const int slot = (unsigned)in_page_1 / kKeyBytes;
//CHECK-NEXT:    const int residue = (unsigned)in_page_1 % kKeyBytes;
//CHECK-NEXT:    const bool is_entry = offset >= 0 && page >= 0 && slot < 64 && residue == 0;
//CHECK-NEXT:    const bool valid = is_entry && page < k_cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * k_cache_page_stride;
//CHECK-NEXT:    const long long entry = page_start + slot * kKCacheRowBytes;
//CHECK-NEXT:    const long long row_start = (long long)row * 128;
//CHECK-NEXT:    const auto key = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 2, 4>, 0, dsv4::evict_last>(valid, &k_cache[entry + lane * 4], 64);
//CHECK-NEXT:    const auto key_scale = dsv4::load_if<dsv4::Vec<float, 1>, 0, dsv4::evict_last>(valid, &k_cache[page_start + slot * kKCacheKeyScaleBytes + kKCacheKeyScaleOffset]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    dsv4::store(&k[row_start + lane * 4], key, 64);
//CHECK-NEXT:    if (lane == 0) {
//CHECK-NEXT:      dsv4::store(&scale[row], key_scale);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
