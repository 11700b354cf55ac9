// Logits of experts, stored and used in the same kernel.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

// CHECK-LABEL: func.func @stored
// CHECK-DAG: %[[HIDDEN:.*]] = dsv4.buffer %{{.*}} : tensor<?x1001xbf16> to memref<?xbf16>
// CHECK-DAG: %[[WEIGHTS:.*]] = dsv4.buffer %{{.*}} : tensor<157x1001xf32> to memref<?xf32>
// CHECK-DAG: %[[OUT:.*]] = dsv4.buffer %{{.*}} : tensor<?x157xf32> to memref<?xf32>
// CHECK-DAG: %[[APART:.*]] = dsv4.stride %{{.*}}, 0 : tensor<?x1001xbf16>
// CHECK: scf.forall (%[[ROW:.*]]) in
// CHECK: %[[DENSE:.*]] = arith.constant 1001 : index
// CHECK: %[[LOGITS:.*]] = row.router_logits %[[HIDDEN]] apart %[[APART]] weights %[[WEIGHTS]] apart %[[DENSE]] depth 1001 hidden_align 8 weight_align 4 : memref<?xbf16>, memref<?xf32> -> vector<157xf32>
// CHECK: %[[COLUMNS:.*]] = arith.constant 157 : index
// CHECK: %[[AT:.*]] = arith.muli %[[ROW]], %[[COLUMNS]]
// CHECK: row.write_tiles %[[LOGITS]], %[[OUT]][%[[AT]]] columns %[[COLUMNS]] : vector<157xf32>, memref<?xf32>
func.func @stored(%h: tensor<?x1001xbf16> {dsv4.name = "hidden", dsv4.strides = #dsv4.strides<[?], align = 8>},
                  %w: tensor<157x1001xf32>, %o: tensor<?x157xf32>) -> tensor<?x157xf32> {
  %0 = dsv4.kernel @k(%h, %w, %o) : (tensor<?x1001xbf16>, tensor<157x1001xf32>, tensor<?x157xf32>) -> tensor<?x157xf32> {
  ^bb0(%h1: tensor<?x1001xbf16>, %w1: tensor<157x1001xf32>, %o1: tensor<?x157xf32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%o1 : tensor<?x157xf32>) : tensor<?x1001xbf16>, tensor<157x1001xf32>
    dsv4.yield %1 : tensor<?x157xf32>
  }
  return %0 : tensor<?x157xf32>
}

// CHECK-LABEL: func.func @chosen
// CHECK: %[[L:.*]] = row.router_logits {{.*}} depth 64 hidden_align 16 weight_align 16 {{.*}} -> vector<8xf32>
// CHECK-NEXT: %[[S:.*]] = row.activation sigmoid %[[L]] : vector<8xf32>
// CHECK: row.select %[[S]]
// CHECK-NOT: row.write_tiles
func.func @chosen(%h: tensor<?x64xbf16>, %w: tensor<8x64xbf16>, %o: tensor<?x4xi32>) -> tensor<?x4xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %h, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %0 = dsv4.kernel @k(%h, %w, %e, %o) : (tensor<?x64xbf16>, tensor<8x64xbf16>, tensor<?x8xf32>, tensor<?x4xi32>)
      -> tensor<?x4xi32> {
  ^bb0(%h1: tensor<?x64xbf16>, %w1: tensor<8x64xbf16>, %e1: tensor<?x8xf32>, %o1: tensor<?x4xi32>):
    %1 = dsv4.router_logits %h1, %w1 outs(%e1 : tensor<?x8xf32>) : tensor<?x64xbf16>, tensor<8x64xbf16>
    %2 = dsv4.gate %1 function sigmoid outs(%e1 : tensor<?x8xf32>) : tensor<?x8xf32>
    %3 = dsv4.topk %2 order sorted outs(%o1 : tensor<?x4xi32>) : tensor<?x8xf32>
    dsv4.yield %3 : tensor<?x4xi32>
  }
  return %0 : tensor<?x4xi32>
}
