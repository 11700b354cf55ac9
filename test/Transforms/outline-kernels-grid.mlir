// A kernel that reads block ids along several axes says how many blocks there are, and the launch plan has that as
// arithmetic over extents, whatever the kernel does.

// RUN: dsv4-opt %s --split-input-file --dsv4-outline-kernels="arch=sm_90a" | FileCheck %s

// Tiles of 32 x 64: what only the grid asks for is no parameter. Block ids are below what the runtime launches.
// CHECK: gpu.func @tiles_k(%[[MEMORY:[a-z0-9]+]]: memref<?xf32>) kernel
// CHECK-NOT: {{ dsv4.(grid|extent|multi)}}
// CHECK: gpu.block_id x upper_bound 2147483647
// CHECK-NEXT: gpu.block_id y upper_bound 65535
// CHECK-LABEL: func.func @tiles
// CHECK-NEXT: dsv4.launch @tiles_k_module::@tiles_k grid ["ceildiv(n, 64)", "ceildiv(m, 32)", "1"] block [128, 1, 1] parameters ["write(o, 4)"]
func.func @tiles(%q: tensor<?x8xf32> {dsv4.name = "q", dsv4.dims = ["m", ""]},
                 %k: tensor<?x8xf32> {dsv4.name = "k", dsv4.dims = ["n", ""]},
                 %o: tensor<?x?xf32> {dsv4.name = "o", dsv4.dims = ["m", "n"]}) {
  dsv4.kernel @tiles_k(%q, %k, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x?xf32>) -> () {
  ^bb0(%q1: tensor<?x8xf32>, %k1: tensor<?x8xf32>, %o1: tensor<?x?xf32>):
    %memory = dsv4.buffer %o1 : tensor<?x?xf32> to memref<?xf32>
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %m = dsv4.extent %q1, 0 : tensor<?x8xf32>
    %n = dsv4.extent %k1, 0 : tensor<?x8xf32>
    %y = arith.ceildivui %m, %c32 : index
    %x = arith.ceildivui %n, %c64 : index
    dsv4.grid %x, %y
    %tile_x = gpu.block_id x
    %tile_y = gpu.block_id y
    %at = arith.addi %tile_x, %tile_y : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %memory[%at] : memref<?xf32>
  }
  return
}

// -----

// Two persistent blocks per multiprocessor, or fewer if there are fewer tiles; what the kernel reads is a parameter.
// CHECK: gpu.func @persistent_k(%{{[a-z0-9]+}}: memref<?xf32>, %{{[a-z0-9]+}}: i32 {{.*}}) kernel
// CHECK: gpu.grid_dim x upper_bound 2147483647
// CHECK-LABEL: func.func @persistent
// CHECK-NEXT: dsv4.launch @persistent_k_module::@persistent_k grid ["min(ceildiv(m, 32) * ceildiv(n, 64), multiprocessors() * 2)", "1", "1"] block [128, 1, 1] cluster [2, 1, 1] pdl parameters ["write(o, 4)", "i32(m)"]
func.func @persistent(%q: tensor<?x8xf32> {dsv4.name = "q", dsv4.dims = ["m", ""]},
                      %k: tensor<?x8xf32> {dsv4.name = "k", dsv4.dims = ["n", ""]},
                      %o: tensor<?x?xf32> {dsv4.name = "o", dsv4.dims = ["m", "n"]}) {
  dsv4.kernel @persistent_k(%q, %k, %o)
      schedule <threads = 128, cluster = 2, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 1>, #dsv4.window<elements = 1>]>
      attributes {dsv4.rows_of = 2 : i64} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x?xf32>) -> () {
  ^bb0(%q1: tensor<?x8xf32>, %k1: tensor<?x8xf32>, %o1: tensor<?x?xf32>):
    %memory = dsv4.buffer %o1 : tensor<?x?xf32> to memref<?xf32>
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %m = dsv4.extent %q1, 0 : tensor<?x8xf32>
    %n = dsv4.extent %k1, 0 : tensor<?x8xf32>
    %rows = arith.ceildivui %m, %c32 : index
    %columns = arith.ceildivui %n, %c64 : index
    %tiles = arith.muli %rows, %columns : index
    %sms = dsv4.multiprocessors
    %resident = arith.muli %sms, %c2 : index
    %blocks = arith.minui %tiles, %resident : index
    dsv4.grid %blocks
    %first = gpu.block_id x
    %step = gpu.grid_dim x
    %one = arith.constant 1.0 : f32
    scf.for %tile = %first to %m step %step {
      memref.store %one, %memory[%tile] : memref<?xf32>
    }
  }
  return
}

// -----

// Three axes; constants are computed now, and bound the ids. What block ids count on is required.
// CHECK: gpu.func @three_k(
// CHECK: gpu.block_id x upper_bound 4
// CHECK-NEXT: gpu.block_id y upper_bound 64
// CHECK-NEXT: gpu.block_id z upper_bound 65535
// CHECK-LABEL: func.func @three
// CHECK-NEXT: dsv4.launch @three_k_module::@three_k grid ["4", "max(n, 3) + 1", "n * 7"] block [128, 1, 1] requires "max(n, 3) + 1 <= 64" parameters ["write(o, 4)"]
func.func @three(%o: tensor<?x7x8xf32> {dsv4.name = "o", dsv4.dims = ["n", "", ""]}) {
  dsv4.kernel @three_k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x7x8xf32>) -> () {
  ^bb0(%o1: tensor<?x7x8xf32>):
    %memory = dsv4.buffer %o1 : tensor<?x7x8xf32> to memref<?xf32>
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %x = arith.addi %c3, %c1 : index
    %n = dsv4.extent %o1, 0 : tensor<?x7x8xf32>
    %larger = arith.maxsi %n, %c3 : index
    %y = arith.addi %larger, %c1 : index
    %rows = dsv4.row_count %o1 : tensor<?x7x8xf32>
    dsv4.grid %x, %y, %rows
    %i = gpu.block_id x
    %j = gpu.block_id y upper_bound 64
    %k = gpu.block_id z
    %ij = arith.addi %i, %j : index
    %at = arith.addi %ij, %k : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %memory[%at] : memref<?xf32>
  }
  return
}

// -----

// Without a grid of its own a kernel has a block for the rows of the schedule, along x.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: dsv4.launch @rows_k_module::@rows_k grid ["ceildiv(n, 16)", "1", "1"]
func.func @rows(%o: tensor<?x8xf32> {dsv4.name = "o", dsv4.dims = ["n", ""]}) {
  dsv4.kernel @rows_k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %memory = dsv4.buffer %o1 : tensor<?x8xf32> to memref<?xf32>
    %at = gpu.block_id x
    %one = arith.constant 1.0 : f32
    memref.store %one, %memory[%at] : memref<?xf32>
  }
  return
}

// -----

// Each is twice the one before it, and each is read once: a constant of 2^31 has 2^31 paths to it.
// CHECK-LABEL: func.func @doubled
// CHECK-NEXT: dsv4.launch @doubled_k_module::@doubled_k grid ["4", "min(n, 2147483648)", "1"]
func.func @doubled(%o: tensor<?x8xf32> {dsv4.name = "o", dsv4.dims = ["n", ""]}) {
  dsv4.kernel @doubled_k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %0 = arith.constant 1 : index
    %1 = arith.addi %0, %0 : index
    %2 = arith.addi %1, %1 : index
    %3 = arith.addi %2, %2 : index
    %4 = arith.addi %3, %3 : index
    %5 = arith.addi %4, %4 : index
    %6 = arith.addi %5, %5 : index
    %7 = arith.addi %6, %6 : index
    %8 = arith.addi %7, %7 : index
    %9 = arith.addi %8, %8 : index
    %10 = arith.addi %9, %9 : index
    %11 = arith.addi %10, %10 : index
    %12 = arith.addi %11, %11 : index
    %13 = arith.addi %12, %12 : index
    %14 = arith.addi %13, %13 : index
    %15 = arith.addi %14, %14 : index
    %16 = arith.addi %15, %15 : index
    %17 = arith.addi %16, %16 : index
    %18 = arith.addi %17, %17 : index
    %19 = arith.addi %18, %18 : index
    %20 = arith.addi %19, %19 : index
    %21 = arith.addi %20, %20 : index
    %22 = arith.addi %21, %21 : index
    %23 = arith.addi %22, %22 : index
    %24 = arith.addi %23, %23 : index
    %25 = arith.addi %24, %24 : index
    %26 = arith.addi %25, %25 : index
    %27 = arith.addi %26, %26 : index
    %28 = arith.addi %27, %27 : index
    %29 = arith.addi %28, %28 : index
    %30 = arith.addi %29, %29 : index
    %31 = arith.addi %30, %30 : index
    %c4 = arith.constant 4 : index
    %x = arith.minui %31, %c4 : index
    %n = dsv4.extent %o1, 0 : tensor<?x8xf32>
    %y = arith.minui %n, %31 : index
    dsv4.grid %x, %y
  }
  return
}

// -----

// A launch is compared with the tightest bound of an axis, however many ids have one.
// CHECK-LABEL: func.func @bounds
// CHECK-NEXT: dsv4.launch @bounds_k_module::@bounds_k grid ["n", "1", "1"] block [128, 1, 1] requires "n <= 85" parameters
func.func @bounds(%o: tensor<?x8xf32> {dsv4.name = "o", dsv4.dims = ["n", ""]}) {
  dsv4.kernel @bounds_k(%o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x8xf32>) -> () {
  ^bb0(%o1: tensor<?x8xf32>):
    %memory = dsv4.buffer %o1 : tensor<?x8xf32> to memref<?xf32>
    %one = arith.constant 1.0 : f32
    %n = dsv4.extent %o1, 0 : tensor<?x8xf32>
    dsv4.grid %n
    %i0 = gpu.block_id x upper_bound 100
    %i1 = gpu.block_id x upper_bound 99
    %i2 = gpu.block_id x upper_bound 98
    %i3 = gpu.block_id x upper_bound 97
    %i4 = gpu.block_id x upper_bound 96
    %i5 = gpu.block_id x upper_bound 95
    %i6 = gpu.block_id x upper_bound 94
    %i7 = gpu.block_id x upper_bound 93
    %i8 = gpu.block_id x upper_bound 92
    %i9 = gpu.block_id x upper_bound 91
    %i10 = gpu.block_id x upper_bound 90
    %i11 = gpu.block_id x upper_bound 89
    %i12 = gpu.block_id x upper_bound 88
    %i13 = gpu.block_id x upper_bound 87
    %i14 = gpu.block_id x upper_bound 86
    %i15 = gpu.block_id x upper_bound 85
    %i16 = gpu.block_id x upper_bound 90
    memref.store %one, %memory[%i0] : memref<?xf32>
  }
  return
}
