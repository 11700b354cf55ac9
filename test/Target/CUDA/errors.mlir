// What has no spelling is an error, never a comment in the text.

// RUN: split-file %s %t
// RUN: not dsv4-translate --mlir-to-cuda %t/op.mlir 2>&1 | FileCheck %s --check-prefix=OP
// RUN: not dsv4-translate --mlir-to-cuda %t/predicate.mlir 2>&1 | FileCheck %s --check-prefix=PREDICATE
// RUN: not dsv4-translate --mlir-to-cuda %t/type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not dsv4-translate --mlir-to-cuda %t/width.mlir 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not dsv4-translate --mlir-to-cuda %t/constant.mlir 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not dsv4-translate --mlir-to-cuda %t/branch.mlir 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: not dsv4-translate --mlir-to-cuda %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not dsv4-translate --mlir-to-cuda %t/config.mlir 2>&1 | FileCheck %s --check-prefix=CONFIG
// RUN: not dsv4-translate --mlir-to-cuda %t/index.mlir 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: not dsv4-translate --mlir-to-cuda %t/loop.mlir 2>&1 | FileCheck %s --check-prefix=LOOP

// OP: op.mlir:3:{{[0-9]+}}: error: 'arith.remf' op has no CUDA spelling
// PREDICATE: error: 'arith.cmpi' op has no CUDA spelling
// TYPE: error: type 'f64' has no CUDA spelling
// WIDTH: error: type 'i24' has no CUDA spelling
// CONSTANT: error: 'arith.constant' op has no CUDA spelling
// BRANCH: error: {{.*}}'arith.addi' op has no CUDA spelling within a conditional expression
// EMPTY: error: holds no gpu.func to print
// CONFIG: config.mlir:3:{{[0-9]+}}: error: 'cuda.select' op has no name for its config: run cuda-prepare-for-emission
// INDEX: error: type 'index' has no CUDA spelling
// LOOP: loop.mlir:3:{{[0-9]+}}: error: argument 0 of 'scf.for' has no name: run cuda-prepare-for-emission

//--- op.mlir
gpu.module @m {
  gpu.func @f(%out: memref<?xf32> loc("out"), %x: f32 loc("x"), %i: i32 loc("i")) kernel {
    %0 = arith.remf %x, %x : f32
    cuda.store %0, %out[%i] : f32, memref<?xf32>, i32
    gpu.return
  }
}

//--- predicate.mlir
gpu.module @m {
  gpu.func @f(%out: memref<?xi1> loc("out"), %i: i32 loc("i")) kernel {
    %0 = arith.cmpi ult, %i, %i : i32
    cuda.store %0, %out[%i] : i1, memref<?xi1>, i32
    gpu.return
  }
}

//--- type.mlir
gpu.module @m {
  gpu.func @f(%out: memref<?xf64> loc("out")) kernel {
    gpu.return
  }
}

//--- width.mlir
gpu.module @m {
  gpu.func @f(%x: i24 loc("x")) kernel {
    gpu.return
  }
}

//--- constant.mlir
gpu.module @m {
  gpu.func @f(%out: memref<?xf32> loc("out"), %i: i32 loc("i")) kernel {
    %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
    cuda.store %0, %out[%i] : vector<4xf32>, memref<?xf32>, i32
    gpu.return
  }
}

//--- branch.mlir
gpu.module @m {
  gpu.func @f(%out: memref<?xi32> loc("out"), %i: i32 loc("i"), %p: i1 loc("p")) kernel {
    %0 = scf.if %p -> (i32) {
      %1 = arith.addi %i, %i : i32 loc("line")
      scf.yield %1 : i32
    } else {
      scf.yield %i : i32
    } loc("choice")
    cuda.store %0, %out[%i] : i32, memref<?xi32>, i32
    gpu.return
  }
}

//--- empty.mlir
module {
}

//--- config.mlir
gpu.module @m {
  gpu.func @f(%in: memref<?xf32> loc("in"), %n: i32 loc("n")) kernel {
    cuda.select 8 of %n max 64 threads 64 : i32 load {
    ^bb0(%column: i32 loc("column")):
      %x = cuda.load %in[%n] : memref<?xf32>, i32 -> vector<1x4xf32>
      cuda.select_yield %x : vector<1x4xf32>
    } emit {
    ^bb0(%rank: i32 loc("rank"), %index: i32 loc("index"), %value: f32 loc("value")):
      cuda.select_yield
    }
    gpu.return
  }
}

//--- index.mlir
gpu.module @m {
  gpu.func @f(%in: memref<?xf32> loc("in"), %n: i32 loc("n")) kernel {
    cuda.select 8 of %n max 64 threads 64 attributes {cuda.config = "Config"} : i32 load {
    ^bb0(%column: index loc("column")):
      %x = cuda.load %in[%n] : memref<?xf32>, i32 -> vector<1x4xf32>
      cuda.select_yield %x : vector<1x4xf32>
    } emit {
    ^bb0(%rank: index loc("rank"), %index: index loc("index"), %value: f32 loc("value")):
      cuda.select_yield
    }
    gpu.return
  }
}

//--- loop.mlir
gpu.module @m {
  gpu.func @f(%out: memref<?xf32> loc("out"), %x: f32 loc("x"), %begin: i32 loc("begin"), %end: i32 loc("end")) kernel {
    scf.for %i = %begin to %end step %end : i32 {
      cuda.store %x, %out[%i] : f32, memref<?xf32>, i32
    }
    gpu.return
  }
}
