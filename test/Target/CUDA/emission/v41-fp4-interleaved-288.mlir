// The interleaved V4.1 FP4 record: E2M1, then E4M3 per 16, in one row.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=16,vector=32,store=streaming>]> dims=topk=512" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_v41_fp4_interleaved_288(
    %cache: !dsv4.cache<64 x <v41_fp4_interleaved_288>> {dsv4.name = "cache"},
    %indices: tensor<?x?xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["tokens", "blocks"]},
    %out: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]})
    -> tensor<?x?x512xbf16>
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>}} {
  %rows = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi32>)
      outs(%out : tensor<?x?x512xbf16>)
      : !dsv4.cache<64 x <v41_fp4_interleaved_288>>, tensor<?x?xi32>
  return %rows : tensor<?x?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x v41_fp4_interleaved_288 to bf16
//CHECK-NEXT:// tokens = ?, topk = 512, blocks = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 32 elements, streaming stores
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather_v41_fp4_interleaved_288(const unsigned char *__restrict__ cache,
//CHECK-NEXT:                               const int *__restrict__ indices,
//CHECK-NEXT:                               const int *__restrict__ page_table,
//CHECK-NEXT:                               dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:                               int cache_pages,
//CHECK-NEXT:                               int blocks,
//CHECK-NEXT:                               int rows) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 18432;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 288;
//CHECK-NEXT:  constexpr int kCacheKvScaleOffset = 256;
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int index = indices[row];
//CHECK-NEXT:    const int token = row / 512;
//CHECK-NEXT:    const int logical_page = index / 64;
//CHECK-NEXT:    const bool in_table = index >= 0 && logical_page < blocks;
//CHECK-NEXT:    const int page = in_table ? page_table[(long long)token * blocks + logical_page] : -1;
//CHECK-NEXT:    const int slot = index % 64;
//CHECK-NEXT:    const bool valid = page >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    const long long row_start = (long long)row * 512;
//CHECK-NEXT:    const auto kv = dsv4::load_if<dsv4::Tile<dsv4::e2m1, 1, 32>>(valid, &cache[entry + lane * 16]);
//CHECK-NEXT:    const auto kv_scale = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 1, 2>>(valid, &cache[entry + kCacheKvScaleOffset + lane * 2]);
//CHECK-NEXT:    dsv4::store_streaming(&out[row_start + lane * 32], dsv4::dequantize<dsv4::bf16>(kv, kv_scale));
//CHECK-NEXT:  }
//CHECK-NEXT:}
