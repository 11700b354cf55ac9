// Selective dequantisation: arrays, no page table, one fp32 scale per row after the
// E4M3 ones.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=128,parts=[#dsv4.rows<lanes=32,vector=16>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @gather_seed_292(
    %cache: !dsv4.cache<1 x <seed_292>> {dsv4.name = "cache"},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["n"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["n", ""]})
    -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %cache[%indices]
      outs(%out : tensor<?x512xbf16>)
      : !dsv4.cache<1 x <seed_292>>, tensor<?xi32>
  return %rows : tensor<?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.paged_gather of 1 x seed_292 to bf16
//CHECK-NEXT:// n = ?
//CHECK-NEXT:// sm_90a: 128 threads, 32 lanes per row, vectors of 16 elements
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:gather_seed_292(const unsigned char *__restrict__ cache_kv,
//CHECK-NEXT:                const unsigned char *__restrict__ cache_kv_scale,
//CHECK-NEXT:                const unsigned char *__restrict__ cache_global_scale,
//CHECK-NEXT:                const int *__restrict__ indices,
//CHECK-NEXT:                dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:                int cache_pages,
//CHECK-NEXT:                int rows) {
//CHECK-NEXT:  constexpr int kCacheKvScaleBytes = 32;
//CHECK-NEXT:  constexpr int kCacheGlobalScaleBytes = 4;
//CHECK-NEXT:  constexpr int kCacheKvBytes = 256;
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const int index = indices[row];
//CHECK-NEXT:    const bool valid = index >= 0 && index < cache_pages;
//CHECK-NEXT:    const long long row_start = (long long)row * 512;
//CHECK-NEXT:    const auto kv = dsv4::load_if<dsv4::Tile<dsv4::e2m1, 1, 16>>(valid, &cache_kv[(long long)index * kCacheKvBytes + lane * 8]);
//CHECK-NEXT:    const auto kv_scale = dsv4::load_if<dsv4::Tile<dsv4::e4m3, 1, 1>>(valid, &cache_kv_scale[(long long)index * kCacheKvScaleBytes + lane]);
//CHECK-NEXT:    const auto global_scale = dsv4::load_if<dsv4::Vec<float, 1>>(valid, &cache_global_scale[(long long)index * kCacheGlobalScaleBytes]);
//CHECK-NEXT:    const auto global_scale_f32 = dsv4::repeat<1, 16>(global_scale);
//CHECK-NEXT:    dsv4::store(&out[row_start + lane * 16], dsv4::convert<dsv4::bf16>(dsv4::dequantize<float>(kv, kv_scale) * global_scale_f32));
//CHECK-NEXT:  }
//CHECK-NEXT:}
