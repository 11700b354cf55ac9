// Scores of a decode step: the two blocks of a cluster score parts of the keys of a row, and select
// from them in their shared memory. Threads with 32 elements have 14 words in local memory, for a
// bin that is divided.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline="arch=sm_90a dims=rows=64" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: --max-stack=56 sm_90a

func.func @choose(
    %q: tensor<?x64x128xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %qs: tensor<?x64x4xf8E8M0FNU> {dsv4.name = "q_scales", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %keys: !dsv4.cache<64 x <index_mxfp4_68>> {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %out: tensor<?x512xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]}) -> tensor<?x512xi32>
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>}} {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %q, %c0 : tensor<?x64x128xf4E2M1FN>
  %row = tensor.empty(%rows) : tensor<?x32768xf32>
  %scores = dsv4.index_score %q scales(%qs : tensor<?x64x4xf8E8M0FNU>) weights(%w : tensor<?x64xf32>)
      cache(%keys : !dsv4.cache<64 x <index_mxfp4_68>>) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) outs(%row : tensor<?x32768xf32>) : tensor<?x64x128xf4E2M1FN>
  %0 = dsv4.topk %scores lengths(%length : tensor<?xi32>) outs(%out : tensor<?x512xi32>) : tensor<?x32768xf32>
  return %0 : tensor<?x512xi32>
}

// The whole text.
//     CHECK:// dsv4.index_score of f4E2M1FN to f32, dsv4.topk of f32 to i32
//CHECK-NEXT:// rows <= 64, pages = ?
//CHECK-NEXT:// sm_90a: 512 threads, a selection from tiles in shared memory by a cluster of 2 blocks, scores of 1 x 384 keys at a time by tensor cores, 6 stages, 128624 bytes of dynamic shared memory, programmatic launch
//CHECK-NEXT:struct ChooseConfig : dsv4::IndexRowsDefaults {
//CHECK-NEXT:  static constexpr auto keys = dsv4::IndexFormat::mxfp4;
//CHECK-NEXT:  static constexpr auto query = dsv4::IndexFormat::mxfp4;
//CHECK-NEXT:  static constexpr int heads = 64, queries = 1, page_size = 64, payload_stride = 64, scale_stride = 4, align = 16, warpgroups = 3, tiles = 2, stages = 6, slots = 1, shared_bytes = 63088, scale_base = 4096;
//CHECK-NEXT:  static constexpr bool keys_once = true;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:struct ChooseConfig_1 : dsv4::TopkResidentDefaults {
//CHECK-NEXT:  static constexpr int k = 512, rows = 1, threads = 512, vector = 4, vectors = 8, cluster = 2;
//CHECK-NEXT:  static constexpr auto order = dsv4::TopkOrder::unordered;
//CHECK-NEXT:  static constexpr bool largest = true;
//CHECK-NEXT:  static constexpr int shared_bytes = 65536;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(512, 1)
//CHECK-NEXT:choose(const unsigned char *__restrict__ q,
//CHECK-NEXT:       const dsv4::ue8m0 *__restrict__ q_scales,
//CHECK-NEXT:       const float *__restrict__ weights,
//CHECK-NEXT:       const unsigned char *__restrict__ keys,
//CHECK-NEXT:       const int *__restrict__ table,
//CHECK-NEXT:       const int *__restrict__ lengths,
//CHECK-NEXT:       int *__restrict__ chosen,
//CHECK-NEXT:       int rows,
//CHECK-NEXT:       int keys_pages,
//CHECK-NEXT:       int pages) {
//CHECK-NEXT:  constexpr int kKeysPageBytes = 4352;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  const int first_row = blockIdx.x / 2;
//CHECK-NEXT:  dsv4::topk_resident<ChooseConfig_1>(
//CHECK-NEXT:    dsv4::shared_from(0),
//CHECK-NEXT:    [&](int tile_row) {
//CHECK-NEXT:      const int row = first_row + tile_row;
//CHECK-NEXT:      const bool condition = row < rows;
//CHECK-NEXT:      const int given = dsv4::load_if<int>(condition, &lengths[row]);
//CHECK-NEXT:      const int length = min(max(given, 0), 32768);
//CHECK-NEXT:      return condition ? length : 0;
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](auto consume) {
//CHECK-NEXT:      dsv4::index_score_block<ChooseConfig>(
//CHECK-NEXT:        consume, dsv4::shared_from(65536), 32768, q, 64, q_scales, 4, weights, keys, kKeysPageBytes, keys, kKeysPageBytes,
//CHECK-NEXT:        [&](int tile_row_2) {
//CHECK-NEXT:          const int row_1 = first_row + tile_row_2;
//CHECK-NEXT:          const bool condition_1 = row_1 < rows;
//CHECK-NEXT:          const int given_1 = dsv4::load_if<int>(condition_1, &lengths[row_1]);
//CHECK-NEXT:          const int length_1 = min(max(given_1, 0), 32768);
//CHECK-NEXT:          return dsv4::index_row(row_1 * 4096, row_1 * 256, row_1 * 64, 0, condition_1 ? length_1 : 0);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int tile_row_3, int number) {
//CHECK-NEXT:          const int row_2 = first_row + tile_row_3;
//CHECK-NEXT:          const int page = number < pages ? dsv4::load<int>(&table[(long long)row_2 * pages + number]) : -1;
//CHECK-NEXT:          return page >= 0 && page < keys_pages ? (long long)page : -1;
//CHECK-NEXT:        });
//CHECK-NEXT:    },
//CHECK-NEXT:    dsv4::SourceScore(),
//CHECK-NEXT:    [&](int tile_row_1, int rank, int index, float value) {
//CHECK-NEXT:      const int row_3 = first_row + tile_row_1;
//CHECK-NEXT:      if (row_3 < rows) {
//CHECK-NEXT:        const int row_start = row_3 * 512;
//CHECK-NEXT:        const int at = row_start + rank;
//CHECK-NEXT:        chosen[at] = index;
//CHECK-NEXT:      }
//CHECK-NEXT:    });
//CHECK-NEXT:}
