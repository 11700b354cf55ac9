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
// CHECK: cuda.select_tiles 1 of 7 rows 1 columns 7 calls 8 warps 1 in %{{.*}} ties high nan first : memref<?xi8> limit {
// CHECK-NEXT: ^bb0(%{{.*}}: i32):
// CHECK-NOT: score
func.func @legal(%n: i32) {
  %memory = cuda.shared 84 from 0 : memref<?xi8>
  cuda.select_tiles 1 of 7 rows 1 columns 7 calls 8 warps 1 in %memory ties high nan first : memref<?xi8> limit {
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

// CHECK-LABEL: func.func @resident
// CHECK: %[[MEMORY:.*]] = cuda.shared 8192 from 128 : memref<?xi8>
// CHECK: cuda.select_resident 20 of 333 rows 4 threads 64 vectors 2 cluster 3 in %[[MEMORY]] order index_ascending smallest ties high nan first : memref<?xi8> limit {
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
func.func @resident(%n: index) {
  %memory = cuda.shared 8192 from 128 : memref<?xi8>
  cuda.select_resident 20 of 333 rows 4 threads 64 vectors 2 cluster 3 in %memory order index_ascending smallest
      ties high nan first : memref<?xi8> limit {
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

// As many elements as the threads have, without what has a default.
// CHECK-LABEL: func.func @legal_resident
// CHECK: cuda.select_resident 4096 of 262144 rows 1 threads 512 vectors 8 cluster 16 in %{{.*}} : memref<?xi8> limit {
// CHECK-NEXT: ^bb0(%{{.*}}: i32):
// CHECK-NOT: score
func.func @legal_resident(%n: i32) {
  %memory = cuda.shared 65536 from 0 : memref<?xi8>
  cuda.select_resident 4096 of 262144 rows 1 threads 512 vectors 8 cluster 16 in %memory : memref<?xi8> limit {
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
