// Selections from tiles, read back.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @tiles
// CHECK: %[[MEMORY:.*]] = cuda.shared 1600 from 128 : memref<?xi8>
// CHECK: cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %[[MEMORY]] order sorted smallest : memref<?xi8> limit {
// CHECK: ^bb0(%{{.*}}: index):
// CHECK: cuda.tile_yield %{{.*}} : index
// CHECK: } source {
// CHECK: ^bb0(%{{.*}}: !cuda.callable):
// CHECK: cuda.tile_yield
// CHECK: } score {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[VALUE:.*]]: vector<1x1xf32>):
// CHECK: cuda.tile_yield %[[VALUE]] : vector<1x1xf32>
// CHECK: } emit {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: f32):
// CHECK: cuda.tile_yield
func.func @tiles(%n: index) {
  %memory = cuda.shared 1600 from 128 : memref<?xi8>
  cuda.select_tiles 20 of 333 rows 3 columns 16 calls 8 warps 2 in %memory order sorted smallest
      : memref<?xi8> limit {
  ^bb0(%row: index):
    cuda.tile_yield %n : index
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } score {
  ^bb0(%row: index, %column: index, %value: vector<1x1xf32>):
    cuda.tile_yield %value : vector<1x1xf32>
  } emit {
  ^bb0(%row: index, %rank: index, %index: index, %value: f32):
    cuda.tile_yield
  }
  return
}

// As cuda-legalize leaves it, and without what has a default.
// CHECK-LABEL: func.func @legal
// CHECK: cuda.select_tiles 1 of 7 rows 1 columns 7 calls 8 warps 1 in %{{.*}} ties high : memref<?xi8> limit {
// CHECK-NEXT: ^bb0(%{{.*}}: i32):
// CHECK-NOT: score
func.func @legal(%n: i32) {
  %memory = cuda.shared 84 from 0 : memref<?xi8>
  cuda.select_tiles 1 of 7 rows 1 columns 7 calls 8 warps 1 in %memory ties high : memref<?xi8> limit {
  ^bb0(%row: i32):
    cuda.tile_yield %n : i32
  } source {
  ^bb0(%consume: !cuda.callable):
    cuda.tile_yield
  } emit {
  ^bb0(%row: i32, %rank: i32, %index: i32, %value: f32):
    cuda.tile_yield
  }
  return
}
