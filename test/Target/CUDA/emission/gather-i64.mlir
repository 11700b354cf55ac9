// A gather with integers of i64 alone: each is narrowed once, a length to the nearest, and the
// arithmetic after that has 32 bits.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=8,vector=8>]> dims=topk=512" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather(
    %cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache"},
    %indices: tensor<?x?xi64> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
    %table: tensor<?x?xi64> {dsv4.name = "page_table", dsv4.dims = ["requests", "blocks"]},
    %request: tensor<?xi64> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi64> {dsv4.name = "lengths", dsv4.dims = ["tokens"]},
    %out: tensor<?x?x512xf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]})
    -> tensor<?x?x512xf16>
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>}} {
  %rows = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi64>)
      requests(%request : tensor<?xi64>) lengths(%length : tensor<?xi64>)
      outs(%out : tensor<?x?x512xf16>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi64>
  return %rows : tensor<?x?x512xf16>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x v4_584 to f16
//CHECK-NEXT:// tokens = ?, topk = 512, requests = ?, blocks = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather(const unsigned char *__restrict__ cache,
//CHECK-NEXT:       const long long *__restrict__ indices,
//CHECK-NEXT:       const long long *__restrict__ page_table,
//CHECK-NEXT:       const long long *__restrict__ request,
//CHECK-NEXT:       const long long *__restrict__ lengths,
//CHECK-NEXT:       dsv4::f16 *__restrict__ out,
//CHECK-NEXT:       int cache_pages,
//CHECK-NEXT:       int requests,
//CHECK-NEXT:       int blocks,
//CHECK-NEXT:       int rows) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 448;
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long index_i64 = indices[row];
//CHECK-NEXT:    const int index = dsv4::narrow(index_i64);
//CHECK-NEXT:    const int token = row / 512u;
//CHECK-NEXT:    const long long length_i64 = lengths[token];
//CHECK-NEXT:    const int length = dsv4::saturate(length_i64);
//CHECK-NEXT:    const long long request_i64 = request[token];
//CHECK-NEXT:    const int request_1 = dsv4::narrow(request_i64);
//CHECK-NEXT:    const int logical_page = index / 64;
//CHECK-NEXT:    const bool in_table = index >= 0 && index < length && request_1 >= 0 && request_1 < requests && logical_page < blocks;
//CHECK-NEXT:    const int page = in_table ? dsv4::narrow(page_table[(long long)request_1 * blocks + logical_page]) : -1;
//CHECK-NEXT:    const int slot = index % 64;
//CHECK-NEXT:    const bool valid = page >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    const long long row_start = (long long)row * 512;
//CHECK-NEXT:    const auto nope = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 7, 8>>(valid, &cache[entry + lane * 8], 64);
//CHECK-NEXT:    const auto nope_scale = dsv4::load_if<dsv4::Vec<dsv4::ue8m0, 8>>(valid, &cache[page_start + slot * kCacheNopeScaleBytes + kCacheNopeScaleOffset]);
//CHECK-NEXT:    const auto rope = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 8>>(valid, &cache[entry + kCacheRopeOffset + lane * 16]);
//CHECK-NEXT:    dsv4::store(&out[row_start + lane * 8], dsv4::convert<dsv4::f16>(dsv4::dequantize<float>(nope, dsv4::slice<0, 7>(nope_scale))), 128);
//CHECK-NEXT:    dsv4::store(&out[row_start + 448 + lane * 8], dsv4::convert<dsv4::f16>(dsv4::convert<float>(rope)));
//CHECK-NEXT:  }
//CHECK-NEXT:}
