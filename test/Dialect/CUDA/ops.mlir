// Every op, read back from its own text, from generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt | FileCheck %s

// CHECK-LABEL: func.func @load
func.func @load(%bytes: memref<?xi8>, %floats: memref<?xf32>, %i: i32, %l: i64,
                %x: index, %p: i1) {
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xf32>, i32 -> f32
  %0 = cuda.load %floats[%i] : memref<?xf32>, i32 -> f32
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xf32>, index -> vector<4xf32>
  %1 = cuda.load %floats[%x] : memref<?xf32>, index -> vector<4xf32>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] if %{{[a-z0-9]+}} stride 64 align 8 : memref<?xi8>, i64 -> vector<7x8xf8E4M3FN>
  %2 = cuda.load %bytes[%l] if %p stride 64 align 8 : memref<?xi8>, i64 -> vector<7x8xf8E4M3FN>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] align 4 : memref<?xi8>, i32 -> vector<1x8xbf16>
  %3 = cuda.load %bytes[%i] align 4 : memref<?xi8>, i32 -> vector<1x8xbf16>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] evict_last : memref<?xi8>, i32 -> vector<1x8xbf16>
  %4 = cuda.load %bytes[%i] evict_last : memref<?xi8>, i32 -> vector<1x8xbf16>
  // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] ordered : memref<?xf32>, i32 -> f32
  %5 = cuda.load %floats[%i] ordered : memref<?xf32>, i32 -> f32
  return
}

// CHECK-LABEL: func.func @store
func.func @store(%out: memref<?xbf16>, %tile: vector<7x8xbf16>,
                 %vector: vector<8xbf16>, %scalar: bf16, %i: i32, %l: i64) {
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] stride 64 align 8 streaming : vector<7x8xbf16>, memref<?xbf16>, i64
  cuda.store %tile, %out[%l] stride 64 align 8 streaming : vector<7x8xbf16>, memref<?xbf16>, i64
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : vector<8xbf16>, memref<?xbf16>, i32
  cuda.store %vector, %out[%i] default : vector<8xbf16>, memref<?xbf16>, i32
  // CHECK: cuda.store %{{[a-z0-9]+}}, %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : bf16, memref<?xbf16>, i32
  cuda.store %scalar, %out[%i] : bf16, memref<?xbf16>, i32
  return
}

// CHECK-LABEL: func.func @registers
func.func @registers(%steps: vector<7xf32>, %chunks: vector<4x2xf32>, %fp4: vector<4x8xf4E2M1FN>) {
  // CHECK: cuda.expand %{{[a-z0-9]+}} : vector<7xf32> to vector<14x8xf32>
  %0 = cuda.expand %steps : vector<7xf32> to vector<14x8xf32>
  // CHECK: cuda.expand %{{[a-z0-9]+}} : vector<4x2xf32> to vector<4x8xf32>
  %1 = cuda.expand %chunks : vector<4x2xf32> to vector<4x8xf32>
  // CHECK: cuda.swap_nibbles %{{[a-z0-9]+}} : vector<4x8xf4E2M1FN>
  %2 = cuda.swap_nibbles %fp4 : vector<4x8xf4E2M1FN>
  // CHECK: cuda.dequantize %{{[a-z0-9]+}} by %{{[a-z0-9]+}} : vector<4x8xf4E2M1FN> by vector<4x2xf32> to vector<4x8xbf16>
  %3 = cuda.dequantize %2 by %chunks : vector<4x8xf4E2M1FN> by vector<4x2xf32> to vector<4x8xbf16>
  return
}

// CHECK-LABEL: func.func @launches
func.func @launches() {
  // CHECK: cuda.wait_for_predecessors
  cuda.wait_for_predecessors
  // CHECK: cuda.launch_successors
  cuda.launch_successors
  return
}

// CHECK: gpu.module @m attributes {cuda.targets = [#cuda.target<"sm_90">, #cuda.target<"sm_90a">, #cuda.target<"sm_100f">]}
gpu.module @m attributes {cuda.targets = [
  #cuda.target<"sm_90">, #cuda.target<"sm_90a">, #cuda.target<"sm_100f">]} {
}
