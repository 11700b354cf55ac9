// Independent kernels become one, which the first blocks and the others share.

// RUN: dsv4-opt %s --split-input-file --dsv4-merge-kernels | FileCheck %s
// RUN: dsv4-opt %s --split-input-file --dsv4-merge-kernels --dsv4-outline-kernels=arch=sm_90a | FileCheck %s --check-prefix=PLAN

// Both parts use the buffer of %t. Blocks are counted in groups of the rows that a block of the part has.
// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x64x8xf32>{{.*}}, %[[K:[a-z0-9]+]]: tensor<?x8xf32>{{.*}}, %[[T:[a-z0-9]+]]: tensor<8xf32>
// CHECK-NEXT: dsv4.kernel @both(%[[Q]], %[[T]], %[[K]]) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 1>]> attributes {dsv4.parts = [{schedule = #dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 1>]>, summary = "the queries"}, {schedule = #dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 4, vector = 2>]>, summary = "k"}], dsv4.rows_of = 0 : i64}
// CHECK-NEXT: ^bb0(%[[Q1:.*]]: tensor<?x64x8xf32>, %[[T1:.*]]: tensor<8xf32>, %[[K1:.*]]: tensor<?x8xf32>):
// CHECK-NEXT: %[[Q_ROWS:.*]] = dsv4.row_count %[[Q1]] :
// CHECK-NEXT: %[[Q_MEMORY:.*]] = dsv4.buffer %[[Q1]] :
// CHECK-NEXT: %[[T_MEMORY:.*]] = dsv4.buffer %[[T1]] :
// CHECK-NEXT: %[[K_ROWS:.*]] = dsv4.row_count %[[K1]] max 640 :
// CHECK-NEXT: %[[K_MEMORY:.*]] = dsv4.buffer %[[K1]] :
// CHECK-NEXT: %[[T_MEMORY_1:.*]] = dsv4.buffer %[[T1]] :
// CHECK-NEXT: %[[Q_BLOCKS:.*]] = dsv4.row_count %[[Q1]] per 16 max 134217728 :
// CHECK-NEXT: %[[K_BLOCKS:.*]] = dsv4.row_count %[[K1]] per 32 max 20 :
// CHECK-NEXT: %[[BLOCKS:.*]] = arith.addi %[[Q_BLOCKS]], %[[K_BLOCKS]] :
// CHECK-NEXT: dsv4.grid %[[BLOCKS]]
// CHECK-NEXT: cuda.wait_for_previous_kernel
// CHECK-NEXT: %[[BLOCK:.*]] = gpu.block_id x
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi slt, %[[BLOCK]], %[[Q_BLOCKS]]
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK-NEXT:   %[[Q_BLOCK:.*]] = cuda.bounded %[[BLOCK]] to 134217727
// CHECK-NEXT:   %[[IN:.*]] = arith.cmpi slt, %[[Q_BLOCK]], %[[Q_ROWS]]
// CHECK-NEXT:   scf.if %[[IN]] {
// CHECK-NEXT:     %[[X:.*]] = memref.load %[[T_MEMORY]][%[[Q_BLOCK]]]
// CHECK-NEXT:     memref.store %[[X]], %[[Q_MEMORY]][%[[Q_BLOCK]]]
// CHECK-NEXT:   }
// CHECK-NEXT: } else {
// CHECK-NEXT:   %[[LATER:.*]] = arith.subi %[[BLOCK]], %[[Q_BLOCKS]]
// CHECK-NEXT:   %[[K_BLOCK:.*]] = cuda.bounded %[[LATER]] to 19
// CHECK-NEXT:   %[[IN_K:.*]] = arith.cmpi slt, %[[K_BLOCK]], %[[K_ROWS]]
// CHECK-NEXT:   scf.if %[[IN_K]] {
// CHECK-NEXT:     %[[Y:.*]] = memref.load %[[T_MEMORY_1]][%[[K_BLOCK]]]
// CHECK-NEXT:     memref.store %[[Y]], %[[K_MEMORY]][%[[K_BLOCK]]]
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: return

// The number of blocks of the last part is no parameter. Each part relies on its own rows being countable.
// PLAN: gpu.func @both(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: i32 {cuda.range = array<i64: 0, 2147483647>}, %{{.*}}: i32 {cuda.range = array<i64: 0, 134217728>}, %{{.*}}: i32 {cuda.range = array<i64: 0, 640>}) kernel
// PLAN-SAME: cuda.header = ["part 1 of 2: the queries", "  sm_90a: 128 threads, 8 lanes per row, vectors of 1 element, programmatic launch", "part 2 of 2: k", "  sm_90a: 128 threads, 4 lanes per row, vectors of 2 elements, programmatic launch", "n = ?"]
// PLAN-SAME: dsv4.schedule = [#dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 1>]>, #dsv4.schedule<threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 4, vector = 2>]>]
// PLAN: dsv4.launch @both_module::@both grid ["ceildiv(n * 64, 16) + ceildiv(n, 32)", "1", "1"] block [128, 1, 1] requires "n * 64 <= 2147483632 && n <= 2147483616" pdl parameters ["write(q, 4)", "write(k, 4)", "read(t, 4)", "i32(n * 64)", "i32(ceildiv(n * 64, 16))", "i32(n)"]
func.func @both(%q: tensor<?x64x8xf32> {dsv4.name = "q", dsv4.dims = ["n", "", ""]},
                %k: tensor<?x8xf32> {dsv4.name = "k", dsv4.dims = ["n", ""]},
                %t: tensor<8xf32> {dsv4.name = "t"}) {
  dsv4.kernel @q(%q, %t) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64, dsv4.summary = "the queries"} : (tensor<?x64x8xf32>, tensor<8xf32>) -> () {
  ^bb0(%q1: tensor<?x64x8xf32>, %t1: tensor<8xf32>):
    %rows = dsv4.row_count %q1 : tensor<?x64x8xf32>
    %memory = dsv4.buffer %q1 : tensor<?x64x8xf32> to memref<?xf32>
    %table = dsv4.buffer %t1 : tensor<8xf32> to memref<?xf32>
    cuda.wait_for_previous_kernel
    %block = gpu.block_id x upper_bound 134217728
    %in = arith.cmpi slt, %block, %rows : index
    scf.if %in {
      %x = memref.load %table[%block] : memref<?xf32>
      memref.store %x, %memory[%block] : memref<?xf32>
    }
  }
  dsv4.kernel @k(%k, %t) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 4, vector = 2>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>, tensor<8xf32>) -> () {
  ^bb0(%k1: tensor<?x8xf32>, %t1: tensor<8xf32>):
    %rows = dsv4.row_count %k1 max 640 : tensor<?x8xf32>
    %memory = dsv4.buffer %k1 : tensor<?x8xf32> to memref<?xf32>
    %table = dsv4.buffer %t1 : tensor<8xf32> to memref<?xf32>
    cuda.wait_for_previous_kernel
    %block = gpu.block_id x upper_bound 20
    %in = arith.cmpi slt, %block, %rows : index
    scf.if %in {
      %x = memref.load %table[%block] : memref<?xf32>
      memref.store %x, %memory[%block] : memref<?xf32>
    }
  }
  return
}

// -----

// Three parts: what is left of the block's number is compared again. Constant numbers of blocks are no parameters.
// CHECK-LABEL: func.func @three(
// CHECK: dsv4.kernel @three(
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK-NEXT: %[[A:.*]] = arith.cmpi slt, %[[BLOCK]], %[[TWO]]
// CHECK-NEXT: scf.if %[[A]] {
// CHECK-NEXT:   cuda.bounded %[[BLOCK]] to 1
// CHECK: } else {
// CHECK-NEXT:   %[[AFTER_A:.*]] = arith.subi %[[BLOCK]], %[[TWO]]
// CHECK-NEXT:   %[[B:.*]] = arith.cmpi slt, %[[AFTER_A]], %[[ONE]]
// CHECK-NEXT:   scf.if %[[B]] {
// CHECK-NEXT:     cuda.bounded %[[AFTER_A]] to 0
// CHECK:   } else {
// CHECK-NEXT:     %[[AFTER_B:.*]] = arith.subi %[[AFTER_A]], %[[ONE]]
// CHECK-NEXT:     cuda.bounded %[[AFTER_B]] to 3
// PLAN: gpu.func @three(%{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?xf32>) kernel
// PLAN: dsv4.launch @three_module::@three grid ["7", "1", "1"] block [32, 1, 1] parameters ["write(a, 4)", "write(b, 4)", "write(c, 4)"]
func.func @three(%a: tensor<8x8xf32> {dsv4.name = "a"}, %b: tensor<3x8xf32> {dsv4.name = "b"},
                 %c: tensor<16x8xf32> {dsv4.name = "c"}) {
  %zero = arith.constant 0 : index
  dsv4.kernel @a(%a) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<8x8xf32>) -> () {
  ^bb0(%m: tensor<8x8xf32>):
    %memory = dsv4.buffer %m : tensor<8x8xf32> to memref<?xf32>
    %block = gpu.block_id x upper_bound 2
    %x = arith.constant 1.0 : f32
    memref.store %x, %memory[%block] : memref<?xf32>
  }
  dsv4.kernel @b(%b) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<3x8xf32>) -> () {
  ^bb0(%m: tensor<3x8xf32>):
    %memory = dsv4.buffer %m : tensor<3x8xf32> to memref<?xf32>
    %block = gpu.block_id x upper_bound 1
    %x = arith.constant 1.0 : f32
    memref.store %x, %memory[%block] : memref<?xf32>
  }
  dsv4.kernel @c(%c) schedule <threads = 32, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<16x8xf32>) -> () {
  ^bb0(%m: tensor<16x8xf32>):
    %memory = dsv4.buffer %m : tensor<16x8xf32> to memref<?xf32>
    %block = gpu.block_id x upper_bound 4
    %x = arith.constant 1.0 : f32
    memref.store %x, %memory[%block] : memref<?xf32>
  }
  return
}
