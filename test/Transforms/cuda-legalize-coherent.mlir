// Memory that the kernel writes is read through the coherent path, wherever the store is; other
// memory as it was asked for.

// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-legalize))" | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @both
  gpu.func @both(%state: memref<?xf32>, %in: memref<?xf32>, %out: memref<?xf32>, %yes: i1) kernel {
    %t = gpu.thread_id x upper_bound 128
    // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] coherent : memref<?xf32>, i32 -> vector<1x4xf32>
    %a = cuda.load %state[%t] : memref<?xf32>, index -> vector<1x4xf32>
    // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] coherent : memref<?xf32>, i32 -> vector<1x4xf32>
    %b = cuda.load %state[%t] evict_last : memref<?xf32>, index -> vector<1x4xf32>
    // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] : memref<?xf32>, i32 -> vector<1x4xf32>
    %c = cuda.load %in[%t] : memref<?xf32>, index -> vector<1x4xf32>
    // CHECK: cuda.load %{{[a-z0-9]+}}[%{{[a-z0-9]+}}] evict_last : memref<?xf32>, i32 -> vector<1x4xf32>
    %d = cuda.load %in[%t] evict_last : memref<?xf32>, index -> vector<1x4xf32>
    %e = arith.addf %a, %b : vector<1x4xf32>
    %f = arith.addf %c, %d : vector<1x4xf32>
    cuda.store %e, %out[%t] : vector<1x4xf32>, memref<?xf32>, index
    scf.if %yes {
      cuda.store %f, %state[%t] : vector<1x4xf32>, memref<?xf32>, index
    }
    gpu.return
  }
}
