// Scores of keys of a paged cache, stored: a tile source, and who stores its elements.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a

!keys = !dsv4.cache<64 x <index_mxfp4_68>>

func.func @scores(
    %q: tensor<?x64x128xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %qs: tensor<?x64x4xf8E8M0FNU> {dsv4.name = "q_scales", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %keys: !keys {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["requests"]},
    %out: tensor<?x?xbf16> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"],
                            dsv4.strides = #dsv4.strides<[?], align = 2>}) -> tensor<?x?xbf16> {
  %0 = dsv4.index_score %q scales(%qs : tensor<?x64x4xf8E8M0FNU>) weights(%w : tensor<?x64xf32>)
      cache(%keys : !keys) pages(%table : tensor<?x?xi32>) lengths(%length : tensor<?xi32>) next_n 2 ratio 4
      outs(%out : tensor<?x?xbf16>) : tensor<?x64x128xf4E2M1FN>
  return %0 : tensor<?x?xbf16>
}

// The whole text.
//     CHECK:// dsv4.index_score of f4E2M1FN to bf16
//CHECK-NEXT:// rows = ?, requests = ?, pages = ?, columns = ?
//CHECK-NEXT:// sm_90a: 512 threads, scores of 2 x 384 keys at a time by tensor cores, 6 stages, a block per multiprocessor, 91760 bytes of dynamic shared memory, programmatic launch
//CHECK-NEXT:struct ScoresConfig : dsv4::IndexRowsDefaults {
//CHECK-NEXT:  static constexpr auto keys = dsv4::IndexFormat::mxfp4;
//CHECK-NEXT:  static constexpr auto query = dsv4::IndexFormat::mxfp4;
//CHECK-NEXT:  static constexpr int heads = 64, queries = 2, page_size = 64, payload_stride = 64, scale_stride = 4, align = 16, warpgroups = 3, tiles = 2, stages = 6, slots = 2, shared_bytes = 91760, scale_base = 4096;
//CHECK-NEXT:  static constexpr bool keys_once = true;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(512, 1)
//CHECK-NEXT:scores(const unsigned char *__restrict__ q,
//CHECK-NEXT:       const dsv4::ue8m0 *__restrict__ q_scales,
//CHECK-NEXT:       const float *__restrict__ weights,
//CHECK-NEXT:       const unsigned char *__restrict__ keys,
//CHECK-NEXT:       const int *__restrict__ page_table,
//CHECK-NEXT:       const int *__restrict__ lengths,
//CHECK-NEXT:       dsv4::bf16 *__restrict__ scores_1,
//CHECK-NEXT:       int rows,
//CHECK-NEXT:       int keys_pages,
//CHECK-NEXT:       int pages,
//CHECK-NEXT:       int requests,
//CHECK-NEXT:       int columns,
//CHECK-NEXT:       int scores_stride) {
//CHECK-NEXT:  constexpr int kKeysPageBytes = 4352;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  dsv4::store_tiles(
//CHECK-NEXT:    [&](auto consume) {
//CHECK-NEXT:      dsv4::index_score_grid<ScoresConfig>(
//CHECK-NEXT:        consume, dsv4::shared_from(0), columns, rows, q, 64, q_scales, 4, weights, keys, kKeysPageBytes, keys, kKeysPageBytes,
//CHECK-NEXT:        [&](int tile_row_1) {
//CHECK-NEXT:          const int request_of_row = tile_row_1 / 2u;
//CHECK-NEXT:          const int given = request_of_row < requests ? dsv4::load<int>(&lengths[request_of_row]) : 0;
//CHECK-NEXT:          const int residue = tile_row_1 % 2u;
//CHECK-NEXT:          const int rows_after = 1 - residue;
//CHECK-NEXT:          const int complete = max(max(given, 0) - rows_after, 0) / 4u;
//CHECK-NEXT:          const int length = min(complete, columns);
//CHECK-NEXT:          return dsv4::index_row((long long)tile_row_1 * 4096, (long long)tile_row_1 * 256, (long long)tile_row_1 * 64, 0, tile_row_1 < rows ? (long long)length : 0);
//CHECK-NEXT:        },
//CHECK-NEXT:        [&](int tile_row_2, int number) {
//CHECK-NEXT:          const int request = tile_row_2 / 2;
//CHECK-NEXT:          const bool in_table = request < requests && number < pages;
//CHECK-NEXT:          const int page = in_table ? dsv4::load<int>(&page_table[(long long)request * pages + number]) : -1;
//CHECK-NEXT:          return page >= 0 && page < keys_pages ? (long long)page : -1;
//CHECK-NEXT:        });
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int tile_row, int column, float value) {
//CHECK-NEXT:      if (tile_row < rows && column < columns) {
//CHECK-NEXT:        const long long row_start = (long long)tile_row * scores_stride;
//CHECK-NEXT:        scores_1[row_start + column] = dsv4::convert<dsv4::bf16>(value);
//CHECK-NEXT:      }
//CHECK-NEXT:    });
//CHECK-NEXT:}
