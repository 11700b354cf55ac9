// Scores are biased by their position while they are appended.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

!state = !dsv4.cache<4 x <[<"kv" : 1024 x f32 in row>, <"score" : 1024 x f32 in row>], align 37440>>

func.func @save_partial_states(
    %kv_score: tensor<?x2048xf32> {dsv4.name = "kv_score", dsv4.dims = ["tokens", ""]},
    %ape: tensor<4x1024xf32> {dsv4.name = "ape"},
    %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %state_cache: !state {dsv4.name = "state_cache"},
    %slot_mapping: tensor<?xi32> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv_score, %c0 : tensor<?x2048xf32>
  %row = tensor.empty(%tokens) : tensor<?x1024xf32>
  %score = dsv4.add_rows %kv_score columns [1024, 1024] bias(%ape : tensor<4x1024xf32>)
      positions(%positions : tensor<?xi32>) outs(%row : tensor<?x1024xf32>) : tensor<?x2048xf32>
  dsv4.paged_append %state_cache[%slot_mapping] unique
      fields(%kv_score, %score : tensor<?x2048xf32>, tensor<?x1024xf32>) columns [0, 0]
      : !state, tensor<?xi32>
  return
}

// The whole text.
//     CHECK:// dsv4.add_rows of f32 to f32, dsv4.paged_append of 4 x record
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 128 threads, 32 lanes per row, vectors of 4 elements, programmatic launch
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:save_partial_states(const float *__restrict__ kv_score,
//CHECK-NEXT:                    const float *__restrict__ ape,
//CHECK-NEXT:                    const int *__restrict__ positions,
//CHECK-NEXT:                    unsigned char *__restrict__ state_cache,
//CHECK-NEXT:                    const int *__restrict__ slot_mapping,
//CHECK-NEXT:                    int rows,
//CHECK-NEXT:                    int state_cache_pages) {
//CHECK-NEXT:  constexpr int kStateCachePageBytes = 37440;
//CHECK-NEXT:  constexpr int kStateCacheRowBytes = 8192;
//CHECK-NEXT:  constexpr int kStateCacheScoreOffset = 4096;
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  const int lane = threadIdx.x % 32;
//CHECK-NEXT:  const int row = blockIdx.x * 4 + threadIdx.x / 32;
//CHECK-NEXT:  if (row < rows) {
//CHECK-NEXT:    const long long offset = (long long)row * 2048;
//CHECK-NEXT:    const int offset_1 = lane * 4;
//CHECK-NEXT:    const auto kv = dsv4::load<dsv4::Tile<float, 8, 4>>(&kv_score[offset + offset_1], 512);
//CHECK-NEXT:    const auto x = dsv4::load<dsv4::Tile<float, 8, 4>>(&kv_score[offset + 1024 + offset_1], 512);
//CHECK-NEXT:    const int position = dsv4::load<int>(&positions[row]);
//CHECK-NEXT:    const bool has_position = position >= 0;
//CHECK-NEXT:    const int bias_row = position % 4;
//CHECK-NEXT:    const int entry = dsv4::load<int>(&slot_mapping[row]);
//CHECK-NEXT:    const int page = entry / 4;
//CHECK-NEXT:    const int slot = entry % 4;
//CHECK-NEXT:    const bool valid = dsv4::in_pool(entry >= 0, page, state_cache_pages);
//CHECK-NEXT:    const long long page_start = (long long)page * kStateCachePageBytes;
//CHECK-NEXT:    const auto bias = dsv4::load_if<dsv4::Tile<float, 8, 4>>(has_position, &ape[bias_row * 1024 + offset_1], 512);
//CHECK-NEXT:    dsv4::launch_dependents();
//CHECK-NEXT:    const long long entry_1 = page_start + slot * kStateCacheRowBytes;
//CHECK-NEXT:    const auto biased = has_position ? x + bias : x;
//CHECK-NEXT:    if (valid) {
//CHECK-NEXT:      dsv4::store(&state_cache[entry_1 + lane * 16], kv, 512);
//CHECK-NEXT:      dsv4::store(&state_cache[entry_1 + kStateCacheScoreOffset + lane * 16], biased, 512);
//CHECK-NEXT:    }
//CHECK-NEXT:  }
//CHECK-NEXT:}
