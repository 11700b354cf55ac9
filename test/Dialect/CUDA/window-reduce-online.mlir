// The ops that segments of windows are pooled with, read back from their own text, from generic text
// and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @segments
func.func @segments(%values: memref<?xf32>, %halves: memref<?xbf16>, %state: memref<?xi8>, %whole: index, %i: i32, %n: i32,
                  %yes: i1) {
  // CHECK: cuda.window_reduce_online 8 at %{{[a-z0-9]+}} of %{{[a-z0-9]+}} : index, index to vector<64xf32> {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index):
  // CHECK-NEXT: cuda.window_segment %{{[a-z0-9]+}} known %{{[a-z0-9]+}} kept %{{[a-z0-9]+}} ends %{{[a-z0-9]+}} : index begin {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index):
  // CHECK: cuda.window_yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<64xf32>, vector<64xf32>, vector<64xf32>
  // CHECK-NEXT: } member {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: index):
  // CHECK: cuda.window_yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<64xf32>, vector<64xf32>
  // CHECK-NEXT: } end {
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: vector<64xf32>, %{{[a-z0-9]+}}: vector<64xf32>, %{{[a-z0-9]+}}: vector<64xf32>):
  // CHECK: cuda.window_yield{{$}}
  %0 = cuda.window_reduce_online 8 at %whole of %whole : index, index to vector<64xf32> {
  ^bb0(%row: index):
    cuda.window_segment %row known %yes kept %yes ends %yes : index begin {
    ^bb0(%lane: index):
      %x = vector.load %values[%lane] : memref<?xf32>, vector<64xf32>
      cuda.window_yield %x, %x, %x : vector<64xf32>, vector<64xf32>, vector<64xf32>
    } member {
    ^bb0(%member: index, %lane: index):
      %x = vector.load %values[%member] : memref<?xf32>, vector<64xf32>
      cuda.window_yield %x, %x : vector<64xf32>, vector<64xf32>
    } end {
    ^bb0(%lane: index, %max: vector<64xf32>, %sum: vector<64xf32>, %acc: vector<64xf32>):
      vector.store %acc, %values[%row] : memref<?xf32>, vector<64xf32>
      cuda.window_yield
    }
  }
  // Four rows, each by 32 lanes of two elements, by way of shared memory; a lane of the result has four.
  // CHECK: cuda.window_reduce_online 128 at %{{[a-z0-9]+}} of %{{[a-z0-9]+}} count 4 threads 128 lanes 16 : i32, i32 to vector<1x4xf32> {
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xi8>, index -> vector<1x2xf32>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] staged : memref<?xf32>, index -> vector<1x2xf32>
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : vector<1x2xf32>, memref<?xi8>, index
  %1 = cuda.window_reduce_online 128 at %i of %n count 4 threads 128 lanes 16 : i32, i32 to vector<1x4xf32> {
  ^bb0(%row: index):
    cuda.window_segment %n known %yes kept %yes ends %yes : i32 begin {
    ^bb0(%lane: index):
      %x = cuda.load %state[%lane] : memref<?xi8>, index -> vector<1x2xf32>
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%member: index, %lane: index):
      %x = cuda.load %values[%member] staged : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %x, %x : vector<1x2xf32>, vector<1x2xf32>
    } end {
    ^bb0(%lane: index, %max: vector<1x2xf32>, %sum: vector<1x2xf32>, %acc: vector<1x2xf32>):
      cuda.store %max, %state[%lane] : vector<1x2xf32>, memref<?xi8>, index
      cuda.window_yield
    }
  }
  // Rows of bf16 with what is added to their scores, shared by two blocks; eight are loaded ahead.
  // CHECK: cuda.window_reduce_online 128 at %{{[a-z0-9]+}} of %{{[a-z0-9]+}} threads 64 lanes 16 cluster 2 groups 2 : i32, i32 to vector<1x16xf32> {
  // CHECK: cuda.window_yield %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : vector<1x2xbf16>, vector<1x2xbf16>, vector<1x2xf32>
  %2 = cuda.window_reduce_online 128 at %i of %n threads 64 lanes 16 cluster 2 groups 2 : i32, i32 to vector<1x16xf32> {
  ^bb0(%row: index):
    cuda.window_segment %n known %yes kept %yes ends %yes : i32 begin {
    ^bb0(%lane: index):
      %x = cuda.load %state[%lane] : memref<?xi8>, index -> vector<1x2xf32>
      cuda.window_yield %x, %x, %x : vector<1x2xf32>, vector<1x2xf32>, vector<1x2xf32>
    } member {
    ^bb0(%member: index, %lane: index):
      %x = cuda.load %halves[%member] : memref<?xbf16>, index -> vector<1x2xbf16>
      %y = cuda.load %values[%member] : memref<?xf32>, index -> vector<1x2xf32>
      cuda.window_yield %x, %x, %y : vector<1x2xbf16>, vector<1x2xbf16>, vector<1x2xf32>
    } end {
    ^bb0(%lane: index, %max: vector<1x2xf32>, %sum: vector<1x2xf32>, %acc: vector<1x2xf32>):
      cuda.window_yield
    }
  }
  return
}
