// Logits of experts by the number of rows: few share the weights, and the blocks of a cluster load rows for each other.

// RUN: dsv4-opt %s --dsv4-select-schedule | FileCheck %s
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_80" | FileCheck %s --check-prefix=AMPERE
// RUN: dsv4-opt %s --dsv4-select-schedule="arch=sm_120a" | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: func.func @one
// CHECK: schedule <threads = 256, min_blocks = 3, pdl = true, parts = [#dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, blocks = 112>]>
// AMPERE-LABEL: func.func @one
// AMPERE: schedule <threads = 256, min_blocks = 2, parts = [#dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, blocks = 112>]>
func.func @one(%h: tensor<1x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<1x256xf32>) -> tensor<1x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<1x7168xbf16>, tensor<256x7168xbf16>, tensor<1x256xf32>) -> tensor<1x256xf32> {
  ^bb0(%h1: tensor<1x7168xbf16>, %w1: tensor<256x7168xbf16>, %o1: tensor<1x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<1x256xf32>) : tensor<1x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<1x256xf32>
  }
  return %0 : tensor<1x256xf32>
}

// Weights of f32 need the registers of a third block.
// CHECK-LABEL: func.func @one_wide
// CHECK: schedule <threads = 256, min_blocks = 2, pdl = true, parts = [#dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, blocks = 112>]>
func.func @one_wide(%h: tensor<1x7168xbf16>, %w: tensor<256x7168xf32>, %o: tensor<1x256xf32>) -> tensor<1x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<1x7168xbf16>, tensor<256x7168xf32>, tensor<1x256xf32>) -> tensor<1x256xf32> {
  ^bb0(%h1: tensor<1x7168xbf16>, %w1: tensor<256x7168xf32>, %o1: tensor<1x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<1x256xf32>) : tensor<1x7168xbf16>, tensor<256x7168xf32>
    dsv4.yield %1 : tensor<1x256xf32>
  }
  return %0 : tensor<1x256xf32>
}

// CHECK-LABEL: func.func @few
// CHECK: schedule <threads = 256, cluster = 8, min_blocks = 2, pdl = true, parts = [#dsv4.router<form = rows, rows = 8, experts = 32, slices = 4, blocks = 112, multicast = true>]>
func.func @few(%h: tensor<8x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<8x7168xbf16>, tensor<256x7168xbf16>, tensor<8x256xf32>) -> tensor<8x256xf32> {
  ^bb0(%h1: tensor<8x7168xbf16>, %w1: tensor<256x7168xbf16>, %o1: tensor<8x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<8x256xf32>) : tensor<8x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<8x256xf32>
  }
  return %0 : tensor<8x256xf32>
}

// CHECK-LABEL: func.func @more
// CHECK: schedule <threads = 256, cluster = 8, min_blocks = 2, pdl = true, parts = [#dsv4.router<form = rows, rows = 32, experts = 32, slices = 4, blocks = 112, multicast = true>]>
func.func @more(%h: tensor<32x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<32x256xf32>) -> tensor<32x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<32x7168xbf16>, tensor<256x7168xbf16>, tensor<32x256xf32>) -> tensor<32x256xf32> {
  ^bb0(%h1: tensor<32x7168xbf16>, %w1: tensor<256x7168xbf16>, %o1: tensor<32x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<32x256xf32>) : tensor<32x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<32x256xf32>
  }
  return %0 : tensor<32x256xf32>
}

// CHECK-LABEL: func.func @many
// CHECK: schedule <threads = 256, cluster = 8, min_blocks = 2, pdl = true, parts = [#dsv4.router<form = rows, rows = 64, experts = 32, slices = 4, blocks = 112, multicast = true>]>
// SMALL-LABEL: func.func @many
// SMALL: schedule <threads = 256, pdl = true, parts = [#dsv4.router<form = tiles, step = 128, stages = 2, blocks = 2>]>
func.func @many(%h: tensor<1024x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<1024x256xf32>) -> tensor<1024x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<1024x7168xbf16>, tensor<256x7168xbf16>, tensor<1024x256xf32>) -> tensor<1024x256xf32> {
  ^bb0(%h1: tensor<1024x7168xbf16>, %w1: tensor<256x7168xbf16>, %o1: tensor<1024x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<1024x256xf32>) : tensor<1024x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<1024x256xf32>
  }
  return %0 : tensor<1024x256xf32>
}

// CHECK-LABEL: func.func @most
// CHECK: schedule <threads = 256, pdl = true, parts = [#dsv4.router<form = tiles, step = 128, stages = 4, blocks = 2>]>
func.func @most(%h: tensor<1025x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<1025x256xf32>) -> tensor<1025x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<1025x7168xbf16>, tensor<256x7168xbf16>, tensor<1025x256xf32>) -> tensor<1025x256xf32> {
  ^bb0(%h1: tensor<1025x7168xbf16>, %w1: tensor<256x7168xbf16>, %o1: tensor<1025x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<1025x256xf32>) : tensor<1025x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<1025x256xf32>
  }
  return %0 : tensor<1025x256xf32>
}

// CHECK-LABEL: func.func @any
// CHECK: schedule <threads = 256, pdl = true, parts = [#dsv4.router<form = tiles, step = 128, stages = 4, blocks = 2>]>
// AMPERE-LABEL: func.func @any
// AMPERE: schedule <threads = 256, parts = [#dsv4.router<form = tiles, step = 128, stages = 3, blocks = 2>]>
// SMALL-LABEL: func.func @any
// SMALL: schedule <threads = 256, pdl = true, parts = [#dsv4.router<form = tiles, step = 128, stages = 2, blocks = 2>]>
func.func @any(%h: tensor<?x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<?x7168xbf16>, tensor<256x7168xbf16>, tensor<?x256xf32>) -> tensor<?x256xf32> {
  ^bb0(%h1: tensor<?x7168xbf16>, %w1: tensor<256x7168xbf16>, %o1: tensor<?x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<?x256xf32>) : tensor<?x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<?x256xf32>
  }
  return %0 : tensor<?x256xf32>
}

// Three blocks along the experts, in a cluster of three.
// CHECK-LABEL: func.func @odd_experts
// CHECK: schedule <threads = 256, cluster = 3, min_blocks = 2, pdl = true, parts = [#dsv4.router<form = rows, rows = 16, experts = 32, slices = 4, blocks = 42, multicast = true>]>
func.func @odd_experts(%h: tensor<16x7168xbf16>, %w: tensor<90x7168xbf16>, %o: tensor<16x90xf32>) -> tensor<16x90xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<16x7168xbf16>, tensor<90x7168xbf16>, tensor<16x90xf32>) -> tensor<16x90xf32> {
  ^bb0(%h1: tensor<16x7168xbf16>, %w1: tensor<90x7168xbf16>, %o1: tensor<16x90xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<16x90xf32>) : tensor<16x7168xbf16>, tensor<90x7168xbf16>
    dsv4.yield %1 : tensor<16x90xf32>
  }
  return %0 : tensor<16x90xf32>
}

// Rows that are not aligned.
// CHECK-LABEL: func.func @odd_rows
// CHECK: schedule <threads = 256, cluster = 8, min_blocks = 2, pdl = true, parts = [#dsv4.router<form = rows, rows = 16, experts = 32, slices = 4, blocks = 16>]>
func.func @odd_rows(%h: tensor<16x1001xbf16>, %w: tensor<256x1001xbf16>, %o: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<16x1001xbf16>, tensor<256x1001xbf16>, tensor<16x256xf32>) -> tensor<16x256xf32> {
  ^bb0(%h1: tensor<16x1001xbf16>, %w1: tensor<256x1001xbf16>, %o1: tensor<16x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<16x256xf32>) : tensor<16x1001xbf16>, tensor<256x1001xbf16>
    dsv4.yield %1 : tensor<16x256xf32>
  }
  return %0 : tensor<16x256xf32>
}

// CHECK-LABEL: func.func @apart
// CHECK: schedule <threads = 256, cluster = 8, min_blocks = 2, pdl = true, parts = [#dsv4.router<form = rows, rows = 16, experts = 32, slices = 4, blocks = 112>]>
func.func @apart(%h: tensor<16x7168xbf16> {dsv4.strides = #dsv4.strides<[?], align = 8>}, %w: tensor<256x7168xbf16>, %o: tensor<16x256xf32>) -> tensor<16x256xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<16x7168xbf16>, tensor<256x7168xbf16>, tensor<16x256xf32>) -> tensor<16x256xf32> {
  ^bb0(%h1: tensor<16x7168xbf16>, %w1: tensor<256x7168xbf16>, %o1: tensor<16x256xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<16x256xf32>) : tensor<16x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<16x256xf32>
  }
  return %0 : tensor<16x256xf32>
}
