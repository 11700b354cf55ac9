// A decode step of CSA's compressor: one kernel from the tokens, of the launch or of the ring, to
// the record. A block of threads has one entry.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=256,pdl=true,parts=[#dsv4.rows<lanes=32,vector=2>,#dsv4.window<elements=2>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!state = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @compress_csa(
    %values: tensor<?x1024xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x1024xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<4x1024xf32> {dsv4.name = "bias"},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %weight: tensor<512xbf16> {dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["entries"]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["entries"]},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %row = tensor.empty(%entries) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%entries) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%entries) : tensor<?x7xf8E8M0FNU>

  %pooled = dsv4.compress %values, %scores window 4 overlap plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<4x1024xf32>) state(%state : !state) ring 8
      outs(%row : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %normed = dsv4.rms_norm %pooled weight(%weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slot] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.compress of f32 to bf16, dsv4.rms_norm of bf16 to bf16, dsv4.rope of bf16 to bf16, dsv4.quantize of bf16 to f8E4M3FN, dsv4.paged_append of 64 x v4_584
//CHECK-NEXT:// tokens = ?, entries = ?, positions = ?
//CHECK-NEXT:// sm_90a: 256 threads, 32 lanes per row, vectors of 2 elements, 1 row per block in vectors of 2 elements per thread, programmatic launch
//CHECK-NEXT:struct CompressCsaConfig : dsv4::WindowDefaults {
//CHECK-NEXT:  static constexpr int members = 8, rows = 1, threads = 256, lanes = 32;
//CHECK-NEXT:  using Part = dsv4::Tile<float, 1, 2>;
//CHECK-NEXT:  using Result = dsv4::Tile<float, 8, 2>;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(256)
//CHECK-NEXT:compress_csa(const float *__restrict__ values,
//CHECK-NEXT:             const float *__restrict__ scores,
//CHECK-NEXT:             const float *__restrict__ bias,
//CHECK-NEXT:             const int *__restrict__ plan,
//CHECK-NEXT:             const dsv4::bf16 *__restrict__ weight,
//CHECK-NEXT:             const float *__restrict__ angles,
//CHECK-NEXT:             const int *__restrict__ position,
//CHECK-NEXT:             const int *__restrict__ slot,
//CHECK-NEXT:             const unsigned char *__restrict__ state,
//CHECK-NEXT:             unsigned char *__restrict__ cache,
//CHECK-NEXT:             int tokens,
//CHECK-NEXT:             int rows,
//CHECK-NEXT:             int positions,
//CHECK-NEXT:             int state_pages,
//CHECK-NEXT:             int cache_pages) {
//CHECK-NEXT:  constexpr int kCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kStatePageBytes = 65536;
//CHECK-NEXT:  constexpr int kStateRowBytes = 8192;
//CHECK-NEXT:  constexpr int kStateScoresOffset = 4096;
//CHECK-NEXT:  constexpr int kCacheRowBytes = 576;
//CHECK-NEXT:  constexpr int kCacheRopeOffset = 448;
//CHECK-NEXT:  constexpr int kCacheNopeScaleBytes = 8;
//CHECK-NEXT:  constexpr int kCacheNopeScaleOffset = 36864;
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const bool holds_row = threadIdx.x < 32;
//CHECK-NEXT:  const long long offset = (long long)blockIdx.x * 4;
//CHECK-NEXT:  dsv4::prefetch_l2_if(holds_row, &plan[offset]);
//CHECK-NEXT:  dsv4::prefetch_l2_if(holds_row, &position[blockIdx.x]);
//CHECK-NEXT:  dsv4::prefetch_l2_if(holds_row, &slot[blockIdx.x]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int offset_1 = lane * 2;
//CHECK-NEXT:  const auto weight_1 = dsv4::load<dsv4::Tile<dsv4::bf16, 8, 2>>(&weight[offset_1], 128);
//CHECK-NEXT:  const int window_start = dsv4::load<int>(&plan[offset]);
//CHECK-NEXT:  const int request = dsv4::load<int>(&plan[offset + 1]);
//CHECK-NEXT:  const int first_position = dsv4::load<int>(&plan[offset + 2]);
//CHECK-NEXT:  const int first_token = dsv4::load<int>(&plan[offset + 3]);
//CHECK-NEXT:  const bool is_entry = window_start >= 0 && window_start <= 2147479552;
//CHECK-NEXT:  const int first_at = min(max(window_start, -1), 2147479552) - 4;
//CHECK-NEXT:  const long long shift = (long long)first_token - first_position;
//CHECK-NEXT:  const long long first_in_launch = first_at + shift;
//CHECK-NEXT:  const bool all_in_launch = is_entry && first_at >= 0 && first_at >= first_position && first_in_launch >= 0 && first_in_launch + 7 < tokens;
//CHECK-NEXT:  const long long launch_start = (long long)(int)first_in_launch * 1024;
//CHECK-NEXT:  const int position_1 = dsv4::load_if<int>(holds_row, &position[blockIdx.x]);
//CHECK-NEXT:  const bool in_table = position_1 >= 0 && position_1 < positions;
//CHECK-NEXT:  const long long offset_2 = (long long)position_1 * 64;
//CHECK-NEXT:  const int entry = dsv4::load_if<int>(holds_row, &slot[blockIdx.x]);
//CHECK-NEXT:  const int page = entry / 64;
//CHECK-NEXT:  const int slot_1 = entry % 64;
//CHECK-NEXT:  const bool valid = dsv4::in_pool(entry >= 0, page, cache_pages);
//CHECK-NEXT:  const long long page_start = (long long)page * kCachePageBytes;
//CHECK-NEXT:  const bool condition = holds_row && in_table;
//CHECK-NEXT:  const auto cosines = dsv4::load_if<dsv4::Tile<float, 1, 1>>(condition, &angles[offset_2 + lane]);
//CHECK-NEXT:  const auto sines = dsv4::load_if<dsv4::Tile<float, 1, 1>>(condition, &angles[offset_2 + 32 + lane]);
//CHECK-NEXT:  const auto pooled = dsv4::window_reduce<CompressCsaConfig>(
//CHECK-NEXT:    blockIdx.x, rows,
//CHECK-NEXT:    [&](int member, int block_lane) {
//CHECK-NEXT:      const int residue = member % 4u;
//CHECK-NEXT:      const auto bias_1 = dsv4::load<dsv4::Tile<float, 1, 2>>(&bias[(long long)(residue * 1024 + (member < 4 ? 0 : 512)) + block_lane * 2]);
//CHECK-NEXT:      return bias_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int entry_1, auto reduce_window) {
//CHECK-NEXT:      reduce_window(
//CHECK-NEXT:        all_in_launch,
//CHECK-NEXT:        [&](int member_1, int block_lane_1) {
//CHECK-NEXT:          const auto scores_1 = dsv4::load<dsv4::Tile<float, 1, 2>>(&scores[launch_start + member_1 * 1024 + (member_1 < 4 ? 0 : 512) + block_lane_1 * 2]);
//CHECK-NEXT:          return scores_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_2, int block_lane_2) {
//CHECK-NEXT:          const auto values_1 = dsv4::load<dsv4::Tile<float, 1, 2>>(&values[launch_start + member_2 * 1024 + (member_2 < 4 ? 0 : 512) + block_lane_2 * 2]);
//CHECK-NEXT:          return values_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_3) {
//CHECK-NEXT:          const int offset_3 = member_3 < 4 ? 0 : 512;
//CHECK-NEXT:          const int at = first_at + member_3;
//CHECK-NEXT:          const long long token = at + shift;
//CHECK-NEXT:          const bool in_launch = at >= first_position;
//CHECK-NEXT:          const int in_ring = max(at, 0) % 8u;
//CHECK-NEXT:          const int quotient = in_ring / 8u;
//CHECK-NEXT:          const int page_1 = request + quotient;
//CHECK-NEXT:          const int slot_2 = in_ring % 8u;
//CHECK-NEXT:          const bool valid_1 = request >= 0 && page_1 < state_pages;
//CHECK-NEXT:          const long long page_start_1 = (long long)page_1 * kStatePageBytes;
//CHECK-NEXT:          const bool is_there_1 = is_entry && at >= 0 && (in_launch ? token >= 0 && token < tokens : valid_1);
//CHECK-NEXT:          const long long offset_4 = launch_start + member_3 * 1024 + offset_3;
//CHECK-NEXT:          const long long entry_2 = page_start_1 + slot_2 * kStateRowBytes;
//CHECK-NEXT:          const unsigned char *scores_memory_1 = in_launch ? (const unsigned char *)&scores[offset_4] : &state[entry_2 + kStateScoresOffset + offset_3 * 4];
//CHECK-NEXT:          const unsigned char *values_memory_1 = in_launch ? (const unsigned char *)&values[offset_4] : &state[entry_2 + offset_3 * 4];
//CHECK-NEXT:          return dsv4::addresses(scores_memory_1, values_memory_1, is_there_1);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_4, int block_lane_3, const unsigned char *scores_memory, const unsigned char *values_memory, bool is_there, auto &row_scores, auto &row_values) {
//CHECK-NEXT:          const int residue_1 = member_4 % 4u;
//CHECK-NEXT:          const int offset_5 = block_lane_3 * 8;
//CHECK-NEXT:          const auto scores_2 = dsv4::load_if<dsv4::Tile<float, 1, 2>>(is_there, &scores_memory[offset_5]);
//CHECK-NEXT:          const auto bias_2 = dsv4::load<dsv4::Tile<float, 1, 2>>(&bias[(long long)(residue_1 * 1024 + (member_4 < 4 ? 0 : 512)) + block_lane_3 * 2]);
//CHECK-NEXT:          const auto values_2 = dsv4::load_if<dsv4::Tile<float, 1, 2>>(is_there, &values_memory[offset_5]);
//CHECK-NEXT:          row_scores = scores_2 + bias_2;
//CHECK-NEXT:          row_values = values_2;
//CHECK-NEXT:          return is_there;
//CHECK-NEXT:        });
//CHECK-NEXT:    });
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  if (holds_row) {
//CHECK-NEXT:    const long long entry_3 = page_start + slot_1 * kCacheRowBytes;
//CHECK-NEXT:    const auto value = dsv4::convert<float>(dsv4::convert<dsv4::bf16>(pooled));
//CHECK-NEXT:    const auto square_sum = dsv4::sum<32, 512>(value * value);
//CHECK-NEXT:    const auto inverse_rms = 1.0f / dsv4::sqrt(square_sum * 0.001953125f + 1e-06f);
//CHECK-NEXT:    const auto normed = dsv4::convert<dsv4::bf16>(value * dsv4::repeat<8, 2>(inverse_rms) * dsv4::convert<float>(weight_1));
//CHECK-NEXT:    const auto value_1 = dsv4::steps<0, 7>(normed);
//CHECK-NEXT:    const auto amax = dsv4::max_abs<32, 64>(value_1);
//CHECK-NEXT:    const auto scales = dsv4::encode_up<dsv4::ue8m0>(dsv4::max(amax, 0.0001f) * 0.002232143f);
//CHECK-NEXT:    const auto payload = dsv4::quantize<dsv4::e4m3>(value_1, scales);
//CHECK-NEXT:    const auto value_2 = dsv4::steps<7, 1>(normed);
//CHECK-NEXT:    const auto value_3 = dsv4::convert<float>(value_2);
//CHECK-NEXT:    const auto value_4 = dsv4::evens(value_3);
//CHECK-NEXT:    const auto value_5 = dsv4::odds(value_3);
//CHECK-NEXT:    const auto rotated = in_table ? dsv4::convert<dsv4::bf16>(dsv4::interleave(value_4 * cosines - value_5 * sines, value_4 * sines + value_5 * cosines)) : value_2;
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&cache[entry_3 + offset_1], payload, 64);
//CHECK-NEXT:      dsv4::store(&cache[entry_3 + kCacheRopeOffset + lane * 4], rotated);
//CHECK-NEXT:      if (lane == 0) {
//CHECK-NEXT:        dsv4::store(&cache[page_start + slot_1 * kCacheNopeScaleBytes + kCacheNopeScaleOffset], dsv4::pad<8>(scales));
//CHECK-NEXT:      }
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
