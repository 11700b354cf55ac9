// Heads filled up with zeros, normalised and rotated, with one position per token; then a writer of keys.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x <v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2>

func.func @qnorm_rope_kv_rope_quant_insert(
    %q_in: tensor<?x16x512xbf16> {dsv4.name = "q_in", dsv4.dims = ["tokens", "", ""]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %k_cache: !cache {dsv4.name = "k_cache"},
    %slot_mapping: tensor<?xi32> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]},
    %position_ids: tensor<?xi32> {dsv4.name = "position_ids", dsv4.dims = ["tokens"]},
    %cos_sin_cache: tensor<?x64xf32> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %q_out: tensor<?x64x512xbf16> {dsv4.name = "q_out", dsv4.dims = ["tokens", "", ""]})
    -> tensor<?x64x512xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x512xbf16>
  %row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %data = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>

  %padded = dsv4.pad_rows %q_in outs(%heads : tensor<?x64x512xbf16>) : tensor<?x16x512xbf16>
  %normed = dsv4.rms_norm %padded outs(%heads : tensor<?x64x512xbf16>) {eps = 1.0e-06}
      : tensor<?x64x512xbf16>
  %q = dsv4.rope %normed table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi32>) outs(%q_out : tensor<?x64x512xbf16>)
      : tensor<?x64x512xbf16>

  %rotated = dsv4.rope %kv table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi32>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%data, %scale : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %k_cache[%slot_mapping] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return %q : tensor<?x64x512xbf16>
}

// The whole text.
//     CHECK:// part 1 of 2: dsv4.pad_rows of bf16 to bf16, dsv4.rms_norm of bf16 to bf16, dsv4.rope of bf16 to bf16
//CHECK-NEXT://   sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:// part 2 of 2: dsv4.rope of bf16 to bf16, dsv4.quantize of bf16 to f8E4M3FN, dsv4.paged_append of 64 x v4_584
//CHECK-NEXT://   sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:// tokens = ?, positions = ?, q_out.1 = 64
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:qnorm_rope_kv_rope_quant_insert(const dsv4::bf16 *__restrict__ q_in,
//CHECK-NEXT:                                const dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:                                unsigned char *__restrict__ k_cache,
//CHECK-NEXT:                                const int *__restrict__ slot_mapping,
//CHECK-NEXT:                                const int *__restrict__ position_ids,
//CHECK-NEXT:                                const float *__restrict__ cos_sin_cache,
//CHECK-NEXT:                                dsv4::bf16 *__restrict__ q_out,
//CHECK-NEXT:                                int kv_rows,
//CHECK-NEXT:                                int k_cache_pages,
//CHECK-NEXT:                                int positions,
//CHECK-NEXT:                                int q_out_rows,
//CHECK-NEXT:                                int q_out_blocks) {
//CHECK-NEXT:  constexpr int kKCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kKCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kKCacheRopeOffset = 448;
//CHECK-NEXT:  constexpr int kKCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kKCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  if (blockIdx.x < q_out_blocks) {
//CHECK-NEXT:    const int lane = threadIdx.x % 8;
//CHECK-NEXT:    const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:    if (row < q_out_rows) {
//CHECK-NEXT:      const int head = row % 64u;
//CHECK-NEXT:      const int token = row / 64u;
//CHECK-NEXT:      const int position = dsv4::load<int>(&position_ids[token]);
//CHECK-NEXT:      const bool in_table = position >= 0 && position < positions;
//CHECK-NEXT:      const long long offset = (long long)position * 64;
//CHECK-NEXT:      const long long row_start = (long long)row * 512;
//CHECK-NEXT:      const auto x = dsv4::load_if<dsv4::Tile<dsv4::bf16, 8, 8>, 0, dsv4::evict_last>(head < 16, &q_in[(long long)token * 8192 + head * 512 + lane * 8], 128);
//CHECK-NEXT:      const auto cosines = dsv4::load_if<dsv4::Tile<float, 1, 4>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset + lane * 4]);
//CHECK-NEXT:      const auto sines = dsv4::load_if<dsv4::Tile<float, 1, 4>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset + 32 + lane * 4]);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      const auto value = dsv4::convert<float>(x);
//CHECK-NEXT:      const auto square_sum = dsv4::sum<8, 512>(value * value);
//CHECK-NEXT:      const auto inverse_rms = 1.0f / dsv4::sqrt(square_sum * 0.001953125f + 1e-06f);
//CHECK-NEXT:      const auto normed = dsv4::convert<dsv4::bf16>(value * dsv4::repeat<8, 8>(inverse_rms));
//CHECK-NEXT:      dsv4::store(&q_out[row_start + lane * 8], dsv4::steps<0, 7>(normed), 128);
//CHECK-NEXT:      const auto value_1 = dsv4::steps<7, 1>(normed);
//CHECK-NEXT:      const auto value_2 = dsv4::convert<float>(value_1);
//CHECK-NEXT:      const auto value_3 = dsv4::evens(value_2);
//CHECK-NEXT:      const auto value_4 = dsv4::odds(value_2);
//CHECK-NEXT:      const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(dsv4::interleave(value_3 * cosines - value_4 * sines, value_3 * sines + value_4 * cosines)) : value_1;
//CHECK-NEXT:      dsv4::store(&q_out[row_start + 448 + lane * 8], rotated);
//CHECK-NEXT:    }
//CHECK-NEXT:  } else {
//CHECK-NEXT:    const int block = blockIdx.x - q_out_blocks;
//CHECK-NEXT:    const int lane = threadIdx.x % 16;
//CHECK-NEXT:    const int row = block * 8 + threadIdx.x / 16;
//CHECK-NEXT:    if (row < kv_rows) {
//CHECK-NEXT:      const long long offset = (long long)row * 512;
//CHECK-NEXT:      const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 7, 4>, 0, dsv4::evict_last>(&kv[offset + lane * 4], 128);
//CHECK-NEXT:      const auto x_rope = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(&kv[offset + 448 + lane * 4]);
//CHECK-NEXT:      const int position = dsv4::load<int>(&position_ids[row]);
//CHECK-NEXT:      const bool in_table = position >= 0 && position < positions;
//CHECK-NEXT:      const long long offset_1 = (long long)position * 64;
//CHECK-NEXT:      const int entry = dsv4::load<int>(&slot_mapping[row]);
//CHECK-NEXT:      const int page = entry / 64;
//CHECK-NEXT:      const int slot = entry % 64;
//CHECK-NEXT:      const bool valid = dsv4::in_pool(entry >= 0, page, k_cache_pages);
//CHECK-NEXT:      const long long page_start = (long long)page * kKCachePageBytes;
//CHECK-NEXT:      const auto cosines = dsv4::load_if<dsv4::Tile<float, 1, 2>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset_1 + lane * 2]);
//CHECK-NEXT:      const auto sines = dsv4::load_if<dsv4::Tile<float, 1, 2>, 0, dsv4::evict_last>(in_table, &cos_sin_cache[offset_1 + 32 + lane * 2]);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      const long long entry_1 = page_start + slot * kKCacheRowBytes;
//CHECK-NEXT:      const auto amax = dsv4::max_abs<16, 64>(x);
//CHECK-NEXT:      const auto scales = dsv4::encode_up<dsv4::ue8m0>(dsv4::max(amax / 448.0f, 0.0001f));
//CHECK-NEXT:      const auto payload = dsv4::quantize<dsv4::e4m3>(x, scales);
//CHECK-NEXT:      const auto value = dsv4::convert<float>(x_rope);
//CHECK-NEXT:      const auto value_1 = dsv4::evens(value);
//CHECK-NEXT:      const auto value_2 = dsv4::odds(value);
//CHECK-NEXT:      const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(dsv4::interleave(value_1 * cosines - value_2 * sines, value_1 * sines + value_2 * cosines)) : x_rope;
//CHECK-NEXT:      if (valid) {
//CHECK-NEXT:        dsv4::store(&k_cache[entry_1 + lane * 4], payload, 64);
//CHECK-NEXT:        dsv4::store(&k_cache[entry_1 + kKCacheRopeOffset + lane * 8], rotated);
//CHECK-NEXT:        if (lane == 0) {
//CHECK-NEXT:          dsv4::store(&k_cache[page_start + slot * kKCacheNopeScaleBytes + kKCacheNopeScaleOffset], dsv4::pad<8>(scales));
//CHECK-NEXT:        }
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
