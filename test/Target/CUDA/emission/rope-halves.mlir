// Halves are rotated by a bf16 table, in place, and while they are written into a cache.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x <[<"kv_c" : 512 x bf16 in row>, <"k_pe" : 64 x bf16 in row>]>>

func.func @concat_and_cache_mla_rope_fused(
    %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %q_pe: tensor<?x16x64xbf16> {dsv4.name = "q_pe", dsv4.dims = ["tokens", "", ""]},
    %k_pe: tensor<?x64xbf16> {dsv4.name = "k_pe", dsv4.dims = ["tokens", ""]},
    %kv_c: tensor<?x512xbf16> {dsv4.name = "kv_c", dsv4.dims = ["tokens", ""]},
    %cos_sin_cache: tensor<?x64xbf16> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %slot_mapping: tensor<?xi32> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]},
    %kv_cache: !cache {dsv4.name = "kv_cache"}) -> tensor<?x16x64xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %k_pe, %c0 : tensor<?x64xbf16>
  %row = tensor.empty(%tokens) : tensor<?x64xbf16>
  %q = dsv4.rope %q_pe neox table(%cos_sin_cache : tensor<?x64xbf16>)
      positions(%positions : tensor<?xi32>) outs(%q_pe : tensor<?x16x64xbf16>)
      : tensor<?x16x64xbf16>
  %k = dsv4.rope %k_pe neox table(%cos_sin_cache : tensor<?x64xbf16>)
      positions(%positions : tensor<?xi32>) outs(%row : tensor<?x64xbf16>) : tensor<?x64xbf16>
  dsv4.paged_append %kv_cache[%slot_mapping] unique
      fields(%kv_c, %k : tensor<?x512xbf16>, tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return %q : tensor<?x16x64xbf16>
}

// The whole text.
//     CHECK:// dsv4.rope of bf16 to bf16
//CHECK-NEXT:// tokens = ?, q_pe.1 = 16, positions = ?
//CHECK-NEXT:// sm_90a: 128 threads, 4 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:concat_and_cache_mla_rope_fused_0(const int *__restrict__ positions,
//CHECK-NEXT:                                  dsv4::bf16 *__restrict__ q_pe,
//CHECK-NEXT:                                  const dsv4::bf16 *__restrict__ cos_sin_cache,
//CHECK-NEXT:                                  int rows,
//CHECK-NEXT:                                  int positions_extent) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 4;
//CHECK-NEXT:  const int row = blockIdx.x * 32 + threadIdx.x / 4;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 64;
//CHECK-NEXT:    const long long offset_1 = offset + lane * 8;
//CHECK-NEXT:    const auto x_first = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 8>, 0, dsv4::evict_last>(&q_pe[offset_1]);
//CHECK-NEXT:    const long long offset_2 = offset + 32 + lane * 8;
//CHECK-NEXT:    const auto x_second = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 8>, 0, dsv4::evict_last>(&q_pe[offset_2]);
//CHECK-NEXT:    const int token = row / 16u;
//CHECK-NEXT:    const int position = dsv4::load<int>(&positions[token]);
//CHECK-NEXT:    const bool in_table = position >= 0 && position < positions_extent;
//CHECK-NEXT:    const long long offset_3 = (long long)position * 64;
//CHECK-NEXT:    const auto cosines = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 8>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset_3 + lane * 8]);
//CHECK-NEXT:    const auto sines = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 8>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset_3 + 32 + lane * 8]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const auto value = dsv4::convert<float>(x_first);
//CHECK-NEXT:    const auto value_1 = dsv4::convert<float>(cosines);
//CHECK-NEXT:    const auto value_2 = dsv4::convert<float>(x_second);
//CHECK-NEXT:    const auto value_3 = dsv4::convert<float>(sines);
//CHECK-NEXT:    const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(value * value_1 - value_2 * value_3) : x_first;
//CHECK-NEXT:    dsv4::store(&q_pe[offset_1], rotated);
//CHECK-NEXT:    const auto rotated_1 = in_table ? dsv4::convert<dsv4::bf16>(value * value_3 + value_2 * value_1) : x_second;
//CHECK-NEXT:    dsv4::store(&q_pe[offset_2], rotated_1);
//CHECK-NEXT:  }
//CHECK-NEXT:}
//CHECK-EMPTY:
//CHECK-NEXT:// dsv4.rope of bf16 to bf16, dsv4.paged_append of 64 x record
//CHECK-NEXT:// tokens = ?, q_pe.1 = 16, positions = ?
//CHECK-NEXT:// sm_90a: 128 threads, 8 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128, 8)
//CHECK-NEXT:concat_and_cache_mla_rope_fused_1(const int *__restrict__ positions,
//CHECK-NEXT:                                  const dsv4::bf16 *__restrict__ k_pe,
//CHECK-NEXT:                                  const dsv4::bf16 *__restrict__ kv_c,
//CHECK-NEXT:                                  const dsv4::bf16 *__restrict__ cos_sin_cache,
//CHECK-NEXT:                                  const int *__restrict__ slot_mapping,
//CHECK-NEXT:                                  unsigned char *__restrict__ kv_cache,
//CHECK-NEXT:                                  int rows,
//CHECK-NEXT:                                  int positions_extent,
//CHECK-NEXT:                                  int kv_cache_pages) {
//CHECK-NEXT:  constexpr int kKvCachePageBytes = 73728;
//CHECK-NEXT:  constexpr int kKvCacheRowBytes = 1152;
//CHECK-NEXT:  constexpr int kKvCacheKPeOffset = 1024;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 8;
//CHECK-NEXT:  const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const auto kv_c_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 16, 4>, 0, dsv4::evict_last>(&kv_c[(long long)row * 512 + lane * 4], 64);
//CHECK-NEXT:    const long long offset = (long long)row * 64;
//CHECK-NEXT:    const auto x_first = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(&k_pe[offset + lane * 4]);
//CHECK-NEXT:    const auto x_second = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(&k_pe[offset + 32 + lane * 4]);
//CHECK-NEXT:    const int position = dsv4::load<int>(&positions[row]);
//CHECK-NEXT:    const bool in_table = position >= 0 && position < positions_extent;
//CHECK-NEXT:    const long long offset_1 = (long long)position * 64;
//CHECK-NEXT:    const int entry = dsv4::load<int>(&slot_mapping[row]);
//CHECK-NEXT:    const int page = entry / 64;
//CHECK-NEXT:    const int slot = entry % 64;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(entry >= 0, page, kv_cache_pages);
//CHECK-NEXT:    const long long page_start = (long long)page * kKvCachePageBytes;
//CHECK-NEXT:    const auto cosines = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset_1 + lane * 4]);
//CHECK-NEXT:    const auto sines = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset_1 + 32 + lane * 4]);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const long long entry_1 = page_start + slot * kKvCacheRowBytes;
//CHECK-NEXT:    const auto value = dsv4::convert<float>(x_first);
//CHECK-NEXT:    const auto value_1 = dsv4::convert<float>(cosines);
//CHECK-NEXT:    const auto value_2 = dsv4::convert<float>(x_second);
//CHECK-NEXT:    const auto value_3 = dsv4::convert<float>(sines);
//CHECK-NEXT:    const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(value * value_1 - value_2 * value_3) : x_first;
//CHECK-NEXT:    const auto rotated_1 = in_table ? dsv4::convert<dsv4::bf16>(value * value_3 + value_2 * value_1) : x_second;
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&kv_cache[entry_1 + lane * 8], kv_c_1, 64);
//CHECK-NEXT:      dsv4::store(&kv_cache[entry_1 + kKvCacheKPeOffset + lane * 8], dsv4::join(rotated, rotated_1), 64);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
