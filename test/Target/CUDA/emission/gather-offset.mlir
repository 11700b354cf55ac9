// The last positions of each request, from a row on that the device reads.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_offset(
    %cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %gather_lens: tensor<?xi32> {dsv4.name = "gather_lens", dsv4.dims = ["requests"]},
    %offset: tensor<1xi64> {dsv4.name = "offset"},
    %out: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["requests", "rows", ""]}) -> tensor<?x?x512xbf16> {
  %rows = dsv4.paged_gather %cache pages(%table : tensor<?x?xi32>) seq_lens(%seq_lens : tensor<?xi32>)
      gather_lens(%gather_lens : tensor<?xi32>) offset(%offset : tensor<1xi64>)
      outs(%out : tensor<?x?x512xbf16>) : !dsv4.cache<64 x <v4_584>>
  return %rows : tensor<?x?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x v4_584 to bf16
//CHECK-NEXT:// requests = ?, pages = ?, rows = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather_offset(const unsigned char *__restrict__ cache,
//CHECK-NEXT:              const int *__restrict__ table,
//CHECK-NEXT:              const int *__restrict__ seq_lens,
//CHECK-NEXT:              const int *__restrict__ gather_lens,
//CHECK-NEXT:              const long long *__restrict__ offset,
//CHECK-NEXT:              dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:              int cache_pages,
//CHECK-NEXT:              int pages,
//CHECK-NEXT:              int rows,
//CHECK-NEXT:              int rows_1) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 448;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int request = row / rows_1;
//CHECK-NEXT:    const int nth = (unsigned)row % rows_1;
//CHECK-NEXT:    const long long given_offset_i64 = dsv4::load<long long>(&offset[0]);
//CHECK-NEXT:    const int given_offset = dsv4::saturate(given_offset_i64);
//CHECK-NEXT:    const int offset_1 = max(given_offset, 0);
//CHECK-NEXT:    const int offset_2 = nth - offset_1;
//CHECK-NEXT:    const int given_seq_len = dsv4::load<int>(&seq_lens[request]);
//CHECK-NEXT:    const int seq_len = max(given_seq_len, 0);
//CHECK-NEXT:    const int given_gather_len = dsv4::load<int>(&gather_lens[request]);
//CHECK-NEXT:    const int gather_len = max(given_gather_len, 0);
//CHECK-NEXT:    const int count = min(gather_len, seq_len);
//CHECK-NEXT:    const bool condition = offset_2 >= 0 && offset_2 < count;
//CHECK-NEXT:    const long long position = (long long)(seq_len - count) + offset_2;
//CHECK-NEXT:    const long long logical_page = position / 64;
//CHECK-NEXT:    const int logical_page_1 = (int)logical_page;
//CHECK-NEXT:    const bool in_table = condition && logical_page_1 < pages;
//CHECK-NEXT:    const int page = in_table ? dsv4::load<int>(&table[(long long)request * pages + logical_page_1]) : -1;
//CHECK-NEXT:    const long long slot = position % 64;
//CHECK-NEXT:    const int slot_1 = (int)slot;
//CHECK-NEXT:    const bool valid = page >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot_1 * kCacheRowBytes;
//CHECK-NEXT:    const auto nope = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 7, 4>, 0, dsv4::evict_last>(valid, &cache[entry + lane * 4], 64);
//CHECK-NEXT:    const auto nope_scale = dsv4::load_if<dsv4::Vec<dsv4::ue8m0, 8>, 0, dsv4::evict_last>(valid, &cache[page_start + slot_1 * kCacheNopeScaleBytes + kCacheNopeScaleOffset]);
//CHECK-NEXT:    const auto rope = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(valid, &cache[entry + kCacheRopeOffset + lane * 8]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const long long row_start = (long long)row * 512;
//CHECK-NEXT:    if (condition) {
//CHECK-NEXT:      dsv4::store(&out[row_start + lane * 4], dsv4::dequantize<dsv4::bf16>(nope, dsv4::slice<0, 7>(nope_scale)), 128);
//CHECK-NEXT:      dsv4::store(&out[row_start + 448 + lane * 4], rope);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
