// One number for all elements of a tile is written as the number where the device library takes both, and elsewhere as a
// tile of it. A store of a bare number would write one element.

// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-legalize,cuda-prepare-for-emission))" -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s

gpu.module @m {
  gpu.func @numbers(%x: memref<?xf32>, %i: i32) kernel {
    %c = arith.constant dense<1.5> : vector<4xf32>
    %v = cuda.load %x[%i] : memref<?xf32>, i32 -> vector<4xf32>
    // CHECK: const auto [[V:.*]] = dsv4::load<dsv4::Vec<float, 4>>(&[[X:.*]]);
    // CHECK: dsv4::store(&[[X]], [[V]] + 1.5f);
    %0 = arith.addf %v, %c : vector<4xf32>
    cuda.store %0, %x[%i] : vector<4xf32>, memref<?xf32>, i32
    // CHECK: dsv4::store(&[[X]], 1.5f / [[V]]);
    %1 = arith.divf %c, %v : vector<4xf32>
    cuda.store %1, %x[%i] : vector<4xf32>, memref<?xf32>, i32
    // CHECK: dsv4::store(&[[X]], dsv4::fill<dsv4::Vec<float, 4>>(1.5f) + [[V]]);
    %2 = arith.addf %c, %v : vector<4xf32>
    cuda.store %2, %x[%i] : vector<4xf32>, memref<?xf32>, i32
    // CHECK: dsv4::store(&[[X]], dsv4::max(dsv4::fill<dsv4::Vec<float, 4>>(1.5f), [[V]]));
    %3 = arith.maxnumf %c, %v : vector<4xf32>
    cuda.store %3, %x[%i] : vector<4xf32>, memref<?xf32>, i32
    // CHECK: dsv4::store(&[[X]], dsv4::sqrt(dsv4::fill<dsv4::Vec<float, 4>>(1.5f)));
    %4 = math.sqrt %c : vector<4xf32>
    cuda.store %4, %x[%i] : vector<4xf32>, memref<?xf32>, i32
    // CHECK: dsv4::store(&[[X]], dsv4::fill<dsv4::Vec<float, 4>>(1.5f));
    cuda.store %c, %x[%i] : vector<4xf32>, memref<?xf32>, i32
    gpu.return
  }

  // The lowest numbers are no literals with a sign.
  gpu.func @lowest(%x: memref<?xi32>, %y: memref<?xi64>, %i: i32, %j: i64) kernel {
    // CHECK: max((-2147483647 - 1), v__2)
    %lowest = arith.constant -2147483648 : i32
    %0 = arith.maxsi %lowest, %i : i32
    cuda.store %0, %x[%i] : i32, memref<?xi32>, i32
    // CHECK: max(-2147483648ll, v__3)
    %long = arith.constant -2147483648 : i64
    %1 = arith.maxsi %long, %j : i64
    cuda.store %1, %y[%i] : i64, memref<?xi64>, i32
    // CHECK: max((-9223372036854775807ll - 1), v__3)
    %longest = arith.constant -9223372036854775808 : i64
    %2 = arith.maxsi %longest, %j : i64
    cuda.store %2, %y[%i] : i64, memref<?xi64>, i32
    gpu.return
  }
}
