// Few segments of HCA's windows, each by a cluster of two blocks: the first one has the entry.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="schedule=#dsv4.schedule<threads=256,cluster=2,min_blocks=1,pdl=true,parts=[#dsv4.rows<lanes=32,vector=2>,#dsv4.window<elements=1>]>" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a sm_100a sm_120a

!state = !dsv4.cache<16 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>,
                            <"acc" : 512 x f32 in row>]>>

func.func @compress_online_cluster(
    %values: tensor<?x512xbf16> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x512xbf16> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<128x512xf32> {dsv4.name = "bias"},
    %plan: tensor<?x5xi32> {dsv4.name = "plan", dsv4.dims = ["segments", ""]},
    %state: !state {dsv4.name = "state"},
    %entries: tensor<?x512xbf16> {dsv4.name = "entries", dsv4.dims = ["segments", ""]})
    -> tensor<?x512xbf16> {
  %pooled = dsv4.compress %values, %scores window 128 algorithm online
      plan(%plan : tensor<?x5xi32>) bias(%bias : tensor<128x512xf32>) state(%state : !state)
      outs(%entries : tensor<?x512xbf16>) : tensor<?x512xbf16>, tensor<?x512xbf16>
  return %pooled : tensor<?x512xbf16>
}

// The whole text.
//     CHECK:// dsv4.compress of bf16 to bf16
//CHECK-NEXT:// tokens = ?, segments = ?
//CHECK-NEXT:// sm_90a: 256 threads, 32 lanes per row, vectors of 2 elements, 1 row per cluster of 2 blocks in vectors of 1 element per thread, 73728 bytes of dynamic shared memory, programmatic launch
//CHECK-NEXT:struct CompressOnlineClusterConfig : dsv4::WindowSegmentDefaults {
//CHECK-NEXT:  static constexpr int rows = 1, threads = 256, lanes = 32, groups = 9, cluster = 2;
//CHECK-NEXT:  using Part = dsv4::Tile<float, 1, 1>;
//CHECK-NEXT:  using Result = dsv4::Tile<float, 8, 2>;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 1)
//CHECK-NEXT:compress_online_cluster(const dsv4::bf16 *__restrict__ values,
//CHECK-NEXT:                        const dsv4::bf16 *__restrict__ scores,
//CHECK-NEXT:                        const float *__restrict__ bias,
//CHECK-NEXT:                        const int *__restrict__ plan,
//CHECK-NEXT:                        unsigned char *__restrict__ state,
//CHECK-NEXT:                        dsv4::bf16 *__restrict__ entries,
//CHECK-NEXT:                        int tokens,
//CHECK-NEXT:                        int rows,
//CHECK-NEXT:                        int state_pages) {
//CHECK-NEXT:  constexpr int kStatePageBytes = 98304;
//CHECK-NEXT:  constexpr int kStateRowBytes = 6144;
//CHECK-NEXT:  constexpr int kStateSumOffset = 2048;
//CHECK-NEXT:  constexpr int kStateAccOffset = 4096;
//CHECK-NEXT:  const int first_row = blockIdx.x / 2;
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const bool holds_row = blockIdx.x % 2 == 0 && threadIdx.x < 32;
//CHECK-NEXT:  const long long offset = (long long)first_row * 5;
//CHECK-NEXT:  dsv4::prefetch_l2_if(holds_row, &plan[offset]);
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int position = dsv4::load<int>(&plan[offset]);
//CHECK-NEXT:  const int count = dsv4::load<int>(&plan[offset + 1]);
//CHECK-NEXT:  const int first_token = dsv4::load<int>(&plan[offset + 2]);
//CHECK-NEXT:  const int from = dsv4::load<int>(&plan[offset + 3]);
//CHECK-NEXT:  const int to = dsv4::load<int>(&plan[offset + 4]);
//CHECK-NEXT:  const int segment_begin = max(position, 0) % 128u;
//CHECK-NEXT:  const long long left = min((long long)min(count, 128 - segment_begin), (long long)tokens - first_token);
//CHECK-NEXT:  const int left_1 = (int)left;
//CHECK-NEXT:  const bool is_segment = position >= 0 && position <= 2147479552 && first_token >= 0 && left_1 > 0;
//CHECK-NEXT:  const int tokens_1 = is_segment ? left_1 : 0;
//CHECK-NEXT:  const int segment_end = segment_begin + tokens_1;
//CHECK-NEXT:  const bool ends = is_segment && segment_end == 128;
//CHECK-NEXT:  const long long launch_start = (long long)first_token * 512;
//CHECK-NEXT:  const int page = from / 16;
//CHECK-NEXT:  const int slot = from % 16;
//CHECK-NEXT:  const bool known = is_segment && segment_begin > 0 && from >= 0 && page < state_pages;
//CHECK-NEXT:  const long long page_start = (long long)page * kStatePageBytes;
//CHECK-NEXT:  const int page_1 = to / 16;
//CHECK-NEXT:  const int slot_1 = to % 16;
//CHECK-NEXT:  const bool kept = dsv4::in_pool(is_segment && segment_end < 128 && to >= 0, page_1, state_pages);
//CHECK-NEXT:  const long long page_start_1 = (long long)page_1 * kStatePageBytes;
//CHECK-NEXT:  const long long row_start = (long long)first_row * 512;
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const auto pooled = dsv4::window_reduce_online<CompressOnlineClusterConfig>(
//CHECK-NEXT:    first_row, rows,
//CHECK-NEXT:    [&](int segment, auto reduce_segment) {
//CHECK-NEXT:      reduce_segment(
//CHECK-NEXT:        tokens_1, known, kept, ends,
//CHECK-NEXT:        [&](int block_lane, auto &segment_max, auto &segment_sum, auto &segment_acc) {
//CHECK-NEXT:          const long long entry = page_start + slot * kStateRowBytes;
//CHECK-NEXT:          const auto v_max_1 = dsv4::load<dsv4::Tile<float, 1, 1>>(&state[entry + block_lane * 4]);
//CHECK-NEXT:          const auto sum_1 = dsv4::load<dsv4::Tile<float, 1, 1>>(&state[entry + kStateSumOffset + block_lane * 4]);
//CHECK-NEXT:          const auto acc_1 = dsv4::load<dsv4::Tile<float, 1, 1>>(&state[entry + kStateAccOffset + block_lane * 4]);
//CHECK-NEXT:          segment_max = v_max_1;
//CHECK-NEXT:          segment_sum = sum_1;
//CHECK-NEXT:          segment_acc = acc_1;
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](long long member, int block_lane_1) {
//CHECK-NEXT:          const long long offset_1 = member * 512;
//CHECK-NEXT:          const long long offset_2 = launch_start + offset_1 + block_lane_1;
//CHECK-NEXT:          const auto scores_1 = dsv4::staged<dsv4::Tile<dsv4::bf16, 1, 1>>(&scores[offset_2]);
//CHECK-NEXT:          const auto values_1 = dsv4::staged<dsv4::Tile<dsv4::bf16, 1, 1>>(&values[offset_2]);
//CHECK-NEXT:          const auto bias_1 = dsv4::staged<dsv4::Tile<float, 1, 1>>(&bias[segment_begin * 512 + offset_1 + block_lane_1]);
//CHECK-NEXT:          return dsv4::segment_row(scores_1, values_1, bias_1);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int block_lane_2, const auto &v_max, const auto &sum, const auto &acc) {
//CHECK-NEXT:          const long long entry_1 = page_start_1 + slot_1 * kStateRowBytes;
//CHECK-NEXT:          dsv4::store(&state[entry_1 + block_lane_2 * 4], v_max);
//CHECK-NEXT:          dsv4::store(&state[entry_1 + kStateSumOffset + block_lane_2 * 4], sum);
//CHECK-NEXT:          dsv4::store(&state[entry_1 + kStateAccOffset + block_lane_2 * 4], acc);
//CHECK-NEXT:        });
//CHECK-NEXT:    });
//CHECK-NEXT:  if (holds_row) {
//CHECK-NEXT:    dsv4::store(&entries[row_start + lane * 2], dsv4::convert<dsv4::bf16>(pooled), 128);
//CHECK-NEXT:  }
//CHECK-NEXT:}
