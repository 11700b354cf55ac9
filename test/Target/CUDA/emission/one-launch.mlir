// Two kernels in one launch: the heads of queries, and the entries of keys. The first blocks have rows of the first.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline | FileCheck %s --check-prefix=PLAN
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline=merge-kernels=false | FileCheck %s --check-prefix=TWO
// NVRTC: sm_80 sm_90a sm_100a sm_120a

// PLAN: dsv4.launch @qnorm_rope_kv_rope_quant_insert_module::@qnorm_rope_kv_rope_quant_insert grid ["ceildiv(tokens * 64, 16) + ceildiv(tokens, 8)", "1", "1"] block [128, 1, 1] requires "tokens * 64 <= 2147483632 && tokens <= 2147483640" pdl parameters ["read(q, 16)", "read(q_position, 4)", "read(kv, 16)", "read(position, 4)", "read(slots, 4)", "read(angles, 16)", "write(q_out, 16)", "write(cache, 16)", "i32(tokens * 64)", "i32(ceildiv(tokens * 64, 16))", "i32(tokens)", "i32(positions)", "i32(cache.pages)"]
// PLAN-NOT: dsv4.launch
// TWO: dsv4.launch @qnorm_rope_kv_rope_quant_insert_0_module::@qnorm_rope_kv_rope_quant_insert_0 grid ["ceildiv(tokens * 64, 16)", "1", "1"]
// TWO: dsv4.launch @qnorm_rope_kv_rope_quant_insert_1_module::@qnorm_rope_kv_rope_quant_insert_1 grid ["ceildiv(tokens, 8)", "1", "1"]

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @qnorm_rope_kv_rope_quant_insert(
    %q: tensor<?x64x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %q_position: tensor<?x64xi32> {dsv4.name = "q_position", dsv4.dims = ["tokens", ""]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %q_out: tensor<?x64x512xbf16> {dsv4.name = "q_out", dsv4.dims = ["tokens", "", ""]},
    %cache: !cache {dsv4.name = "cache"}) -> tensor<?x64x512xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q, %c0 : tensor<?x64x512xbf16>
  %q_row = tensor.empty(%tokens) : tensor<?x64x512xbf16>
  %kv_row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>

  %normed = dsv4.rms_norm %q outs(%q_row : tensor<?x64x512xbf16>) {eps = 1.0e-06 : f32}
      : tensor<?x64x512xbf16>
  %query = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%q_position : tensor<?x64xi32>)
      outs(%q_out : tensor<?x64x512xbf16>) : tensor<?x64x512xbf16>

  %rotated = dsv4.rope %kv table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%kv_row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slots] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return %query : tensor<?x64x512xbf16>
}

// The whole text.
//     CHECK:// part 1 of 2: dsv4.rms_norm of bf16 to bf16, dsv4.rope of bf16 to bf16
//CHECK-NEXT://   sm_90a: 128 threads, 8 lanes per row, vectors of 8 elements, evict_last loads, programmatic launch
//CHECK-NEXT:// part 2 of 2: dsv4.rope of bf16 to bf16, dsv4.quantize of bf16 to f8E4M3FN, dsv4.paged_append of 64 x v4_584
//CHECK-NEXT://   sm_90a: 128 threads, 16 lanes per row, vectors of 4 elements, evict_last loads, programmatic launch
//CHECK-NEXT:// tokens = ?, q.1 = 64, positions = ?
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:qnorm_rope_kv_rope_quant_insert(const dsv4::bf16 *__restrict__ q,
//CHECK-NEXT:                                const int *__restrict__ q_position,
//CHECK-NEXT:                                const dsv4::bf16 *__restrict__ kv,
//CHECK-NEXT:                                const int *__restrict__ position,
//CHECK-NEXT:                                const int *__restrict__ slots,
//CHECK-NEXT:                                const float *__restrict__ angles,
//CHECK-NEXT:                                dsv4::bf16 *__restrict__ q_out,
//CHECK-NEXT:                                unsigned char *__restrict__ cache,
//CHECK-NEXT:                                int q_rows,
//CHECK-NEXT:                                int q_blocks,
//CHECK-NEXT:                                int kv_rows,
//CHECK-NEXT:                                int positions,
//CHECK-NEXT:                                int cache_pages) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 448;
//CHECK-NEXT:  constexpr int kCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  if (blockIdx.x < q_blocks) {
//CHECK-NEXT:    const int lane = threadIdx.x % 8;
//CHECK-NEXT:    const int row = blockIdx.x * 16 + threadIdx.x / 8;
//CHECK-NEXT:    if (row < q_rows) {
//CHECK-NEXT:      const long long offset = (long long)row * 512;
//CHECK-NEXT:      const long long offset_1 = offset + lane * 8;
//CHECK-NEXT:      const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 8>, 0, dsv4::evict_last>(&q[offset_1], 128);
//CHECK-NEXT:      const int position_1 = dsv4::load<int>(&q_position[row]);
//CHECK-NEXT:      const bool in_table = position_1 >= 0 && position_1 < positions;
//CHECK-NEXT:      const long long offset_2 = (long long)position_1 * 64;
//CHECK-NEXT:      const auto cosines = dsv4::load_if<dsv4::Tile<float, 1, 4>, 0, dsv4::evict_last>(in_table, &angles[offset_2 + lane * 4]);
//CHECK-NEXT:      const auto sines = dsv4::load_if<dsv4::Tile<float, 1, 4>, 0, dsv4::evict_last>(in_table, &angles[offset_2 + 32 + lane * 4]);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      const auto value = dsv4::convert<float>(x);
//CHECK-NEXT:      const auto square_sum = dsv4::sum<8, 512>(value * value);
//CHECK-NEXT:      const auto inverse_rms = 1.0f / dsv4::sqrt(square_sum * 0.001953125f + 1e-06f);
//CHECK-NEXT:      const auto normed = dsv4::convert<dsv4::bf16>(value * dsv4::repeat<8, 8>(inverse_rms));
//CHECK-NEXT:      dsv4::store(&q_out[offset_1], dsv4::steps<0, 7>(normed), 128);
//CHECK-NEXT:      const auto value_1 = dsv4::steps<7, 1>(normed);
//CHECK-NEXT:      const auto value_2 = dsv4::convert<float>(value_1);
//CHECK-NEXT:      const auto value_3 = dsv4::evens(value_2);
//CHECK-NEXT:      const auto value_4 = dsv4::odds(value_2);
//CHECK-NEXT:      const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(dsv4::interleave(value_3 * cosines - value_4 * sines, value_3 * sines + value_4 * cosines)) : value_1;
//CHECK-NEXT:      dsv4::store(&q_out[offset + 448 + lane * 8], rotated);
//CHECK-NEXT:    }
//CHECK-NEXT:  } else {
//CHECK-NEXT:    const int block = blockIdx.x - q_blocks;
//CHECK-NEXT:    const int lane = threadIdx.x % 16;
//CHECK-NEXT:    const int row = block * 8 + threadIdx.x / 16;
//CHECK-NEXT:    if (row < kv_rows) {
//CHECK-NEXT:      const long long offset = (long long)row * 512;
//CHECK-NEXT:      const auto x = dsv4::load<dsv4::Tile<dsv4::bf16, 7, 4>, 0, dsv4::evict_last>(&kv[offset + lane * 4], 128);
//CHECK-NEXT:      const auto x_rope = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 4>, 0, dsv4::evict_last>(&kv[offset + 448 + lane * 4]);
//CHECK-NEXT:      const int position_1 = dsv4::load<int>(&position[row]);
//CHECK-NEXT:      const bool in_table = position_1 >= 0 && position_1 < positions;
//CHECK-NEXT:      const long long offset_1 = (long long)position_1 * 64;
//CHECK-NEXT:      const int entry = dsv4::load<int>(&slots[row]);
//CHECK-NEXT:      const int page = entry / 64;
//CHECK-NEXT:      const int slot = entry % 64;
//CHECK-NEXT:      const bool valid = dsv4::in_pool(entry >= 0, page, cache_pages);
//CHECK-NEXT:      const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:      const auto cosines = dsv4::load_if<dsv4::Tile<float, 1, 2>, 0, dsv4::evict_last>(in_table, &angles[offset_1 + lane * 2]);
//CHECK-NEXT:      const auto sines = dsv4::load_if<dsv4::Tile<float, 1, 2>, 0, dsv4::evict_last>(in_table, &angles[offset_1 + 32 + lane * 2]);
//CHECK-NEXT:      dsv4::launch_dependents();
//CHECK-NEXT:      const long long entry_1 = page_start + slot * kCacheRowBytes;
//CHECK-NEXT:      const auto amax = dsv4::max_abs<16, 64>(x);
//CHECK-NEXT:      const auto scales = dsv4::encode_up<dsv4::ue8m0>(dsv4::max(amax, 0.0001f) * 0.002232143f);
//CHECK-NEXT:      const auto payload = dsv4::quantize<dsv4::e4m3>(x, scales);
//CHECK-NEXT:      const auto value = dsv4::convert<float>(x_rope);
//CHECK-NEXT:      const auto value_1 = dsv4::evens(value);
//CHECK-NEXT:      const auto value_2 = dsv4::odds(value);
//CHECK-NEXT:      const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(dsv4::interleave(value_1 * cosines - value_2 * sines, value_1 * sines + value_2 * cosines)) : x_rope;
//CHECK-NEXT:      if (valid) {
//CHECK-NEXT:        dsv4::store(&cache[entry_1 + lane * 4], payload, 64);
//CHECK-NEXT:        dsv4::store(&cache[entry_1 + kCacheRopeOffset + lane * 8], rotated);
//CHECK-NEXT:        if (lane == 0) {
//CHECK-NEXT:          dsv4::store(&cache[page_start + slot * kCacheNopeScaleBytes + kCacheNopeScaleOffset], dsv4::pad<8>(scales));
//CHECK-NEXT:        }
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
