// Keys of the indexer: entries of 128 channels, rotated, transformed and stored as MXFP4. The state
// is bf16, in pages that a table names, and has the bias in its scores. Two entries per block.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=64,pdl=true,parts=[#dsv4.rows<lanes=32,vector=2>,#dsv4.window<elements=2,rows=2>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x #dsv4.record<index_mxfp4_68>>
!state = !dsv4.cache<16 x <[<"values" : 256 x bf16 in row>, <"scores" : 256 x bf16 in row>]>>
#fp4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
#recipe = #dsv4.quantizer<floor = 7.052966104933725e-38 : f32, rounding = up_pow2>

func.func @compress_index(
    %values: tensor<?x256xbf16> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x256xbf16> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<4x256xf32> {dsv4.name = "bias"},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %weight: tensor<128xbf16> {dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["entries"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["entries"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "table_pages"]},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %row = tensor.empty(%entries) : tensor<?x128xbf16>
  %payload_of_row = tensor.empty(%entries) : tensor<?x128xf4E2M1FN>
  %scales_of_row = tensor.empty(%entries) : tensor<?x4xf8E8M0FNU>

  %pooled = dsv4.compress %values, %scores window 4 overlap plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<4x256xf32>) state(%state : !state) biased
      pages(%table : tensor<?x?xi32>)
      outs(%row : tensor<?x128xbf16>) : tensor<?x256xbf16>, tensor<?x256xbf16>
  %normed = dsv4.rms_norm %pooled weight(%weight : tensor<128xbf16>)
      outs(%row : tensor<?x128xbf16>) {eps = 1.0e-06 : f32} : tensor<?x128xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x128xbf16>) : tensor<?x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%row : tensor<?x128xbf16>)
      {scale = 0.0883883461 : f32} : tensor<?x128xbf16>
  %payload, %scales = dsv4.quantize %transformed
      outs(%payload_of_row, %scales_of_row : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      {format = #fp4, recipe = #recipe} : tensor<?x128xbf16>
  dsv4.paged_append %cache[%slot] unique
      fields(%payload, %scales : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      : !cache, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.compress of bf16 to bf16, dsv4.rms_norm of bf16 to bf16, dsv4.rope of bf16 to bf16, dsv4.hadamard of bf16 to bf16, dsv4.quantize of bf16 to f4E2M1FN, dsv4.paged_append of 64 x index_mxfp4_68
//CHECK-NEXT:// tokens = ?, entries = ?, positions = ?, requests = ?, table_pages = ?
//CHECK-NEXT:// sm_90a: 64 threads, 32 lanes per row, vectors of 2 elements, 2 rows per block in vectors of 2 elements per thread, programmatic launch
//CHECK-NEXT:struct CompressIndexConfig : dsv4::WindowDefaults {
//CHECK-NEXT:  static constexpr int members = 8, rows = 2, threads = 64, lanes = 32;
//CHECK-NEXT:  using Part = dsv4::Tile<float, 1, 2>;
//CHECK-NEXT:  using Result = dsv4::Tile<float, 2, 2>;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(64)
//CHECK-NEXT:compress_index(const dsv4::bf16 *__restrict__ values,
//CHECK-NEXT:               const dsv4::bf16 *__restrict__ scores,
//CHECK-NEXT:               const float *__restrict__ bias,
//CHECK-NEXT:               const int *__restrict__ plan,
//CHECK-NEXT:               const dsv4::bf16 *__restrict__ weight,
//CHECK-NEXT:               const float *__restrict__ angles,
//CHECK-NEXT:               const int *__restrict__ position,
//CHECK-NEXT:               const int *__restrict__ slot,
//CHECK-NEXT:               const int *__restrict__ table,
//CHECK-NEXT:               const unsigned char *__restrict__ state,
//CHECK-NEXT:               unsigned char *__restrict__ cache,
//CHECK-NEXT:               int tokens,
//CHECK-NEXT:               int rows,
//CHECK-NEXT:               int positions,
//CHECK-NEXT:               int requests,
//CHECK-NEXT:               int table_pages,
//CHECK-NEXT:               int state_pages,
//CHECK-NEXT:               int cache_pages) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 4352;
//CHECK-NEXT:  constexpr int kStatePageBytes = 16384;
//CHECK-NEXT:  constexpr int kStateRowBytes = 1024;
//CHECK-NEXT:  constexpr int kStateScoresOffset = 512;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 64;
//CHECK-NEXT:  constexpr int kCacheKeyScaleBytes = 4;
//CHECK-NEXT:  constexpr int kCacheKeyScaleOffset = 4096;
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const int first_row = blockIdx.x * 2;
//CHECK-NEXT:  const int row = first_row + threadIdx.x / 32;
//CHECK-NEXT:  const int read_row = min(row, rows - 1);
//CHECK-NEXT:  const bool holds_row = threadIdx.x < 64;
//CHECK-NEXT:  dsv4::prefetch_l2(&plan[(long long)read_row * 4]);
//CHECK-NEXT:  dsv4::prefetch_l2(&position[read_row]);
//CHECK-NEXT:  dsv4::prefetch_l2(&slot[read_row]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const auto weight_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 2, 2>>(&weight[lane * 2], 128);
//CHECK-NEXT:  const int position_1 = dsv4::load<int>(&position[read_row]);
//CHECK-NEXT:  const bool in_table = position_1 >= 0 && position_1 < positions;
//CHECK-NEXT:  const long long offset = (long long)position_1 * 64;
//CHECK-NEXT:  const int entry = dsv4::load<int>(&slot[read_row]);
//CHECK-NEXT:  const int page = entry / 64;
//CHECK-NEXT:  const int slot_1 = entry % 64;
//CHECK-NEXT:  const bool valid = dsv4::in_pool(entry >= 0, page, cache_pages);
//CHECK-NEXT:  const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:  const auto cosines = dsv4::load_if<dsv4::Tile<float, 1, 1>>(in_table, &angles[offset + lane]);
//CHECK-NEXT:  const auto sines = dsv4::load_if<dsv4::Tile<float, 1, 1>>(in_table, &angles[offset + 32 + lane]);
//CHECK-NEXT:  const auto pooled = dsv4::window_reduce<CompressIndexConfig>(
//CHECK-NEXT:    first_row, rows,
//CHECK-NEXT:    [&](int member, int block_lane) {
//CHECK-NEXT:      const int residue = member % 4u;
//CHECK-NEXT:      const auto bias_1 = dsv4::load<dsv4::Tile<float, 1, 2>>(&bias[(long long)(residue * 256 + (member < 4 ? 0 : 128)) + block_lane * 2]);
//CHECK-NEXT:      return bias_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int entry_1, auto reduce_window) {
//CHECK-NEXT:      const long long offset_1 = (long long)entry_1 * 4;
//CHECK-NEXT:      const int window_start = dsv4::load<int>(&plan[offset_1]);
//CHECK-NEXT:      const int request = dsv4::load<int>(&plan[offset_1 + 1]);
//CHECK-NEXT:      const int first_position = dsv4::load<int>(&plan[offset_1 + 2]);
//CHECK-NEXT:      const int first_token = dsv4::load<int>(&plan[offset_1 + 3]);
//CHECK-NEXT:      const bool is_entry = window_start >= 0 && window_start <= 2147479552;
//CHECK-NEXT:      const int first_at = min(max(window_start, -1), 2147479552) - 4;
//CHECK-NEXT:      const long long shift = (long long)first_token - first_position;
//CHECK-NEXT:      const long long first_in_launch = first_at + shift;
//CHECK-NEXT:      const bool all_in_launch = is_entry && first_at >= 0 && first_at >= first_position && first_in_launch >= 0 && first_in_launch + 7 < tokens;
//CHECK-NEXT:      const long long launch_start = (long long)(int)first_in_launch * 256;
//CHECK-NEXT:      reduce_window(
//CHECK-NEXT:        all_in_launch,
//CHECK-NEXT:        [&](int member_1, int block_lane_1) {
//CHECK-NEXT:          const auto scores_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 2>>(&scores[launch_start + member_1 * 256 + (member_1 < 4 ? 0 : 128) + block_lane_1 * 2]);
//CHECK-NEXT:          return dsv4::convert<float>(scores_1);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_2, int block_lane_2) {
//CHECK-NEXT:          const auto values_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 1, 2>>(&values[launch_start + member_2 * 256 + (member_2 < 4 ? 0 : 128) + block_lane_2 * 2]);
//CHECK-NEXT:          return dsv4::convert<float>(values_1);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_3) {
//CHECK-NEXT:          const int offset_2 = member_3 < 4 ? 0 : 128;
//CHECK-NEXT:          const int at = first_at + member_3;
//CHECK-NEXT:          const long long token = at + shift;
//CHECK-NEXT:          const bool in_launch_1 = at >= first_position;
//CHECK-NEXT:          const int offset_3 = max(at, 0);
//CHECK-NEXT:          const bool condition = request >= 0 && request < requests;
//CHECK-NEXT:          const int logical_page = offset_3 / 16u;
//CHECK-NEXT:          const bool in_table_1 = condition && logical_page < table_pages;
//CHECK-NEXT:          const int page_1 = in_table_1 ? dsv4::load<int>(&table[(long long)request * table_pages + logical_page]) : -1;
//CHECK-NEXT:          const int slot_2 = offset_3 % 16u;
//CHECK-NEXT:          const bool valid_1 = condition && page_1 >= 0 && page_1 < state_pages;
//CHECK-NEXT:          const long long page_start_1 = (long long)page_1 * kStatePageBytes;
//CHECK-NEXT:          const bool is_there_1 = is_entry && at >= 0 && (in_launch_1 ? token >= 0 && token < tokens : valid_1);
//CHECK-NEXT:          const long long offset_4 = launch_start + member_3 * 256 + offset_2;
//CHECK-NEXT:          const long long entry_2 = page_start_1 + slot_2 * kStateRowBytes;
//CHECK-NEXT:          const unsigned char *scores_memory_1 = in_launch_1 ? (const unsigned char *)&scores[offset_4] : &state[entry_2 + kStateScoresOffset + offset_2 * 2];
//CHECK-NEXT:          const unsigned char *values_memory_1 = in_launch_1 ? (const unsigned char *)&values[offset_4] : &state[entry_2 + offset_2 * 2];
//CHECK-NEXT:          return dsv4::addresses(scores_memory_1, values_memory_1, is_there_1, in_launch_1);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_4, int block_lane_3, const unsigned char *scores_memory, const unsigned char *values_memory, bool is_there, bool in_launch, auto &row_scores, auto &row_values) {
//CHECK-NEXT:          const int residue_1 = member_4 % 4u;
//CHECK-NEXT:          const int offset_5 = block_lane_3 * 4;
//CHECK-NEXT:          const auto scores_2 = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 2>>(is_there, &scores_memory[offset_5]);
//CHECK-NEXT:          const auto bias_2 = dsv4::load_if<dsv4::Tile<float, 1, 2>>(in_launch, &bias[(long long)(residue_1 * 256 + (member_4 < 4 ? 0 : 128)) + block_lane_3 * 2]);
//CHECK-NEXT:          const auto values_2 = dsv4::load_if<dsv4::Tile<dsv4::bf16, 1, 2>>(is_there, &values_memory[offset_5]);
//CHECK-NEXT:          row_scores = dsv4::convert<float>(scores_2) + bias_2;
//CHECK-NEXT:          row_values = dsv4::convert<float>(values_2);
//CHECK-NEXT:          return is_there;
//CHECK-NEXT:        });
//CHECK-NEXT:    });
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  if (holds_row && row < rows) {
//CHECK-NEXT:    const long long entry_3 = page_start + slot_1 * kCacheRowBytes;
//CHECK-NEXT:    const auto value = dsv4::convert<float>(dsv4::convert<dsv4::bf16>(pooled));
//CHECK-NEXT:    const auto square_sum = dsv4::sum<32, 128>(value * value);
//CHECK-NEXT:    const auto inverse_rms = 1.0f / dsv4::sqrt(square_sum * 0.0078125f + 1e-06f);
//CHECK-NEXT:    const auto normed = dsv4::convert<dsv4::bf16>(value * dsv4::repeat<2, 2>(inverse_rms) * dsv4::convert<float>(weight_1));
//CHECK-NEXT:    const auto value_1 = dsv4::steps<1, 1>(normed);
//CHECK-NEXT:    const auto value_2 = dsv4::convert<float>(value_1);
//CHECK-NEXT:    const auto value_3 = dsv4::evens(value_2);
//CHECK-NEXT:    const auto value_4 = dsv4::odds(value_2);
//CHECK-NEXT:    const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(dsv4::interleave(value_3 * cosines - value_4 * sines, value_3 * sines + value_4 * cosines)) : value_1;
//CHECK-NEXT:    const auto transformed = dsv4::hadamard<32>(dsv4::convert<float>(dsv4::join(dsv4::steps<0, 1>(normed), rotated)));
//CHECK-NEXT:    const auto value_5 = dsv4::convert<dsv4::bf16>(transformed * 0.088388346f);
//CHECK-NEXT:    const auto amax = dsv4::max_abs_nan<32, 32>(value_5);
//CHECK-NEXT:    const auto scales = dsv4::encode_up<dsv4::ue8m0>(dsv4::max(amax, 7.052966e-38f) / 6.0f + amax * 0.0f);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e2m1>(value_5, scales);
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&cache[entry_3 + lane], payload, 32);
//CHECK-NEXT:      const int quotient = lane / 16u;
//CHECK-NEXT:      const int residue_2 = lane % 16u;
//CHECK-NEXT:      if (residue_2 == 0) {
//CHECK-NEXT:        dsv4::store(&cache[page_start + slot_1 * kCacheKeyScaleBytes + kCacheKeyScaleOffset + quotient], scales, 2);
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
