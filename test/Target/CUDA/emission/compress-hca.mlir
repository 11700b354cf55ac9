// HCA's windows of 128 tokens, all of the launch: no state, so no request either. Groups of threads
// share the window.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=512,parts=[#dsv4.rows<lanes=32,vector=2>,#dsv4.window<elements=2>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @compress_hca(
    %values: tensor<?x512xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x512xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<128x512xf32> {dsv4.name = "bias"},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %entries: tensor<?x512xf32> {dsv4.name = "entries", dsv4.dims = ["entries", ""]})
    -> tensor<?x512xf32> {
  %pooled = dsv4.compress %values, %scores window 128 plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<128x512xf32>)
      outs(%entries : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  return %pooled : tensor<?x512xf32>
}

// The whole text.
//     CHECK:// dsv4.compress of f32 to f32
//CHECK-NEXT:// tokens = ?, entries = ?
//CHECK-NEXT:// sm_90a: 512 threads, 32 lanes per row, vectors of 2 elements, 1 row per block in vectors of 2 elements per thread
//CHECK-NEXT:struct CompressHcaConfig : dsv4::WindowDefaults {
//CHECK-NEXT:  static constexpr int members = 128, rows = 1, threads = 512, lanes = 32;
//CHECK-NEXT:  using Part = dsv4::Tile<float, 1, 2>;
//CHECK-NEXT:  using Result = dsv4::Tile<float, 8, 2>;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(512)
//CHECK-NEXT:compress_hca(const float *__restrict__ values,
//CHECK-NEXT:             const float *__restrict__ scores,
//CHECK-NEXT:             const float *__restrict__ bias,
//CHECK-NEXT:             const int *__restrict__ plan,
//CHECK-NEXT:             float *__restrict__ entries,
//CHECK-NEXT:             int tokens,
//CHECK-NEXT:             int rows) {
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const bool holds_row = threadIdx.x < 32;
//CHECK-NEXT:  const long long offset = (long long)blockIdx.x * 4;
//CHECK-NEXT:  const int window_start = plan[offset];
//CHECK-NEXT:  const int first_position = plan[offset + 2];
//CHECK-NEXT:  const int first_token = plan[offset + 3];
//CHECK-NEXT:  const bool is_entry = window_start >= 0 && window_start <= 2147479552;
//CHECK-NEXT:  const int first_at = min(max(window_start, -1), 2147479552);
//CHECK-NEXT:  const long long shift = (long long)first_token - first_position;
//CHECK-NEXT:  const long long first_in_launch = first_at + shift;
//CHECK-NEXT:  const bool all_in_launch = is_entry && first_at >= 0 && first_at >= first_position && first_in_launch >= 0 && first_in_launch + 127 < tokens;
//CHECK-NEXT:  const long long launch_start = (long long)(int)first_in_launch * 512;
//CHECK-NEXT:  const long long row_start = (long long)blockIdx.x * 512;
//CHECK-NEXT:  const auto pooled = dsv4::window_reduce<CompressHcaConfig>(
//CHECK-NEXT:    blockIdx.x, rows,
//CHECK-NEXT:    [&](int member, int block_lane) {
//CHECK-NEXT:      const int residue = member % 128u;
//CHECK-NEXT:      const auto bias_1 = dsv4::load<dsv4::Tile<float, 1, 2>>(&bias[(long long)(residue * 512) + block_lane * 2]);
//CHECK-NEXT:      return bias_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int entry, auto reduce_window) {
//CHECK-NEXT:      reduce_window(
//CHECK-NEXT:        all_in_launch,
//CHECK-NEXT:        [&](int member_1, int block_lane_1) {
//CHECK-NEXT:          const auto scores_1 = dsv4::load<dsv4::Tile<float, 1, 2>>(&scores[launch_start + member_1 * 512 + block_lane_1 * 2]);
//CHECK-NEXT:          return scores_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_2, int block_lane_2) {
//CHECK-NEXT:          const auto values_1 = dsv4::load<dsv4::Tile<float, 1, 2>>(&values[launch_start + member_2 * 512 + block_lane_2 * 2]);
//CHECK-NEXT:          return values_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_3) {
//CHECK-NEXT:          const int at = first_at + member_3;
//CHECK-NEXT:          const long long token = at + shift;
//CHECK-NEXT:          const bool in_launch = at >= first_position;
//CHECK-NEXT:          const bool is_there_1 = is_entry && at >= 0 && in_launch && token >= 0 && token < tokens;
//CHECK-NEXT:          return dsv4::addresses(is_there_1);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_4, int block_lane_3, bool is_there, auto &row_scores, auto &row_values) {
//CHECK-NEXT:          const int residue_1 = member_4 % 128u;
//CHECK-NEXT:          const long long offset_1 = launch_start + member_4 * 512 + block_lane_3 * 2;
//CHECK-NEXT:          const auto scores_2 = dsv4::load_if<dsv4::Tile<float, 1, 2>>(is_there, &scores[offset_1]);
//CHECK-NEXT:          const auto bias_2 = dsv4::load<dsv4::Tile<float, 1, 2>>(&bias[(long long)(residue_1 * 512) + block_lane_3 * 2]);
//CHECK-NEXT:          const auto values_2 = dsv4::load_if<dsv4::Tile<float, 1, 2>>(is_there, &values[offset_1]);
//CHECK-NEXT:          row_scores = scores_2 + bias_2;
//CHECK-NEXT:          row_values = values_2;
//CHECK-NEXT:          return is_there;
//CHECK-NEXT:        });
//CHECK-NEXT:    });
//CHECK-NEXT:  if (holds_row) {
//CHECK-NEXT:    dsv4::store(&entries[row_start + lane * 2], pooled, 256);
//CHECK-NEXT:  }
//CHECK-NEXT:}
