// Rows of a gather that begin at any element: each field of them is stored in aligned words.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="dims=topk=512 schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=16,vector=4,load=evict_last>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>

func.func @unaligned_gather(
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?x?xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"], dsv4.strides = #dsv4.strides<[?]>},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "max_pages"], dsv4.strides = #dsv4.strides<[?]>},
    %requests: tensor<?xi32> {dsv4.name = "request_of_token", dsv4.dims = ["tokens"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["tokens"]},
    %kv: tensor<?x?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", "topk", ""], dsv4.strides = #dsv4.strides<[?, ?], align = 2>},
    %mask: tensor<?x?xi1> {dsv4.name = "mask", dsv4.dims = ["tokens", "topk"], dsv4.strides = #dsv4.strides<[?]>})
    -> (tensor<?x?x512xbf16>, tensor<?x?xi1>)
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>}} {
  %rows, %valid = dsv4.paged_gather %cache[%indices]
      pages(%table : tensor<?x?xi32>)
      requests(%requests : tensor<?xi32>)
      lengths(%lengths : tensor<?xi32>)
      outs(%kv : tensor<?x?x512xbf16>) mask(%mask : tensor<?x?xi1>)
      : !cache, tensor<?x?xi32>
  return %rows, %valid : tensor<?x?x512xbf16>, tensor<?x?xi1>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 64 x v4_584 to bf16
//CHECK-NEXT:// tokens = ?, topk = 512, requests = ?, max_pages = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:unaligned_gather(const unsigned char *__restrict__ cache,
//CHECK-NEXT:                 const int *__restrict__ indices,
//CHECK-NEXT:                 const int *__restrict__ table,
//CHECK-NEXT:                 const int *__restrict__ request_of_token,
//CHECK-NEXT:                 const int *__restrict__ lengths,
//CHECK-NEXT:                 dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:                 unsigned char *__restrict__ mask,
//CHECK-NEXT:                 int cache_pages,
//CHECK-NEXT:                 int indices_stride,
//CHECK-NEXT:                 int requests,
//CHECK-NEXT:                 int max_pages,
//CHECK-NEXT:                 int table_stride,
//CHECK-NEXT:                 int rows,
//CHECK-NEXT:                 int kv_stride_1,
//CHECK-NEXT:                 int kv_stride_0,
//CHECK-NEXT:                 int mask_stride) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 448;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int offset = row / 512;
//CHECK-NEXT:    const int index = dsv4::load<int>(&indices[(long long)offset * indices_stride + row % 512]);
//CHECK-NEXT:    const int length = dsv4::load<int>(&lengths[offset]);
//CHECK-NEXT:    const int request = dsv4::load<int>(&request_of_token[offset]);
//CHECK-NEXT:    const int logical_page = index / 64;
//CHECK-NEXT:    const bool in_table = index >= 0 && index < length && request >= 0 && request < requests && logical_page < max_pages;
//CHECK-NEXT:    const int page = in_table ? dsv4::load<int>(&table[(long long)request * table_stride + logical_page]) : -1;
//CHECK-NEXT:    const int slot = index % 64;
//CHECK-NEXT:    const bool valid = page >= 0 && page < cache_pages;
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    const long long entry = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    const long long row_start = (long long)offset * kv_stride_0 + (long long)(row % 512) * kv_stride_1;
//CHECK-NEXT:    const long long row_start_1 = (long long)offset * mask_stride + row % 512;
//CHECK-NEXT:    const auto nope = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 7, 4>, 0, dsv4::evict_last>(valid, &cache[entry + lane * 4], 64);
//CHECK-NEXT:    const auto nope_scale = dsv4::load_if<dsv4::Vec<dsv4::ue8m0, 8>, 0, dsv4::evict_last>(valid, &cache[page_start + slot * kCacheNopeScaleBytes + kCacheNopeScaleOffset]);
//CHECK-NEXT:    const auto rope = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(valid, &cache[entry + kCacheRopeOffset + lane * 8]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    dsv4::store_words<16>(&kv[row_start + lane * 4], dsv4::dequantize<dsv4::bf16>(nope, dsv4::slice<0, 7>(nope_scale)));
//CHECK-NEXT:    dsv4::store_words<16>(&kv[row_start + 448 + lane * 4], rope);
//CHECK-NEXT:    if (lane == 0) {
//CHECK-NEXT:      mask[row_start_1] = valid;
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
