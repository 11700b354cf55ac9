// Where a warp can have a row, it has: one row a block where rows are few, else as many as warps.

// RUN: dsv4-opt %s --dsv4-form-kernels --dsv4-select-schedule | FileCheck %s

// CHECK-LABEL: func.func @few
// CHECK: schedule <threads = 32, lanes = 1, vector = 4, {{.*}}select = warp>
func.func @few(%s: tensor<256x1024xf32>, %i: tensor<256x32xi32>) -> tensor<256x32xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<256x32xi32>) : tensor<256x1024xf32>
  return %0 : tensor<256x32xi32>
}

// Of bf16 a chunk has eight.
// CHECK-LABEL: func.func @many
// CHECK: schedule <threads = 128, lanes = 1, vector = 8, {{.*}}select = warp>
func.func @many(%s: tensor<?x144xbf16>, %i: tensor<?x6xi32>) -> tensor<?x6xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x6xi32>) : tensor<?x144xbf16>
  return %0 : tensor<?x6xi32>
}

// Nothing divides a prime.
// CHECK-LABEL: func.func @prime
// CHECK: vector = 1, {{.*}}select = warp>
func.func @prime(%s: tensor<?x257xf32>, %i: tensor<?x6xi32>) -> tensor<?x6xi32> {
  %0 = dsv4.topk %s outs(%i : tensor<?x6xi32>) : tensor<?x257xf32>
  return %0 : tensor<?x6xi32>
}

// More than a warp selects, and from more.
// CHECK-LABEL: func.func @places
// CHECK-NOT: select = warp
// CHECK-LABEL: func.func @columns
// CHECK-NOT: select = warp
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
// CHECK: schedule <threads = 128, lanes = 32, vector = 1,
// CHECK-LABEL: func.func @small
// CHECK: schedule <threads = 128, lanes = 1, vector = 1,
// CHECK-LABEL: func.func @divided
// CHECK: schedule <threads = 128, lanes = 4, vector = 8,
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
