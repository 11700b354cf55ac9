// Slots of i64 that may repeat: one narrowing after the load, then arithmetic of 32 bits.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x #dsv4.record<[<"row" : 64 x bf16 in row>]>>

func.func @append(
    %kv: tensor<?x64xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %slots: tensor<?xi64> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache"}) {
  dsv4.paged_append %cache[%slots] fields(%kv : tensor<?x64xbf16>) : !cache, tensor<?xi64>
  return
}

// The whole text.
//     CHECK:// dsv4.paged_append of 64 x record
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128, 8)
//CHECK-NEXT:append(const dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:       const long long *__restrict__ slots,
//CHECK-NEXT:       unsigned char *__restrict__ cache,
//CHECK-NEXT:       int rows,
//CHECK-NEXT:       int tokens,
//CHECK-NEXT:       int cache_pages) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 8192;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 128;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 16;
//CHECK-NEXT:  const int row = blockIdx.x * 8 + threadIdx.x / 16;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto row_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(&kv[(long long)row * 64 + lane * 4]);
//CHECK-NEXT:    const long long entry_i64 = dsv4::load<long long>(&slots[row]);
//CHECK-NEXT:    const int entry = dsv4::narrow(entry_i64);
//CHECK-NEXT:    const bool is_last = dsv4::is_last<16, 128, 512>(slots, row, tokens, rows);
//CHECK-NEXT:    const int page = entry / 64;
//CHECK-NEXT:    const int slot = entry % 64;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(entry >= 0 && is_last, page, cache_pages);
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const long long entry_1 = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&cache[entry_1 + lane * 8], row_1);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
