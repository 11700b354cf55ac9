// Routers are one kernel where the selection is one of a warp; else remarks say why not.

// RUN: dsv4-opt %s --dsv4-form-kernels --split-input-file | FileCheck %s
// RUN: dsv4-opt %s --dsv4-form-kernels --split-input-file -o /dev/null \
// RUN:   --remarks-filter=dsv4-form-kernels --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// What is chosen is a result, too.
// CHECK-LABEL: func.func @router
// CHECK: %[[K:.*]]:2 = dsv4.kernel @router
// CHECK: dsv4.gate
// CHECK: %[[I:.*]] = dsv4.topk
// CHECK: %[[W:.*]] = dsv4.route_weights
// CHECK: dsv4.yield %[[I]], %[[W]]
// CHECK: return %[[K]]#0, %[[K]]#1
// REMARK: kernel 'router' holds dsv4.gate dsv4.topk dsv4.route_weights
func.func @router(%x: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// CHECK-LABEL: func.func @hash
// CHECK: dsv4.kernel @hash
// CHECK-NOT: dsv4.kernel
// REMARK: kernel 'hash' holds dsv4.lookup dsv4.gate dsv4.route_weights
func.func @hash(%t: tensor<?x6xi32>, %d: tensor<4xi32>, %x: tensor<4x64xf32>, %i: tensor<4x6xi32>,
                %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<?x6xi32>, tensor<4xi32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// The largest element of a row is known only behind all of it.
// CHECK-LABEL: func.func @softmax
// CHECK: dsv4.kernel @softmax_0
// CHECK: dsv4.kernel @softmax_1
// REMARK-DAG: not fused with dsv4.gate: it computes whole rows, of which single elements are taken
func.func @softmax(%x: tensor<4x64xf32>, %e: tensor<4x64xf32>, %i: tensor<4x6xi32>,
                   %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %g = dsv4.gate %x function softmax outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// More than a warp selects.
// CHECK-LABEL: func.func @many
// CHECK: dsv4.kernel @many_0
// CHECK: dsv4.kernel @many_1
// REMARK: not fused with dsv4.topk: a warp selects at most 32 elements from at most 1024
func.func @many(%g: tensor<4x2048xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x2048xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x2048xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// -----

// The first op that weighs them, which may weigh other scores, has them in its kernel, the second reads them.
// CHECK-LABEL: func.func @between
// CHECK: dsv4.kernel @between_0
// CHECK: dsv4.topk
// CHECK-NEXT: dsv4.route_weights
// CHECK: dsv4.kernel @between_1
// REMARK: not fused with dsv4.topk: another of its results is used between them
func.func @between(%g: tensor<4x64xf32>, %s: tensor<4x64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>,
                   %p: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %c = dsv4.topk %g order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %v = dsv4.route_weights %s[%c] outs(%p : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %v, %w : tensor<4x6xf32>, tensor<4x6xf32>
}
