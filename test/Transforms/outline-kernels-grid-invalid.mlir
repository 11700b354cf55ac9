// What no launch plan can say of a grid.

// RUN: dsv4-opt %s --dsv4-outline-kernels --split-input-file --verify-diagnostics

func.func @grid_c3(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    // expected-error @+1 {{'gpu.block_id' op grid_c3: has no extent along y; expected a 'dsv4.grid' of the kernel with at least 2 extents}}
    %y = gpu.block_id y
  }
  return
}

// -----

func.func @grid_c3_size(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %n = dsv4.extent %o1, 0 : tensor<?x8xf32>
    dsv4.grid %n, %n
    // expected-error @+1 {{'gpu.grid_dim' op grid_c3: has no extent along z; expected a 'dsv4.grid' of the kernel with at least 3 extents}}
    %z = gpu.grid_dim z
  }
  return
}

// -----

func.func @grid_c2(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %n = dsv4.extent %o1, 0 : tensor<?x8xf32>
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'arith.subi' op grid_c2: is not arithmetic of launch plans; expected constants, 'dsv4.extent', 'dsv4.row_count' and 'dsv4.multiprocessors', and sums, products, 'ceildivui', minima and maxima of them}}
    %less = arith.subi %n, %c1 : index
    dsv4.grid %less
  }
  return
}

// -----

func.func @grid_c2_negative(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    // expected-error @+1 {{'arith.constant' op grid_c2: is negative;}}
    %less = arith.constant -1 : index
    dsv4.grid %less
  }
  return
}

// -----

func.func @grid_c2_argument(%o: tensor<?x8xf32>, %n: index) {
  dsv4.kernel @k(%o, %n) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>, index) -> () {
  ^bb0(%o1: tensor<?x8xf32>, %n1: index):
    // expected-error @+1 {{'dsv4.grid' op grid_c2: takes an argument of a region;}}
    dsv4.grid %n1
  }
  return
}

// -----

func.func @grid_c2_no_argument(%o: tensor<?x8xf32>, %c: i1, %x: tensor<?x8xf32>) {
  %e = arith.select %c, %o, %x : tensor<?x8xf32>
  dsv4.kernel @k(%o, %e) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>, %e1: tensor<?x8xf32>):
    // expected-error @+1 {{'dsv4.extent' op grid_c2: is an extent that no argument of the function has;}}
    %n = dsv4.extent %e1, 0 : tensor<?x8xf32>
    dsv4.grid %n
  }
  return
}

// -----

// Each is twice as long as the one before it.
func.func @grid_c2_long(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %0 = dsv4.extent %o1, 0 : tensor<?x8xf32>
    %1 = arith.addi %0, %0 : index
    %2 = arith.addi %1, %1 : index
    %3 = arith.addi %2, %2 : index
    %4 = arith.addi %3, %3 : index
    %5 = arith.addi %4, %4 : index
    // expected-error @+1 {{'arith.addi' op grid_c2: has more than 64 operands and operations;}}
    %6 = arith.addi %5, %5 : index
    %7 = arith.addi %6, %6 : index
    dsv4.grid %7
  }
  return
}

// -----

// What a block can have depends on the architecture, here sm_90a.
func.func @schedule_c8(%o: tensor<?x8xf32>) {
  // expected-error @+1 {{'dsv4.kernel' op schedule_c8: the kernel takes 232464 bytes of dynamic shared memory, and a block of sm_90a has at most 232448; expected a schedule with fewer rows or columns per block}}
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %m = cuda.shared 232464 from 0 : memref<?xi8>
  }
  return
}

// -----

func.func @grid_c2_zero(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %rows = dsv4.row_count %o1 : tensor<?x8xf32>
    %c0 = arith.constant 0 : index
    // expected-error @+1 {{'arith.ceildivui' op grid_c2: divides by zero; expected constants,}}
    %tiles = arith.ceildivui %rows, %c0 : index
    dsv4.grid %tiles
  }
  return
}

// -----

// A kernel cannot read the number.
func.func @grid_c2_outside(%o: tensor<?x8xf32>) {
  dsv4.kernel @k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %memory = dsv4.buffer %o1 : tensor<?x8xf32> to memref<?xf32>
    // expected-error @+1 {{'dsv4.multiprocessors' op grid_c2: is used outside of the extents of a 'dsv4.grid'; expected 'gpu.grid_dim' where the kernel counts its blocks}}
    %sms = dsv4.multiprocessors
    dsv4.grid %sms
    %one = arith.constant 1.0 : f32
    memref.store %one, %memory[%sms] : memref<?xf32>
  }
  return
}
