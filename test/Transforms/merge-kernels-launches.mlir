// Kernels that depend on their launch as a whole keep it.

// RUN: dsv4-opt %s --dsv4-merge-kernels --remarks-filter=dsv4-merge-kernels --remark-format=emitRemark 2>&1 | FileCheck %s

// CHECK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'grid' and 'workspace' have launches of their own: 'dsv4.workspace' depends on the launch as a whole
// CHECK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'workspace' and 'y' have launches of their own: a block id of it has no bound
// CHECK: remark: [Missed] dsv4-merge-kernels {{.*}}kernels 'y' and 'effects' have launches of their own: the first is not one of rows alone
// CHECK-NOT: remark

// A kernel that depends on its launch as a whole keeps it: one with a grid, a workspace, or blocks along y.
// CHECK-LABEL: func.func @launches(
// CHECK: dsv4.kernel @grid(
// CHECK: dsv4.kernel @workspace(
// CHECK: dsv4.kernel @y(
// CHECK: dsv4.kernel @effects(
// CHECK: call @somewhere
// CHECK: dsv4.kernel @after(
func.func private @somewhere()
func.func @launches(%a: tensor<8x8xf32> {dsv4.name = "a"}, %b: tensor<8x8xf32> {dsv4.name = "b"},
                    %c: tensor<8x8xf32> {dsv4.name = "c"}, %d: tensor<8x8xf32> {dsv4.name = "d"},
                    %e: tensor<8x8xf32> {dsv4.name = "e"}) {
  dsv4.kernel @grid(%a) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<8x8xf32>) -> () {
  ^bb0(%m: tensor<8x8xf32>):
    %memory = dsv4.buffer %m : tensor<8x8xf32> to memref<?xf32>
    %two = arith.constant 2 : index
    dsv4.grid %two
    %block = gpu.block_id x upper_bound 2
    %x = arith.constant 1.0 : f32
    memref.store %x, %memory[%block] : memref<?xf32>
  }
  dsv4.kernel @workspace(%b) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<8x8xf32>) -> () {
  ^bb0(%m: tensor<8x8xf32>):
    %memory = dsv4.workspace 16 : memref<?xi8>
    %block = gpu.block_id x upper_bound 2
    %x = arith.constant 1 : i8
    memref.store %x, %memory[%block] : memref<?xi8>
  }
  dsv4.kernel @y(%c) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<8x8xf32>) -> () {
  ^bb0(%m: tensor<8x8xf32>):
    %memory = dsv4.buffer %m : tensor<8x8xf32> to memref<?xf32>
    %block = gpu.block_id y upper_bound 2
    %x = arith.constant 1.0 : f32
    memref.store %x, %memory[%block] : memref<?xf32>
  }
  dsv4.kernel @effects(%d) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<8x8xf32>) -> () {
  ^bb0(%m: tensor<8x8xf32>):
    %memory = dsv4.buffer %m : tensor<8x8xf32> to memref<?xf32>
    %block = gpu.block_id x upper_bound 2
    %x = arith.constant 1.0 : f32
    memref.store %x, %memory[%block] : memref<?xf32>
  }
  call @somewhere() : () -> ()
  dsv4.kernel @after(%e) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<8x8xf32>) -> () {
  ^bb0(%m: tensor<8x8xf32>):
    %memory = dsv4.buffer %m : tensor<8x8xf32> to memref<?xf32>
    %block = gpu.block_id x upper_bound 2
    %x = arith.constant 1.0 : f32
    memref.store %x, %memory[%block] : memref<?xf32>
  }
  return
}
