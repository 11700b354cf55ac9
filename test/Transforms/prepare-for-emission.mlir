// Which values get a line of their own, and under which name.

// RUN: dsv4-opt %s --pass-pipeline="builtin.module(gpu.module(cuda-prepare-for-emission))" -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s

#loc = loc("a.mlir":1:1)
gpu.module @m {
  // Keywords, what the text reserves, other letters and repeated names.
  // CHECK: gpu.func @names(
  // CHECK-SAME: loc("v_int"
  // CHECK-SAME: loc("v_threadIdx"
  // CHECK-SAME: loc("page_table"
  // CHECK-SAME: loc("v_8bit"
  // CHECK-SAME: loc("x"
  // CHECK-SAME: loc("x_1"
  // A kernel's own name is taken.
  // CHECK-SAME: loc("names_1"
  gpu.func @names(%a: i32 loc("int"(#loc)), %b: i32 loc("threadIdx"(#loc)),
                  %c: i32 loc("page.table"(#loc)), %d: i32 loc("8bit"(#loc)),
                  %e: i32 loc("x"(#loc)), %f: i32 loc("x"(#loc)), %g: i32 loc("names"(#loc))) kernel {
    gpu.return
  }

  // CHECK: gpu.func @lines
  gpu.func @lines(%in: memref<?xi32> loc("in"(#loc)), %out: memref<?xi32> loc("out"(#loc)),
                  %n: i32 loc("n"(#loc))) kernel {
    // Cheap to repeat: no line, even with two users and a name.
    // CHECK: arith.constant 2 : i32 loc("a.mlir":1:1)
    %c2 = arith.constant 2 : i32 loc("two"(#loc))
    // One user and no name: written where it is used.
    // CHECK: arith.muli %{{.*}} : i32 loc("a.mlir":1:1)
    %0 = arith.muli %n, %c2 : i32 loc(#loc)
    // A name asks for a line.
    // CHECK: arith.addi %{{.*}} : i32 loc("offset"("a.mlir":1:1))
    %1 = arith.addi %0, %c2 : i32 loc("offset"(#loc))
    // Two users need one.
    // CHECK: arith.subi %{{.*}} : i32 loc("offset_1"("a.mlir":1:1))
    %2 = arith.subi %1, %c2 : i32 loc(#loc)
    // A name that is taken gets a number.
    // CHECK: arith.muli %{{.*}} : i32 loc("offset_2"("a.mlir":1:1))
    %3 = arith.muli %2, %2 : i32 loc("offset"(#loc))
    %4 = cuda.load %in[%3] : memref<?xi32>, i32 -> i32 loc(#loc)
    cuda.store %4, %out[%3] : i32, memref<?xi32>, i32 loc(#loc)
    gpu.return
  }
}
