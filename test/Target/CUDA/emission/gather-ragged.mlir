// Stored keys and scales of ragged requests: rows that belong to no request are not written.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=8,vector=16>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_keys(
    %cache: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "cache"},
    %key: tensor<?x128xf8E4M3FN> {dsv4.name = "key", dsv4.dims = ["rows", ""]},
    %scale: tensor<?x1xf32> {dsv4.name = "scale", dsv4.dims = ["rows", ""]},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "blocks"]},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %k, %s = dsv4.paged_gather %cache pages(%table : tensor<?x?xi32>) cu_seq_lens(%cu_seq_lens : tensor<?xi32>)
      fields(%key, %scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) : !dsv4.cache<64 x <index_fp8_132>>
  return %k, %s : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x index_fp8_132 to f8E4M3FN
//CHECK-NEXT:// rows = ?, requests = ?, blocks = ?, starts = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 16 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather_keys(const unsigned char *__restrict__ cache,
//CHECK-NEXT:            dsv4::e4m3 *__restrict__ key,
//CHECK-NEXT:            float *__restrict__ scale,
//CHECK-NEXT:            const int *__restrict__ page_table,
//CHECK-NEXT:            const int *__restrict__ cu_seq_lens,
//CHECK-NEXT:            int cache_pages,
//CHECK-NEXT:            int rows,
//CHECK-NEXT:            int requests,
//CHECK-NEXT:            int blocks,
//CHECK-NEXT:            int starts) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 8448;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 128;
//CHECK-NEXT:  constexpr int kCacheKeyScaleBytes = 4;
//CHECK-NEXT:  constexpr int kCacheKeyScaleOffset = 8192;
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int requests_1 = starts - 1;
//CHECK-NEXT:    const int request = dsv4::search<8>(cu_seq_lens, row, requests_1, rows);
//CHECK-NEXT:    const bool condition = request < requests_1;
//CHECK-NEXT:    const int given_start = condition ? cu_seq_lens[request] : 0;
//CHECK-NEXT:    const int start = max(given_start, 0);
//CHECK-NEXT:    const int position = row - start;
//CHECK-NEXT:    const int end = condition ? cu_seq_lens[request + 1] : 0;
//CHECK-NEXT:    const bool exists = condition && position >= 0 && row < end;
//CHECK-NEXT:    const int logical_page = position / 64;
//CHECK-NEXT:    const bool in_table = exists && request < requests && logical_page < blocks;
//CHECK-NEXT:    const int page = in_table ? page_table[(long long)request * blocks + logical_page] : -1;
//CHECK-NEXT:    const int slot = position % 64;
//CHECK-NEXT:    const bool valid = page >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    const auto key_1 = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 1, 16>>(valid, &cache[entry + lane * 16]);
//CHECK-NEXT:    const auto key_scale = dsv4::load_if<dsv4::Vec<float, 1>>(valid, &cache[page_start + slot * kCacheKeyScaleBytes + kCacheKeyScaleOffset]);
//CHECK-NEXT:    const long long row_start = (long long)row * 128;
//CHECK-NEXT:    if (exists) {
//CHECK-NEXT:      dsv4::store(&key[row_start + lane * 16], key_1);
//CHECK-NEXT:      if (lane == 0) {
//CHECK-NEXT:        dsv4::store(&scale[row], key_scale);
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
