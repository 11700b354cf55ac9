// Where a warp can have a row, it has: one row per block where rows are few, else as many as warps.

// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule | FileCheck %s

// CHECK-LABEL: func.func @few
// CHECK: schedule <threads = 32, {{.*}}parts = [#dsv4.select<algorithm = warp, vector = 4>]>
func.func @few(%s: tensor<256x1024xf32>, %i: tensor<256x32xi32>) -> tensor<256x32xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<256x32xi32>) : tensor<256x1024xf32>
  return %0 : tensor<256x32xi32>
}

// Of bf16 a vector has eight.
// CHECK-LABEL: func.func @many
// CHECK: schedule <threads = 128, {{.*}}parts = [#dsv4.select<algorithm = warp, vector = 8>]>
func.func @many(%s: tensor<?x144xbf16>, %i: tensor<?x6xi32>) -> tensor<?x6xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x6xi32>) : tensor<?x144xbf16>
  return %0 : tensor<?x6xi32>
}

// Nothing divides a prime.
// CHECK-LABEL: func.func @prime
// CHECK: #dsv4.select<algorithm = warp, vector = 1>
func.func @prime(%s: tensor<?x257xf32>, %i: tensor<?x6xi32>) -> tensor<?x6xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x6xi32>) : tensor<?x257xf32>
  return %0 : tensor<?x6xi32>
}

// More than a warp selects, and from more.
// CHECK-LABEL: func.func @places
// CHECK-NOT: algorithm = warp
// CHECK-LABEL: func.func @columns
// CHECK-NOT: algorithm = warp
func.func @places(%s: tensor<?x64xf32>, %i: tensor<?x33xi32>) -> tensor<?x33xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x33xi32>) : tensor<?x64xf32>
  return %0 : tensor<?x33xi32>
}
func.func @columns(%s: tensor<?x1032xf32>, %i: tensor<?x6xi32>) -> tensor<?x6xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x6xi32>) : tensor<?x1032xf32>
  return %0 : tensor<?x6xi32>
}

// All lanes of a warp have a row whose width few lanes divide.
// CHECK-LABEL: func.func @odd
// CHECK: schedule <threads = 128, {{.*}}parts = [#dsv4.rows<lanes = 32, vector = 1,
// CHECK-LABEL: func.func @small
// CHECK: schedule <threads = 128, {{.*}}parts = [#dsv4.rows<lanes = 1, vector = 1,
// CHECK-LABEL: func.func @divided
// CHECK: schedule <threads = 128, {{.*}}parts = [#dsv4.rows<lanes = 4, vector = 8,
func.func @odd(%x: tensor<?x127xf32>, %o: tensor<?x127xf32>) -> tensor<?x127xf32> {
  %0 = dsv4.gate %x function sigmoid outs(%o : tensor<?x127xf32>) : tensor<?x127xf32>
  return %0 : tensor<?x127xf32>
}
func.func @small(%x: tensor<?x7xf32>, %o: tensor<?x7xf32>) -> tensor<?x7xf32> {
  %0 = dsv4.gate %x function sigmoid outs(%o : tensor<?x7xf32>) : tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}
func.func @divided(%x: tensor<?x160xf32>, %o: tensor<?x160xf32>) -> tensor<?x160xf32> {
  %0 = dsv4.gate %x function sigmoid outs(%o : tensor<?x160xf32>) : tensor<?x160xf32>
  return %0 : tensor<?x160xf32>
}

// By token id a lane has a place, however many experts there are; with a softmax, which reads all of the row, a warp has it.
// CHECK-LABEL: func.func @by_id(
// CHECK: schedule <threads = 128, {{.*}}parts = [#dsv4.rows<lanes = 8, vector = 1,
// CHECK-LABEL: func.func @by_id_softmax(
// CHECK: schedule <threads = 128, {{.*}}parts = [#dsv4.rows<lanes = 32, vector = 1,
// CHECK-LABEL: func.func @by_id_softmax_one(
// CHECK: schedule <threads = 128, {{.*}}parts = [#dsv4.rows<lanes = 32, vector = 1,
func.func @by_id(%t: tensor<?x6xi32>, %d: tensor<?xi32>, %x: tensor<?x257xf32>, %e: tensor<?x257xf32>, %i: tensor<?x6xi32>,
                 %o: tensor<?x6xf32>) -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c = dsv4.lookup %t[%d] outs(%i : tensor<?x6xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %g = dsv4.gate %x function sigmoid outs(%e : tensor<?x257xf32>) : tensor<?x257xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<?x6xf32>) : tensor<?x257xf32>, tensor<?x6xi32>
  return %c, %w : tensor<?x6xi32>, tensor<?x6xf32>
}
func.func @by_id_softmax(%t: tensor<?x8xi32>, %d: tensor<?xi32>, %x: tensor<?x256xf32>, %e: tensor<?x256xf32>,
                         %i: tensor<?x8xi32>, %o: tensor<?x8xf32>) -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  %c = dsv4.lookup %t[%d] outs(%i : tensor<?x8xi32>) : tensor<?x8xi32>, tensor<?xi32>
  %g = dsv4.gate %x function softmax outs(%e : tensor<?x256xf32>) : tensor<?x256xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<?x8xf32>) : tensor<?x256xf32>, tensor<?x8xi32>
  return %c, %w : tensor<?x8xi32>, tensor<?x8xf32>
}
func.func @by_id_softmax_one(%t: tensor<?x1xi32>, %d: tensor<?xi32>, %x: tensor<?x64xf32>, %e: tensor<?x64xf32>,
                             %i: tensor<?x1xi32>, %o: tensor<?x1xf32>) -> (tensor<?x1xi32>, tensor<?x1xf32>) {
  %c = dsv4.lookup %t[%d] outs(%i : tensor<?x1xi32>) : tensor<?x1xi32>, tensor<?xi32>
  %g = dsv4.gate %x function softmax outs(%e : tensor<?x64xf32>) : tensor<?x64xf32>
  %w = dsv4.route_weights %g[%c] outs(%o : tensor<?x1xf32>) : tensor<?x64xf32>, tensor<?x1xi32>
  return %c, %w : tensor<?x1xi32>, tensor<?x1xf32>
}
