// Scores of keys in order, which the selection consumes as they come.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a

func.func @choose(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?xf32> {dsv4.name = "k_scales", dsv4.dims = ["keys"]},
    %start: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["rows"]},
    %length: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %out: tensor<?x512xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]}) -> tensor<?x512xi32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x64x128xf8E4M3FN>
  %row = tensor.empty(%rows) : tensor<?x65536xf32>
  %scores = dsv4.index_score %q weights(%w : tensor<?x64xf32>) keys(%k : tensor<?x128xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) starts(%start : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      outs(%row : tensor<?x65536xf32>) : tensor<?x64x128xf8E4M3FN>
  %0 = dsv4.topk %scores lengths(%length : tensor<?xi32>) outs(%out : tensor<?x512xi32>) : tensor<?x65536xf32>
  return %0 : tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.index_score of f8E4M3FN to f32, dsv4.topk of f32 to i32
//CHECK-NEXT:// rows = ?, keys = ?
//CHECK-NEXT:// sm_90a: 512 threads, a selection from tiles, lists with room for 16 tiles, scores of 1 x 384 keys at a time by tensor cores, 6 stages, 174016 bytes of dynamic shared memory, programmatic launch
//CHECK-NEXT:struct ChooseConfig : dsv4::IndexRowsDefaults {
//CHECK-NEXT:  static constexpr auto keys = dsv4::IndexFormat::e4m3;
//CHECK-NEXT:  static constexpr auto query = dsv4::IndexFormat::e4m3;
//CHECK-NEXT:  static constexpr int heads = 64, queries = 1, page_size = 64, payload_stride = 128, scale_stride = 4, align = 4, warpgroups = 3, tiles = 2, stages = 6, slots = 1, shared_bytes = 111216;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:struct ChooseConfig_1 : dsv4::TopkTilesDefaults {
//CHECK-NEXT:  static constexpr int k = 512, rows = 1, tile_columns = 384, calls = 16, warps = 12;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::unordered;
//CHECK-NEXT:  static constexpr bool largest = true;
//CHECK-NEXT:  static constexpr int shared_bytes = 62800;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(512, 1)
//CHECK-NEXT:choose(const dsv4::e4m3 *__restrict__ q,
//CHECK-NEXT:       const float *__restrict__ weights,
//CHECK-NEXT:       const dsv4::e4m3 *__restrict__ k,
//CHECK-NEXT:       const float *__restrict__ k_scales,
//CHECK-NEXT:       const int *__restrict__ starts,
//CHECK-NEXT:       const int *__restrict__ lengths,
//CHECK-NEXT:       int *__restrict__ chosen,
//CHECK-NEXT:       int rows,
//CHECK-NEXT:       int keys) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  dsv4::topk_tiles<ChooseConfig_1>(
//CHECK-NEXT:    dsv4::shared_from(0),
//CHECK-NEXT:    [&](int tile_row) {
//CHECK-NEXT:      const int row = blockIdx.x + tile_row;
//CHECK-NEXT:      const bool condition = row < rows;
//CHECK-NEXT:      const int given = dsv4::load_if<int>(condition, &lengths[row]);
//CHECK-NEXT:      const int length = min(max(given, 0), 65536);
//CHECK-NEXT:      return condition ? length : 0;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](auto consume) {
//CHECK-NEXT:      dsv4::index_score_block<ChooseConfig>(
//CHECK-NEXT:        consume, dsv4::shared_from(62800), 65536, q, 128, dsv4::NoScales(), 0, weights, k, 8192, k_scales, 256,
//CHECK-NEXT:        [&](int tile_row_2) {
//CHECK-NEXT:          const int row_1 = blockIdx.x + tile_row_2;
//CHECK-NEXT:          const bool condition_1 = row_1 < rows;
//CHECK-NEXT:          const int given_start = dsv4::load_if<int>(condition_1, &starts[row_1]);
//CHECK-NEXT:          const int start = max(given_start, 0);
//CHECK-NEXT:          const int given_1 = dsv4::load_if<int>(condition_1, &lengths[row_1]);
//CHECK-NEXT:          const int length_1 = min(max(given_1, 0), 65536);
//CHECK-NEXT:          const int count = min(length_1, max(keys - start, 0));
//CHECK-NEXT:          const int count_1 = given_start >= 0 ? count : 0;
//CHECK-NEXT:          return dsv4::index_row((long long)row_1 * 8192, 0, (long long)row_1 * 64, start, condition_1 ? count_1 : 0);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int tile_row_3, int number) {
//CHECK-NEXT:          return number;
//CHECK-NEXT:        });
//CHECK-NEXT:    },
//CHECK-NEXT:    dsv4::SourceScore(),
//CHECK-NEXT:    [&](int tile_row_1, int rank, int index, float value) {
//CHECK-NEXT:      const int row_2 = blockIdx.x + tile_row_1;
//CHECK-NEXT:      if (row_2 < rows) {
//CHECK-NEXT:        const long long row_start = (long long)row_2 * 512;
//CHECK-NEXT:        const long long at = row_start + rank;
//CHECK-NEXT:        chosen[at] = index;
//CHECK-NEXT:      }
//CHECK-NEXT:    });
//CHECK-NEXT:}
