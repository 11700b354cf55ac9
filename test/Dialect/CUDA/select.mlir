// Selections of threads, read back. Kind `block` is said by leaving it away.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s

// CHECK-LABEL: func.func @block
// CHECK: cuda.select 8 of %{{[a-z0-9]+}} max 64 threads 64 : index load {
// CHECK: cuda.load_part %{{.*}}[%{{.*}}] of %{{.*}} : memref<?xf32>, index, index -> vector<4xf32>
// CHECK: cuda.select_yield %{{.*}} : vector<4xf32>
// CHECK: } emit {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: f32):
// CHECK: cuda.select_yield
func.func @block(%m: memref<?xf32>, %n: index, %o: memref<?xf32>) {
  cuda.select 8 of %n max 64 algorithm block threads 64 : index load {
  ^bb0(%c: index):
    %x = cuda.load_part %m[%c] of %n : memref<?xf32>, index, index -> vector<4xf32>
    cuda.select_yield %x : vector<4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    memref.store %v, %o[%p] : memref<?xf32>
    cuda.select_yield
  }
  return
}

// CHECK-LABEL: func.func @rounds
// CHECK: cuda.select 8 of %{{.*}} max 4096 algorithm stream few_rounds threads 512 vectors 2 : i32 load {
func.func @rounds(%x: vector<1x4xf32>, %n: i32) {
  cuda.select 8 of %n max 4096 algorithm stream few_rounds threads 512 vectors 2 : i32 load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<1x4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// CHECK-LABEL: func.func @cluster
// CHECK: cuda.select 8 of %{{.*}} max 4096 order sorted smallest algorithm stream threads 512 vectors 2 cluster 8 computed : i32 load {
func.func @cluster(%x: vector<1x4xf32>, %n: i32) {
  cuda.select 8 of %n max 4096 order sorted smallest algorithm stream threads 512 vectors 2 cluster 8 computed : i32 load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<1x4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// CHECK-LABEL: func.func @odd_cluster
// CHECK: cuda.select 8 of %{{[a-z0-9]+}} max 4096 order sorted smallest threads 512 vectors 2 cluster 11 computed : i32 load {
func.func @odd_cluster(%x: vector<1x4xf32>, %n: i32) {
  cuda.select 8 of %n max 4096 order sorted smallest algorithm block threads 512 vectors 2 cluster 11 computed : i32 load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<1x4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// CHECK-LABEL: func.func @grid
// CHECK: cuda.select 8 of %{{.*}} max 4096 algorithm grid threads 512 vectors 2 blocks 64 in %{{.*}} computed : i32, memref<?xi8> load {
func.func @grid(%x: vector<1x4xf32>, %n: i32, %w: memref<?xi8>) {
  cuda.select 8 of %n max 4096 algorithm grid threads 512 vectors 2 blocks 64 in %w computed : i32, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<1x4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// CHECK-LABEL: func.func @groups
// CHECK: cuda.select 8 of %{{.*}} max 256 nan first algorithm warp vectors 2 groups 8 keep 4 by 2 : i32 load {
func.func @groups(%x: vector<1x4xf32>, %n: i32) {
  cuda.select 8 of %n max 256 nan first algorithm warp vectors 2 groups 8 keep 4 by 2 : i32 load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<1x4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}

// CHECK-LABEL: func.func @columns
// CHECK: cuda.columns %{{.*}} at %{{.*}} : vector<256xf32>, index to vector<4xf32>
// CHECK: cuda.columns %{{.*}} at %{{.*}} lanes 32 : vector<2x4xf32>, i32 to vector<1x4xf32>
// CHECK: cuda.keep_vectors %{{.*}}, %{{.*}} otherwise 1.500000e+00 : vector<2x4xf32>, i32
func.func @columns(%row: vector<256xf32>, %tile: vector<2x4xf32>, %c: index, %i: i32) {
  %0 = cuda.columns %row at %c : vector<256xf32>, index to vector<4xf32>
  %1 = cuda.columns %tile at %i lanes 32 : vector<2x4xf32>, i32 to vector<1x4xf32>
  %2 = cuda.keep_vectors %tile, %i otherwise 1.5 : vector<2x4xf32>, i32
  return
}

// CHECK-LABEL: func.func @head
// CHECK: cuda.select 8 of %{{.*}} after %{{.*}} : i32 max 64 order sorted smallest ties high algorithm grid threads 64 blocks 2 in %{{.*}} : i32, memref<?xi8> load {
func.func @head(%x: vector<1x4xf32>, %n: i32, %h: i32, %w: memref<?xi8>) {
  cuda.select 8 of %n after %h : i32 max 64 order sorted smallest ties high algorithm grid threads 64 blocks 2 in %w
      : i32, memref<?xi8> load {
  ^bb0(%c: index):
    cuda.select_yield %x : vector<1x4xf32>
  } emit {
  ^bb0(%p: index, %i: index, %v: f32):
    cuda.select_yield
  }
  return
}
