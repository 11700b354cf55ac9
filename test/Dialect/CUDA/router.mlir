// The ops that routers are made of, read back from text, generic text and bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-LABEL: func.func @router
func.func @router(%m: memref<?xf32>, %b: memref<?xbf16>, %at: index, %one: i32,
                  %i: vector<2x4xi32>, %x: vector<2x4xf32>, %row: vector<64xf32>) {
  // CHECK: cuda.gather %{{.*}}[%{{.*}}] at %{{.*}} below 256 : memref<?xf32>, index, vector<2x4xi32> -> vector<2x4xf32>
  %0 = cuda.gather %m[%at] at %i below 256 : memref<?xf32>, index, vector<2x4xi32> -> vector<2x4xf32>
  // CHECK: cuda.gather %{{.*}} -> vector<2x4xbf16>
  %1 = cuda.gather %b[%at] at %i below 256 : memref<?xbf16>, index, vector<2x4xi32> -> vector<2x4xbf16>
  // CHECK: cuda.where_valid %{{.*}} at %{{.*}} below 256 : vector<2x4xf32>, vector<2x4xi32>
  %2 = cuda.where_valid %0 at %i below 256 : vector<2x4xf32>, vector<2x4xi32>
  // CHECK: cuda.where_valid %{{.*}} at %{{.*}} below 256 : vector<2x4xi32>, vector<2x4xi32>
  %indices = cuda.where_valid %i at %i below 256 : vector<2x4xi32>, vector<2x4xi32>
  // CHECK: cuda.where_valid %{{.*}} at %{{.*}} below 256 otherwise 0xFF800000 : vector<2x4xf32>, i32
  %3 = cuda.where_valid %2 at %one below 256 otherwise 0xFF800000 : vector<2x4xf32>, i32
  // CHECK: cuda.activation sqrt_softplus %{{.*}} : vector<2x4xf32>
  %4 = cuda.activation sqrt_softplus %3 : vector<2x4xf32>
  // CHECK: cuda.activation nan_to_zero %{{.*}} : vector<2x4xf32>
  %n = cuda.activation nan_to_zero %4 : vector<2x4xf32>
  // CHECK: cuda.activation sigmoid
  %5 = cuda.activation sigmoid %4 : vector<2x4xf32>
  // CHECK: cuda.activation exp
  %6 = cuda.activation exp %5 : vector<2x4xf32>
  // CHECK: cuda.reduce max_nan %{{.*}} per 64 : vector<64xf32> to vector<1xf32>
  %7 = cuda.reduce max_nan %row per 64 : vector<64xf32> to vector<1xf32>
  return
}
