// Row programs of routers: what is selected by a warp is weighed place by place in the selection's second
// region, what is looked up is a row of its own.

// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule=arch=sm_90a --convert-dsv4-to-vector --canonicalize --cse | FileCheck %s

// The bias chooses and does not weigh.
// CHECK-LABEL: func.func @router
// CHECK: dsv4.kernel @router{{.*}} schedule <threads = 32, {{.*}}select = warp>
// CHECK: cuda.select 6 of %{{.*}} most 64 order sorted : index load {
// CHECK-NEXT: ^bb0(%[[COLUMN:.*]]: index):
// CHECK: %[[LOGITS:.*]] = vector.load %[[X:.*]][%{{.*}}] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
// CHECK-NEXT: %[[SCORES:.*]] = cuda.activation sigmoid %[[LOGITS]] : vector<4xf32>
// One row for all tokens.
// CHECK-NEXT: %[[BIAS:.*]] = vector.load %{{.*}}[%[[COLUMN]]] {alignment = 16 : i64}
// CHECK-NEXT: %[[KEYS:.*]] = arith.addf %[[SCORES]], %[[BIAS]]
// CHECK-NEXT: cuda.select_yield %[[KEYS]]
// CHECK: emit {
// CHECK-NEXT: ^bb0(%[[PLACE:.*]]: index, %[[INDEX:.*]]: index, %{{.*}}: f32):
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[PLACE]]
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[INDEX]] : index to i32
// CHECK-NEXT: memref.store %[[I]], %{{.*}}[%[[AT]]]
// CHECK: %[[THERE:.*]] = arith.maxsi %[[INDEX]], %c0
// CHECK: %[[LOGIT:.*]] = vector.load %{{.*}} {alignment = 4 : i64} : memref<?xf32>, vector<1xf32>
// CHECK-NEXT: %[[SCORE:.*]] = cuda.activation sigmoid %[[LOGIT]]
// CHECK-NEXT: %[[PICKED:.*]] = cuda.where_valid %[[SCORE]] at %[[I]] below 64
// CHECK-NEXT: %[[SUM:.*]] = cuda.place_sum %[[PICKED]] of 6
// CHECK-NEXT: %[[BOUNDED:.*]] = arith.maximumf %[[SUM]]
// CHECK-NEXT: %[[SHARE:.*]] = arith.divf %[[PICKED]], %[[BOUNDED]]
// CHECK-NEXT: %[[WEIGHT:.*]] = arith.mulf %[[SHARE]]
// CHECK-NEXT: vector.store %[[WEIGHT]], %{{.*}}[%[[AT]]] {alignment = 4 : i64}
func.func @router(%x: tensor<4x64xf32>, %b: tensor<64xf32>, %i: tensor<4x6xi32>, %o: tensor<4x6xf32>)
    -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xf32>
  %c = dsv4.topk %g bias(%b : tensor<64xf32>) order sorted outs(%i : tensor<4x6xi32>) : tensor<4x64xf32>
  %w = dsv4.route_weights %g[%c] renormalize scale 2.0 outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// Of the logits only those are read that the table names.
// CHECK-LABEL: func.func @hash
// CHECK: dsv4.kernel @hash
// CHECK: %[[ID:.*]] = arith.index_cast
// CHECK: %[[IN:.*]] = arith.andi
// CHECK: %[[ENTRIES:.*]] = vector.maskedload {{.*}} into vector<6xi32>
// CHECK-NEXT: %[[FOUND:.*]] = arith.select %[[IN]], %[[ENTRIES]]
// CHECK: %[[LOGITS:.*]] = cuda.gather %{{.*}} at %[[FOUND]] below 64 : memref<?xbf16>, index, vector<6xi32> -> vector<6xbf16>
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[LOGITS]]
// CHECK-NEXT: %[[SCORES:.*]] = cuda.activation sigmoid %[[WIDE]]
// CHECK-NEXT: %[[PICKED:.*]] = cuda.where_valid %[[SCORES]] at %[[FOUND]] below 64 : vector<6xf32>, vector<6xi32>
// CHECK-NEXT: cuda.reduce sum %[[PICKED]] per 6
// CHECK-NOT: vector.load
// CHECK: vector.store %[[FOUND]]
// CHECK: vector.store
func.func @hash(%t: tensor<9x6xi32>, %d: tensor<4xi32>, %x: tensor<4x64xbf16>, %i: tensor<4x6xi32>,
                %o: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>) {
  %e = tensor.empty() : tensor<4x64xf32>
  %c = dsv4.lookup %t[%d] outs(%i : tensor<4x6xi32>) : tensor<9x6xi32>, tensor<4xi32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<4x64xf32>) : tensor<4x64xbf16>
  %w = dsv4.route_weights %g[%c] renormalize outs(%o : tensor<4x6xf32>) : tensor<4x64xf32>, tensor<4x6xi32>
  return %c, %w : tensor<4x6xi32>, tensor<4x6xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: %[[X:.*]] = vector.load
// CHECK-NEXT: %[[MOST:.*]] = cuda.reduce max_nan %[[X]] per 64 : vector<64xf32> to vector<1xf32>
// CHECK-NEXT: %[[ALL:.*]] = vector.broadcast %[[MOST]]
// CHECK-NEXT: %[[BELOW:.*]] = arith.subf %[[X]], %[[ALL]]
// CHECK-NEXT: %[[POWERS:.*]] = cuda.activation exp %[[BELOW]]
// CHECK-NEXT: cuda.reduce sum %[[POWERS]] per 64
// CHECK: arith.divf %[[POWERS]]
func.func @softmax(%x: tensor<4x64xf32>, %o: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %g = dsv4.gate %x function softmax outs(%o : tensor<4x64xf32>) : tensor<4x64xf32>
  return %g : tensor<4x64xf32>
}
