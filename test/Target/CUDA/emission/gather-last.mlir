// The last positions of each request, of a list of pages, from row 128 of the request on.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=8,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_last(
    %cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache"},
    %kv_indices: tensor<?xi32> {dsv4.name = "kv_indices", dsv4.dims = ["pages"]},
    %kv_indptr: tensor<?xi32> {dsv4.name = "kv_indptr", dsv4.dims = ["indptr"]},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %gather_lens: tensor<?xi32> {dsv4.name = "gather_lens", dsv4.dims = ["requests"]},
    %out: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["requests", "rows", ""]}) -> tensor<?x?x512xbf16> {
  %rows = dsv4.paged_gather %cache pages(%kv_indices : tensor<?xi32>) indptr(%kv_indptr : tensor<?xi32>)
      seq_lens(%seq_lens : tensor<?xi32>) gather_lens(%gather_lens : tensor<?xi32>) offset 128
      outs(%out : tensor<?x?x512xbf16>) : !dsv4.cache<64 x <v4_584>>
  return %rows : tensor<?x?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x v4_584 to bf16
//CHECK-NEXT:// pages = ?, indptr = ?, requests = ?, rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather_last(const unsigned char *__restrict__ cache,
//CHECK-NEXT:            const int *__restrict__ kv_indices,
//CHECK-NEXT:            const int *__restrict__ kv_indptr,
//CHECK-NEXT:            const int *__restrict__ seq_lens,
//CHECK-NEXT:            const int *__restrict__ gather_lens,
//CHECK-NEXT:            dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:            int cache_pages,
//CHECK-NEXT:            int pages,
//CHECK-NEXT:            int indptr,
//CHECK-NEXT:            int rows,
//CHECK-NEXT:            int rows_1) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 448;
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int request = (unsigned)row / rows_1;
//CHECK-NEXT:    const int nth = (unsigned)row % rows_1;
//CHECK-NEXT:    const int offset = nth - 128;
//CHECK-NEXT:    const int given_seq_len = seq_lens[request];
//CHECK-NEXT:    const int seq_len = max(given_seq_len, 0);
//CHECK-NEXT:    const int given_gather_len = gather_lens[request];
//CHECK-NEXT:    const int gather_len = max(given_gather_len, 0);
//CHECK-NEXT:    const int count = min(gather_len, seq_len);
//CHECK-NEXT:    const bool condition = offset >= 0 && offset < count;
//CHECK-NEXT:    const long long position = (long long)(seq_len - count) + offset;
//CHECK-NEXT:    const long long offset_1 = (long long)request + 1;
//CHECK-NEXT:    const bool condition_1 = condition && offset_1 < indptr;
//CHECK-NEXT:    const long long logical_page = position / 64;
//CHECK-NEXT:    const int logical_page_1 = (int)logical_page;
//CHECK-NEXT:    const int pages_begin = condition_1 ? kv_indptr[request] : 0;
//CHECK-NEXT:    const int pages_end = condition_1 ? kv_indptr[offset_1] : 0;
//CHECK-NEXT:    const long long listed_page = (long long)pages_begin + logical_page_1;
//CHECK-NEXT:    const bool in_list = condition_1 && pages_begin >= 0 && listed_page < pages_end && listed_page < pages;
//CHECK-NEXT:    const int page = in_list ? kv_indices[listed_page] : -1;
//CHECK-NEXT:    const long long slot = position % 64;
//CHECK-NEXT:    const int slot_1 = (int)slot;
//CHECK-NEXT:    const bool valid = page >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot_1 * kCacheRowBytes;
//CHECK-NEXT:    const auto nope = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 7, 8>>(valid, &cache[entry + lane * 8], 64);
//CHECK-NEXT:    const auto nope_scale = dsv4::load_if<dsv4::Vec<dsv4::ue8m0, 8>>(valid, &cache[page_start + slot_1 * kCacheNopeScaleBytes + kCacheNopeScaleOffset]);
//CHECK-NEXT:    const auto rope = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 8>>(valid, &cache[entry + kCacheRopeOffset + lane * 16]);
//CHECK-NEXT:    const long long row_start = (long long)row * 512;
//CHECK-NEXT:    if (condition) {
//CHECK-NEXT:      dsv4::store(&out[row_start + lane * 8], dsv4::dequantize<dsv4::bf16>(nope, dsv4::slice<0, 7>(nope_scale)), 128);
//CHECK-NEXT:      dsv4::store(&out[row_start + 448 + lane * 8], rope);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
