// Ops of an extension say by interfaces what a launch plan must know of them.

// RUN: dsv4-tile-opt %s --dsv4-outline-kernels="arch=sm_90a" | FileCheck %s

// An op that writes lines of 128 bytes, one that reads, and one that says nothing.
// CHECK: dsv4.launch {{.*}} parameters ["write(lines, 128)", "update(wide, 64)", "update(any, 2)"]
func.func @foreign(%lines: tensor<4x8xf32> {dsv4.name = "lines"},
                   %wide: tensor<4x8xf32> {dsv4.name = "wide"},
                   %any: tensor<4x8xbf16> {dsv4.name = "any"}) {
  dsv4.kernel @k(%lines, %wide, %any)
      schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xbf16>) -> () {
  ^bb0(%lines1: tensor<4x8xf32>, %wide1: tensor<4x8xf32>, %any1: tensor<4x8xbf16>):
    %c0 = arith.constant 0 : index
    %l = dsv4.buffer %lines1 : tensor<4x8xf32> to memref<?xf32>
    %w = dsv4.buffer %wide1 : tensor<4x8xf32> to memref<?xf32>
    %a = dsv4.buffer %any1 : tensor<4x8xbf16> to memref<?xbf16>
    tiletest.fill %l : memref<?xf32>
    %x = cuda.load %w[%c0] : memref<?xf32>, index -> vector<4xf32>
    tiletest.fill %w {line = 64 : i64} : memref<?xf32>
    tiletest.opaque %a : memref<?xbf16>
  }
  return
}
