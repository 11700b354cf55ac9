// Logits of experts, rows that warps get and elements of them, read back.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @rows
// CHECK: cuda.hold_rows rows 64 source {
// CHECK-NEXT: ^bb0(%[[CONSUME:.*]]: !cuda.callable):
// CHECK-NEXT: cuda.router_logits %[[CONSUME]], %{{[a-z0-9]+}} in %{{[a-z0-9]+}}, %{{[a-z0-9]+}} apart %{{[a-z0-9]+}} weights %{{[a-z0-9]+}} apart %{{[a-z0-9]+}} rows %{{[a-z0-9]+}} experts 256 depth 7168
// CHECK-SAME: hidden_align 16 weight_align 16 block_rows 64 block_experts 32 slices 4 cluster 8 vector 4 multicast waits held
// CHECK-SAME: : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, index, index
// CHECK: } emit {
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %[[ROW:.*]]: vector<2x4xf32>):
// CHECK-NEXT: cuda.element %[[ROW]] at %{{[a-z0-9]+}} : vector<2x4xf32>, index to vector<1x1xf32>
func.func @rows(%m: memref<?xi8>, %h: memref<?xbf16>, %w: memref<?xf32>, %n: index) {
  cuda.hold_rows rows 64 source {
  ^bb0(%consume: !cuda.callable):
    cuda.router_logits %consume, %m in %m, %h apart %n weights %w apart %n rows %n experts 256 depth 7168
        hidden_align 16 weight_align 16 block_rows 64 block_experts 32 slices 4 cluster 8 vector 4 multicast waits held
        : memref<?xi8> in memref<?xi8>, memref<?xbf16>, index, memref<?xf32>, index, index
    cuda.tile_yield
  } emit {
  ^bb0(%row: index, %values: vector<2x4xf32>):
    %0 = cuda.element %values at %n : vector<2x4xf32>, index to vector<1x1xf32>
    cuda.tile_yield
  }
  return
}

// CHECK-LABEL: func.func @tiles
// CHECK: cuda.router_logits %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} apart %{{[a-z0-9]+}} weights %{{[a-z0-9]+}} apart %{{[a-z0-9]+}} rows %{{[a-z0-9]+}} experts 1 depth 1 step 64 stages 2
// CHECK-SAME: : memref<?xi8>, memref<?xbf16>, i64, memref<?xbf16>, i64, i32
func.func @tiles(%m: memref<?xi8>, %h: memref<?xbf16>, %n: i64, %r: i32) {
  cuda.store_tiles rows 64 max 1 source {
  ^bb0(%consume: !cuda.callable):
    cuda.router_logits %consume, %m, %h apart %n weights %h apart %n rows %r experts 1 depth 1 step 64 stages 2
        : memref<?xi8>, memref<?xbf16>, i64, memref<?xbf16>, i64, i32
    cuda.tile_yield
  } emit {
  ^bb0(%row: i32, %column: i32, %value: f32):
    cuda.tile_yield
  }
  return
}
