// A workspace is the last parameter, and of no argument. Blocks can share a row by it on every architecture.

// RUN: dsv4-opt %s --dsv4-outline-kernels="arch=sm_80" | FileCheck %s
// RUN: dsv4-opt %s --dsv4-outline-kernels="arch=sm_90a" | FileCheck %s

// CHECK: gpu.func @k(%{{.*}}: memref<?xf32>, %{{.*}}: i32 {{.*}}, %[[W:[a-z0-9]+]]: memref<?xi8>)
// CHECK-SAME: 64 blocks per row, read once
// CHECK-NOT: cuda.cluster
// CHECK: memref.store %{{.*}}, %[[W]]
// CHECK-LABEL: func.func @f
// CHECK: dsv4.launch @k_module::@k grid ["arg0.0 * 64", "1", "1"] block [128, 1, 1]
// CHECK-SAME: workspace "arg0.0 * 528" parameters ["read(arg0, 4)", "i32(arg0.0)", "workspace"]
func.func @f(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.select<algorithm = grid, vector = 4, blocks = 64>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %w = dsv4.workspace 528 : memref<?xi8>
    %n = dsv4.row_count %o1 : tensor<?x8xf32>
    %m = dsv4.buffer %o1 : tensor<?x8xf32> to memref<?xf32>
    %x = memref.load %m[%n] : memref<?xf32>
    %zero = arith.constant 0 : i8
    memref.store %zero, %w[%n] : memref<?xi8>
  }
  return
}
