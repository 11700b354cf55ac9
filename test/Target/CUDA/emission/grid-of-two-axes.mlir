// A kernel whose grid has two axes, written by hand as a program of threads: all pairs of two vectors.

// RUN: dsv4-opt %s -mlir-print-debuginfo \
// RUN:     --pass-pipeline="builtin.module(dsv4-outline-kernels,gpu.module(cse,cuda-form-device-calls,cuda-legalize,canonicalize,cse,cuda-prepare-for-emission))" \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s --strict-whitespace --match-full-lines
// NVRTC: sm_80 sm_90a sm_100a sm_120a

func.func @pairs(%x: tensor<?xf32> {dsv4.name = "x", dsv4.dims = ["m"]},
                 %y: tensor<?xf32> {dsv4.name = "y", dsv4.dims = ["n"]},
                 %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["m", "n"]}) {
  dsv4.kernel @pairs_kernel(%x, %y, %out) schedule <threads = 128, parts = [#dsv4.rows<lanes = 1, vector = 1>]>
      attributes {dsv4.rows_of = 2 : i64} : (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) -> () {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?x?xf32>):
    %xs = dsv4.buffer %a : tensor<?xf32> to memref<?xf32>
    %ys = dsv4.buffer %b : tensor<?xf32> to memref<?xf32>
    %sums = dsv4.buffer %c : tensor<?x?xf32> to memref<?xf32>
    %c128 = arith.constant 128 : index
    %m = dsv4.extent %a, 0 : tensor<?xf32>
    %n = dsv4.extent %b, 0 : tensor<?xf32>
    %blocks = arith.ceildivui %n, %c128 : index
    dsv4.grid %blocks, %m
    %thread = gpu.thread_id x upper_bound 128
    %block = gpu.block_id x upper_bound 16777215
    %row = gpu.block_id y
    %first = arith.muli %block, %c128 : index
    %column = arith.addi %first, %thread : index loc("column")
    %inside = arith.cmpi slt, %column, %n : index
    scf.if %inside {
      %left = memref.load %xs[%row] : memref<?xf32>
      %right = memref.load %ys[%column] : memref<?xf32>
      %sum = arith.addf %left, %right : f32
      %start = arith.muli %row, %n : index
      %at = arith.addi %start, %column : index
      memref.store %sum, %sums[%at] : memref<?xf32>
    }
  }
  return
}

// The whole text.
//     CHECK:// pairs_kernel
//CHECK-NEXT:// m = ?, n = ?
//CHECK-NEXT:// sm_90a: 128 threads, 1 lanes per row, vectors of 1 element
//CHECK-NEXT:extern "C" __global__ void __launch_bounds__(128)
//CHECK-NEXT:pairs_kernel(const float *__restrict__ x,
//CHECK-NEXT:             const float *__restrict__ y,
//CHECK-NEXT:             float *__restrict__ out,
//CHECK-NEXT:             int n) {
//CHECK-NEXT:  const int column = blockIdx.x * 128 + threadIdx.x;
//CHECK-NEXT:  if (column < n) {
//CHECK-NEXT:    const float value = x[blockIdx.y];
//CHECK-NEXT:    const float value_1 = y[column];
//CHECK-NEXT:    out[(long long)blockIdx.y * n + column] = value + value_1;
//CHECK-NEXT:  }
//CHECK-NEXT:}
