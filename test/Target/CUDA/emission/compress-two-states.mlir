// Values and scores of the state in two paged caches, each with a page table of its own.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: --max-stack=48 sm_80 sm_90a sm_100a sm_120a

!values = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>]>>
!scores = !dsv4.cache<8 x <[<"scores" : 1024 x f32 in row>]>>

func.func @compress_two_states(
    %values: tensor<?x1024xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x1024xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %bias: tensor<4x1024xf32> {dsv4.name = "bias"},
    %paged_values: !values {dsv4.name = "paged_values"},
    %value_table: tensor<?x?xi32> {dsv4.name = "value_table", dsv4.dims = ["requests", "value_pages"]},
    %paged_scores: !scores {dsv4.name = "paged_scores"},
    %score_table: tensor<?x?xi32> {dsv4.name = "score_table", dsv4.dims = ["requests", "score_pages"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["entries", ""]}) -> tensor<?x512xbf16> {
  %0 = dsv4.compress %values, %scores window 4 overlap plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<4x1024xf32>) state(%paged_values : !values) pages(%value_table : tensor<?x?xi32>)
      score_state(%paged_scores : !scores) score_pages(%score_table : tensor<?x?xi32>)
      outs(%out : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  return %0 : tensor<?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.compress of f32 to bf16
//CHECK-NEXT:// tokens = ?, entries = ?, requests = ?, value_pages = ?, score_pages = ?
//CHECK-NEXT:// sm_90a: 512 threads, 32 lanes per row, vectors of 2 elements, 8 rows per block in vectors of 1 element per thread, programmatic launch
//CHECK-NEXT:struct CompressTwoStatesConfig : dsv4::WindowDefaults {
//CHECK-NEXT:  static constexpr int members = 8, rows = 8, threads = 512, lanes = 32;
//CHECK-NEXT:  using Part = dsv4::Tile<float, 1, 1>;
//CHECK-NEXT:  using Result = dsv4::Tile<float, 8, 2>;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(512, 2)
//CHECK-NEXT:compress_two_states(const float *__restrict__ values,
//CHECK-NEXT:                    const float *__restrict__ scores,
//CHECK-NEXT:                    const int *__restrict__ plan,
//CHECK-NEXT:                    const float *__restrict__ bias,
//CHECK-NEXT:                    const unsigned char *__restrict__ paged_values,
//CHECK-NEXT:                    const int *__restrict__ value_table,
//CHECK-NEXT:                    const unsigned char *__restrict__ paged_scores,
//CHECK-NEXT:                    const int *__restrict__ score_table,
//CHECK-NEXT:                    dsv4::bf16 *__restrict__ out,
//CHECK-NEXT:                    int tokens,
//CHECK-NEXT:                    int rows,
//CHECK-NEXT:                    int paged_values_pages,
//CHECK-NEXT:                    int requests,
//CHECK-NEXT:                    int value_pages,
//CHECK-NEXT:                    int paged_scores_pages,
//CHECK-NEXT:                    int score_pages) {
//CHECK-NEXT:  constexpr int kPagedValuesPageBytes = 32768;
//CHECK-NEXT:  constexpr int kPagedScoresPageBytes = 32768;
//CHECK-NEXT:  constexpr int kPagedScoresRowBytes = 4096;
//CHECK-NEXT:  constexpr int kPagedValuesRowBytes = 4096;
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const long long row = blockIdx.x + (long long)(threadIdx.x / 32) * gridDim.x;
//CHECK-NEXT:  const long long read_row = min(row, (long long)(rows - 1));
//CHECK-NEXT:  const int read_row_1 = (int)read_row;
//CHECK-NEXT:  const bool holds_row = threadIdx.x < 256;
//CHECK-NEXT:  const long long offset = (long long)read_row_1 * 4;
//CHECK-NEXT:  dsv4::prefetch_l2_if(holds_row, &plan[offset]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::prefetch_if(holds_row, &plan[offset]);
//CHECK-NEXT:  const long long row_start = (long long)read_row_1 * 512;
//CHECK-NEXT:  const auto pooled = dsv4::window_reduce<CompressTwoStatesConfig>(
//CHECK-NEXT:    blockIdx.x, rows,
//CHECK-NEXT:    [&](int member, int block_lane) {
//CHECK-NEXT:      const int residue = member % 4u;
//CHECK-NEXT:      const auto bias_1 = dsv4::load<dsv4::Tile<float, 1, 1>>(&bias[(long long)(residue * 1024 + (member < 4 ? 0 : 512)) + block_lane]);
//CHECK-NEXT:      return bias_1;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int entry, auto reduce_window) {
//CHECK-NEXT:      const long long offset_1 = (long long)entry * 4;
//CHECK-NEXT:      const int window_start = dsv4::load<int>(&plan[offset_1]);
//CHECK-NEXT:      const int request = dsv4::load<int>(&plan[offset_1 + 1]);
//CHECK-NEXT:      const int first_position = dsv4::load<int>(&plan[offset_1 + 2]);
//CHECK-NEXT:      const int first_token = dsv4::load<int>(&plan[offset_1 + 3]);
//CHECK-NEXT:      const bool is_entry = window_start >= 0 && window_start <= 2147479552;
//CHECK-NEXT:      const int first_at = min(max(window_start, -1), 2147479552) - 4;
//CHECK-NEXT:      const long long shift = (long long)first_token - first_position;
//CHECK-NEXT:      const long long first_in_launch = first_at + shift;
//CHECK-NEXT:      const bool all_in_launch = is_entry && first_at >= 0 && first_at >= first_position && first_in_launch >= 0 && first_in_launch + 7 < tokens;
//CHECK-NEXT:      const long long launch_start = (long long)(int)first_in_launch * 1024;
//CHECK-NEXT:      reduce_window(
//CHECK-NEXT:        all_in_launch,
//CHECK-NEXT:        [&](int member_1, int block_lane_1) {
//CHECK-NEXT:          const auto scores_1 = dsv4::load<dsv4::Tile<float, 1, 1>>(&scores[launch_start + member_1 * 1024 + (member_1 < 4 ? 0 : 512) + block_lane_1]);
//CHECK-NEXT:          return scores_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_2, int block_lane_2) {
//CHECK-NEXT:          const auto values_1 = dsv4::load<dsv4::Tile<float, 1, 1>>(&values[launch_start + member_2 * 1024 + (member_2 < 4 ? 0 : 512) + block_lane_2]);
//CHECK-NEXT:          return values_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_3) {
//CHECK-NEXT:          const int offset_2 = member_3 < 4 ? 0 : 512;
//CHECK-NEXT:          const int at = first_at + member_3;
//CHECK-NEXT:          const long long token = at + shift;
//CHECK-NEXT:          const bool in_launch = at >= first_position;
//CHECK-NEXT:          const int offset_3 = max(at, 0);
//CHECK-NEXT:          const bool condition = request >= 0 && request < requests;
//CHECK-NEXT:          const int logical_page = offset_3 / 8u;
//CHECK-NEXT:          const bool in_table = condition && logical_page < value_pages;
//CHECK-NEXT:          const int page = in_table ? dsv4::load<int>(&value_table[(long long)request * value_pages + logical_page]) : -1;
//CHECK-NEXT:          const int slot = offset_3 % 8u;
//CHECK-NEXT:          const bool valid = condition && page >= 0 && page < paged_values_pages;
//CHECK-NEXT:          const long long page_start = (long long)page * kPagedValuesPageBytes;
//CHECK-NEXT:          const bool in_table_1 = condition && logical_page < score_pages;
//CHECK-NEXT:          const int page_1 = in_table_1 ? dsv4::load<int>(&score_table[(long long)request * score_pages + logical_page]) : -1;
//CHECK-NEXT:          const bool valid_1 = condition && page_1 >= 0 && page_1 < paged_scores_pages;
//CHECK-NEXT:          const long long page_start_1 = (long long)page_1 * kPagedScoresPageBytes;
//CHECK-NEXT:          const bool in_both = valid && valid_1;
//CHECK-NEXT:          const bool is_there_1 = is_entry && at >= 0 && (in_launch ? token >= 0 && token < tokens : in_both);
//CHECK-NEXT:          const long long offset_4 = launch_start + member_3 * 1024 + offset_2;
//CHECK-NEXT:          const long long entry_1 = page_start_1 + slot * kPagedScoresRowBytes;
//CHECK-NEXT:          const unsigned char *scores_memory_1 = in_launch ? (const unsigned char *)&scores[offset_4] : &paged_scores[entry_1 + offset_2 * 4];
//CHECK-NEXT:          const long long entry_2 = page_start + slot * kPagedValuesRowBytes;
//CHECK-NEXT:          const unsigned char *values_memory_1 = in_launch ? (const unsigned char *)&values[offset_4] : &paged_values[entry_2 + offset_2 * 4];
//CHECK-NEXT:          return dsv4::addresses(scores_memory_1, values_memory_1, is_there_1);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int member_4, int block_lane_3, const unsigned char *scores_memory, const unsigned char *values_memory, bool is_there, auto &row_scores, auto &row_values) {
//CHECK-NEXT:          const int residue_1 = member_4 % 4u;
//CHECK-NEXT:          const int offset_5 = block_lane_3 * 4;
//CHECK-NEXT:          const auto scores_2 = dsv4::load_if<dsv4::Tile<float, 1, 1>>(is_there, &scores_memory[offset_5]);
//CHECK-NEXT:          const auto bias_2 = dsv4::load<dsv4::Tile<float, 1, 1>>(&bias[(long long)(residue_1 * 1024 + (member_4 < 4 ? 0 : 512)) + block_lane_3]);
//CHECK-NEXT:          const auto values_2 = dsv4::load_if<dsv4::Tile<float, 1, 1>>(is_there, &values_memory[offset_5]);
//CHECK-NEXT:          row_scores = scores_2 + bias_2;
//CHECK-NEXT:          row_values = values_2;
//CHECK-NEXT:          return is_there;
//CHECK-NEXT:        });
//CHECK-NEXT:    });
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  if (holds_row && row < rows) {
//CHECK-NEXT:    dsv4::store(&out[row_start + lane * 2], dsv4::convert<dsv4::bf16>(pooled), 128);
//CHECK-NEXT:  }
//CHECK-NEXT:}
