// Positions of requests whose pages are parts of a list.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!pool = !dsv4.cache<16 x <[<"ckv" : 512 x bf16 in array>, <"kpe" : 64 x bf16 in array>]>>

func.func @append_paged_mla_kv_cache(
    %append_ckv: tensor<?x512xbf16> {dsv4.name = "append_ckv", dsv4.dims = ["tokens", ""]},
    %append_kpe: tensor<?x64xbf16> {dsv4.name = "append_kpe", dsv4.dims = ["tokens", ""]},
    %batch_indices: tensor<?xi32> {dsv4.name = "batch_indices", dsv4.dims = ["tokens"]},
    %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %cache: !pool {dsv4.name = "cache"},
    %kv_indices: tensor<?xi32> {dsv4.name = "kv_indices", dsv4.dims = ["pages"]},
    %kv_indptr: tensor<?xi32> {dsv4.name = "kv_indptr", dsv4.dims = ["starts"]}) {
  dsv4.paged_append %cache[%positions] unique
      requests(%batch_indices : tensor<?xi32>) pages(%kv_indices : tensor<?xi32>)
      indptr(%kv_indptr : tensor<?xi32>)
      fields(%append_ckv, %append_kpe : tensor<?x512xbf16>, tensor<?x64xbf16>)
      : !pool, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.paged_append of 16 x record
//CHECK-NEXT:// tokens = ?, pages = ?, starts = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128, 8)
//CHECK-NEXT:append_paged_mla_kv_cache(const dsv4::bf16 *__restrict__ append_ckv,
//CHECK-NEXT:                          const dsv4::bf16 *__restrict__ append_kpe,
//CHECK-NEXT:                          const int *__restrict__ batch_indices,
//CHECK-NEXT:                          const int *__restrict__ positions,
//CHECK-NEXT:                          unsigned char *__restrict__ cache_ckv,
//CHECK-NEXT:                          unsigned char *__restrict__ cache_kpe,
//CHECK-NEXT:                          const int *__restrict__ kv_indices,
//CHECK-NEXT:                          const int *__restrict__ kv_indptr,
//CHECK-NEXT:                          int rows,
//CHECK-NEXT:                          int cache_pages,
//CHECK-NEXT:                          int pages,
//CHECK-NEXT:                          int starts) {
//CHECK-NEXT:  constexpr int kCacheCkvBytes = 1024;
//CHECK-NEXT:  constexpr int kCacheKpeBytes = 128;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto ckv = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 4>, 0, dsv4::evict_last>(&append_ckv[(long long)row * 512 + lane * 4], 128);
//CHECK-NEXT:    const auto kpe = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(&append_kpe[(long long)row * 64 + lane * 4]);
//CHECK-NEXT:    const int position = dsv4::load<int>(&positions[row]);
//CHECK-NEXT:    const int request = dsv4::load<int>(&batch_indices[row]);
//CHECK-NEXT:    const long long offset = (long long)request + 1;
//CHECK-NEXT:    const bool has_request = position >= 0 && request >= 0 && offset < starts;
//CHECK-NEXT:    const int logical_page = position / 16;
//CHECK-NEXT:    const int pages_begin = has_request ? dsv4::load<int>(&kv_indptr[request]) : 0;
//CHECK-NEXT:    const int pages_end = has_request ? dsv4::load<int>(&kv_indptr[offset]) : 0;
//CHECK-NEXT:    const long long listed_page = (long long)pages_begin + logical_page;
//CHECK-NEXT:    const bool in_list = has_request && pages_begin >= 0 && listed_page < pages_end && listed_page < pages;
//CHECK-NEXT:    const int page = in_list ? dsv4::load<int>(&kv_indices[listed_page]) : -1;
//CHECK-NEXT:    const int slot = position % 16;
//CHECK-NEXT:    const long long entry = (long long)page * 16 + slot;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(has_request && page >= 0, page, cache_pages);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&cache_ckv[entry * kCacheCkvBytes + lane * 8], ckv, 128);
//CHECK-NEXT:      dsv4::store(&cache_kpe[entry * kCacheKpeBytes + lane * 8], kpe);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
