// Fields that are slices of one tensor: a pointer for each, which begins within the argument.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,pdl=true,parts=[#dsv4.rows<lanes=8,vector=8>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x <[<"kv" : 512 x bf16 in row>, <"pe" : 64 x bf16 in row>]>>

func.func @slice_append(
    %latent: tensor<?x2112xbf16> {dsv4.name = "latent", dsv4.dims = ["tokens", ""]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %latent, %c0 : tensor<?x2112xbf16>
  %kv = tensor.extract_slice %latent[0, 1536] [%tokens, 512] [1, 1] : tensor<?x2112xbf16> to tensor<?x512xbf16>
  %pe = tensor.extract_slice %latent[0, 2048] [%tokens, 64] [1, 1] : tensor<?x2112xbf16> to tensor<?x64xbf16>
  dsv4.paged_append %cache[%slots] unique fields(%kv, %pe : tensor<?x512xbf16>, tensor<?x64xbf16>)
      : !cache, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.paged_append of 64 x record
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:slice_append(const int *__restrict__ slots,
//CHECK-NEXT:             unsigned char *__restrict__ cache,
//CHECK-NEXT:             const dsv4::bf16 *__restrict__ latent_slice,
//CHECK-NEXT:             const dsv4::bf16 *__restrict__ latent_slice_1,
//CHECK-NEXT:             int cache_pages,
//CHECK-NEXT:             int rows) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 73728;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 1152;
//CHECK-NEXT:  constexpr int kCachePeOffset = 1024;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 2112 + lane * 8;
//CHECK-NEXT:    const auto kv = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 8>>(&latent_slice[offset], 128);
//CHECK-NEXT:    const auto pe = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 8>>(&latent_slice_1[offset]);
//CHECK-NEXT:    const int entry = dsv4::load<int>(&slots[row]);
//CHECK-NEXT:    const int page = entry / 64;
//CHECK-NEXT:    const int slot = entry % 64;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(entry >= 0, page, cache_pages);
//CHECK-NEXT:    const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const long long entry_1 = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&cache[entry_1 + lane * 16], kv, 128);
//CHECK-NEXT:      dsv4::store(&cache[entry_1 + kCachePeOffset + lane * 16], pe);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
