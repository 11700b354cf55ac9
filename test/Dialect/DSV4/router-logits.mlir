// Logits of experts, read back from text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @narrow
// CHECK: %logits = dsv4.router_logits %{{.*}}, %{{.*}} outs(%{{.*}} : tensor<?x256xf32>) : tensor<?x7168xbf16>, tensor<256x7168xbf16>
func.func @narrow(%h: tensor<?x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<?x256xf32>) : tensor<?x7168xbf16>, tensor<256x7168xbf16>
  return %0 : tensor<?x256xf32>
}

// CHECK-LABEL: func.func @wide
// CHECK: dsv4.router_logits %{{.*}}, %{{.*}} outs(%{{.*}} : tensor<4x1xf32>) : tensor<4x8192xbf16>, tensor<1x8192xf32>
func.func @wide(%h: tensor<4x8192xbf16>, %w: tensor<1x8192xf32>, %o: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %0 = dsv4.router_logits %h, %w outs(%o : tensor<4x1xf32>) : tensor<4x8192xbf16>, tensor<1x8192xf32>
  return %0 : tensor<4x1xf32>
}

// CHECK-LABEL: dsv4.kernel @scheduled
// CHECK-SAME: #dsv4.router<form = rows, rows = 64, experts = 32, slices = 4, blocks = 112, multicast = true>
// CHECK-LABEL: dsv4.kernel @tiled
// CHECK-SAME: #dsv4.router<form = tiles, step = 128, stages = 4, blocks = 2>
func.func @schedules(%h: tensor<?x7168xbf16>, %w: tensor<256x7168xbf16>, %o: tensor<?x256xf32>, %p: tensor<?x256xf32>)
    -> (tensor<?x256xf32>, tensor<?x256xf32>) {
  %0 = dsv4.kernel @scheduled(%h, %w, %o) schedule <threads = 256, cluster = 8,
      parts = [#dsv4.router<form = rows, rows = 64, experts = 32, slices = 4, blocks = 112, multicast = true>]>
      : (tensor<?x7168xbf16>, tensor<256x7168xbf16>, tensor<?x256xf32>) -> tensor<?x256xf32> {
  ^bb0(%a: tensor<?x7168xbf16>, %b: tensor<256x7168xbf16>, %c: tensor<?x256xf32>):
    %1 = dsv4.router_logits %a, %b outs(%c : tensor<?x256xf32>) : tensor<?x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<?x256xf32>
  }
  %2 = dsv4.kernel @tiled(%h, %w, %p) schedule <threads = 256,
      parts = [#dsv4.router<form = tiles, step = 128, stages = 4, blocks = 2>]>
      : (tensor<?x7168xbf16>, tensor<256x7168xbf16>, tensor<?x256xf32>) -> tensor<?x256xf32> {
  ^bb0(%a: tensor<?x7168xbf16>, %b: tensor<256x7168xbf16>, %c: tensor<?x256xf32>):
    %1 = dsv4.router_logits %a, %b outs(%c : tensor<?x256xf32>) : tensor<?x7168xbf16>, tensor<256x7168xbf16>
    dsv4.yield %1 : tensor<?x256xf32>
  }
  return %0, %2 : tensor<?x256xf32>, tensor<?x256xf32>
}
