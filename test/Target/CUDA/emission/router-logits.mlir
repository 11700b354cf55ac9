// Logits of experts, stored: tiles of many rows, which are farther apart than they need to be.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_90a

func.func @logits(
    %hidden: tensor<?x1001xbf16> {dsv4.name = "hidden", dsv4.dims = ["tokens", ""],
                                  dsv4.strides = #dsv4.strides<[?], align = 8>},
    %gate: tensor<157x1001xf32> {dsv4.name = "gate"},
    %out: tensor<?x157xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""],
                             dsv4.strides = #dsv4.strides<[?], align = 4>}) -> tensor<?x157xf32> {
  %0 = dsv4.router_logits %hidden, %gate outs(%out : tensor<?x157xf32>)
      : tensor<?x1001xbf16>, tensor<157x1001xf32>
  return %0 : tensor<?x157xf32>
}

// The whole text.
//     CHECK:// dsv4.router_logits of bf16 to f32
//CHECK-NEXT:// tokens = ?
//CHECK-NEXT:// sm_90a: 256 threads, logits of 64 x 128 experts by tensor cores, 2 stages of 128 elements, 163840 bytes of dynamic shared memory, programmatic launch
//CHECK-NEXT:struct LogitsConfig : dsv4::RouterDefaults {
//CHECK-NEXT:  using Weight = float;
//CHECK-NEXT:  static constexpr int experts = 157, depth = 1001, hidden_align = 8, weight_align = 4, step = 128, stages = 2, shared_bytes = 163840;
//CHECK-NEXT:};
//CHECK-EMPTY:
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(256)
//CHECK-NEXT:logits(const dsv4::bf16 *__restrict__ hidden,
//CHECK-NEXT:       const float *__restrict__ gate,
//CHECK-NEXT:       float *__restrict__ logits_1,
//CHECK-NEXT:       int rows,
//CHECK-NEXT:       int hidden_stride,
//CHECK-NEXT:       int logits_stride) {
//CHECK-NEXT:  dsv4::wait_for_previous_kernel();
//CHECK-NEXT:  dsv4::launch_dependents();
//CHECK-NEXT:  dsv4::store_tiles(
//CHECK-NEXT:    [&](auto consume) {
//CHECK-NEXT:      dsv4::router_block_tiles<LogitsConfig>(consume, dsv4::shared_from(0), hidden, hidden_stride, gate, 1001, rows);
//CHECK-NEXT:    },
//CHECK-NEXT:    [&](int tile_row, int column, float value) {
//CHECK-NEXT:      if (tile_row < rows && column < 157) {
//CHECK-NEXT:        const long long row_start = (long long)tile_row * logits_stride;
//CHECK-NEXT:        logits_1[row_start + column] = value;
//CHECK-NEXT:      }
//CHECK-NEXT:    });
//CHECK-NEXT:}
