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

  // Named numbers and unsigned divisions have lines, but for divisions of builtins,
  // which are unsigned anyway.
  // CHECK: gpu.func @numbers
  gpu.func @numbers(%out: memref<?xi32> loc("out"(#loc)), %n: i32 loc("n"(#loc))) kernel {
    // CHECK: cuda.constant "page_bytes" = 37440 : i32 loc("kPageBytes"("a.mlir":1:1))
    %page = cuda.constant "page_bytes" = 37440 : i32 loc(#loc)
    // CHECK: cuda.constant "page_bytes" = 64 : i32 loc("kPageBytes_1"("a.mlir":1:1))
    %other = cuda.constant "page_bytes" = 64 : i32 loc(#loc)
    // CHECK: arith.divui %{{.*}} loc("quotient"("a.mlir":1:1))
    %q = arith.divui %n, %page : i32 loc(#loc)
    // CHECK: arith.remui %{{.*}} loc("residue"("a.mlir":1:1))
    %r = arith.remui %q, %other : i32 loc(#loc)
    %id = gpu.thread_id x loc(#loc)
    %t = arith.index_cast %id : index to i32 loc(#loc)
    // CHECK: arith.remui %{{.*}} loc("a.mlir":1:1)
    %l = arith.remui %t, %other : i32 loc(#loc)
    cuda.store %l, %out[%r] : i32, memref<?xi32>, i32 loc(#loc)
    gpu.return
  }

  // A config has the name of its kernel, and no value has that of a lambda's callback.
  // CHECK: gpu.func @best_of
  // CHECK-SAME: loc("BestOfConfig"("a.mlir":1:1))
  // CHECK-SAME: loc("reduce_window_1"("a.mlir":1:1))
  gpu.func @best_of(%in: memref<?xf32> loc("BestOfConfig"(#loc)), %n: i32 loc("reduce_window"(#loc)), %b: i1 loc("b"(#loc))) kernel {
    // CHECK: cuda.select 8 of %{{.*}} attributes {cuda.config = "BestOfConfig_1"}
    cuda.select 8 of %n max 64 threads 64 : i32 load {
    ^bb0(%column: i32):
      %x = cuda.load %in[%column] : memref<?xf32>, i32 -> vector<1x4xf32> loc(#loc)
      cuda.select_yield %x : vector<1x4xf32>
    } emit {
    ^bb0(%rank: i32, %index: i32, %value: f32):
      cuda.select_yield
    } loc(#loc)
    // CHECK: cuda.window_reduce 8 at %{{.*}} attributes {cuda.config = "BestOfConfig_2"}
    %0 = cuda.window_reduce 8 at %n of %n : i32, i32 to vector<1x1xf32> {
    ^bb0(%row: i32):
      cuda.window %b scores {
      ^bb0(%member: i32, %lane: i32):
        %x = cuda.load %in[%lane] : memref<?xf32>, i32 -> vector<1x1xf32> loc(#loc)
        cuda.window_yield %x : vector<1x1xf32>
      } values {
      ^bb0(%member: i32, %lane: i32):
        %x = cuda.load %in[%lane] : memref<?xf32>, i32 -> vector<1x1xf32> loc(#loc)
        cuda.window_yield %x : vector<1x1xf32>
      } else {
      ^bb0(%member: i32, %lane: i32):
        %x = cuda.load %in[%lane] : memref<?xf32>, i32 -> vector<1x1xf32> loc(#loc)
        cuda.window_row %b, %x, %x : vector<1x1xf32>, vector<1x1xf32>
      }
    } loc(#loc)
    // A call with statements has a line, used or not.
    // CHECK: loc("value{{.*}}"("a.mlir":1:1))
    gpu.return
  }

  // One of two branches is executed, so both may have a name; what comes after them has another.
  // CHECK: gpu.func @branches
  gpu.func @branches(%out: memref<?xi32> loc("out"(#loc)), %i: i32 loc("i"(#loc)), %b: i1 loc("b"(#loc))) kernel {
    // CHECK: scf.if
    scf.if %b {
      // CHECK-NEXT: arith.addi {{.*}} loc("row"("a.mlir":1:1))
      %row = arith.addi %i, %i : i32 loc("row"(#loc))
      // CHECK-NEXT: arith.addi {{.*}} loc("first"("a.mlir":1:1))
      %first = arith.addi %row, %row : i32 loc("first"(#loc))
      cuda.store %row, %out[%first] : i32, memref<?xi32>, i32 loc(#loc)
    } else {
      // CHECK: arith.muli {{.*}} loc("row"("a.mlir":1:1))
      %row = arith.muli %i, %i : i32 loc("row"(#loc))
      // CHECK-NEXT: arith.muli {{.*}} loc("i_1"("a.mlir":1:1))
      %again = arith.muli %row, %row : i32 loc("i"(#loc))
      cuda.store %row, %out[%again] : i32, memref<?xi32>, i32 loc(#loc)
    } loc(#loc)
    // CHECK: arith.subi {{.*}} loc("row_1"("a.mlir":1:1))
    %row = arith.subi %i, %i : i32 loc("row"(#loc))
    // CHECK-NEXT: arith.subi {{.*}} loc("first_1"("a.mlir":1:1))
    %first = arith.subi %row, %row : i32 loc("first"(#loc))
    cuda.store %row, %out[%first] : i32, memref<?xi32>, i32 loc(#loc)
    gpu.return
  }
}
