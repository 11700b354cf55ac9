// Indexer keys, FP8 with one fp32 scale; no page table.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=8,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_index_fp8_132(
    %cache: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "cache"},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["n"]},
    %out: tensor<?x128xf32> {dsv4.name = "out", dsv4.dims = ["n", ""]})
    -> tensor<?x128xf32> {
  %rows = dsv4.paged_gather %cache[%indices]
      outs(%out : tensor<?x128xf32>)
      : !dsv4.cache<64 x <index_fp8_132>>, tensor<?xi32>
  return %rows : tensor<?x128xf32>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x index_fp8_132 to f32
//CHECK-NEXT:// n = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather_index_fp8_132(const unsigned char *__restrict__ cache,
//CHECK-NEXT:                     const int *__restrict__ indices,
//CHECK-NEXT:                     float *__restrict__ out,
//CHECK-NEXT:                     int cache_pages,
//CHECK-NEXT:                     int rows) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 8448;
//CHECK-NEXT:  constexpr int kCacheKeyScaleBytes = 4;
//CHECK-NEXT:  constexpr int kCacheKeyScaleOffset = 8192;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 128;
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int index = indices[row];
//CHECK-NEXT:    const int page = index / 64;
//CHECK-NEXT:    const int slot = index % 64;
//CHECK-NEXT:    const bool valid = index >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    const long long row_start = (long long)row * 128;
//CHECK-NEXT:    const auto key = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 2, 8>>(valid, &cache[entry + lane * 8], 64);
//CHECK-NEXT:    const auto key_scale = dsv4::load_if<dsv4::Vec<float, 1>>(valid, &cache[page_start + slot * kCacheKeyScaleBytes + kCacheKeyScaleOffset]);
//CHECK-NEXT:    dsv4::store(&out[row_start + lane * 8], dsv4::dequantize<float>(key, key_scale), 256);
//CHECK-NEXT:  }
//CHECK-NEXT:}
