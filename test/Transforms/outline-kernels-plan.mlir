// What launch plans say of schedules, shapes and accesses.

// RUN: dsv4-opt %s --split-input-file --dsv4-outline-kernels="arch=sm_90a" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: dsv4-opt %s --split-input-file --dsv4-outline-kernels="arch=sm_80" | FileCheck %s --check-prefixes=CHECK,SM80

// Constant extents are computed now, and what holds of them need not be required.
// A program waits for the one before it where drivers take that.
// CHECK-LABEL: func.func @constant
// SM90-NEXT: dsv4.launch @constant_k_module::@constant_k grid ["6", "1", "1"] block [128, 1, 1] pdl parameters ["write(o, 4)"]
// SM80-NEXT: dsv4.launch @constant_k_module::@constant_k grid ["6", "1", "1"] block [128, 1, 1] parameters ["write(o, 4)"]
func.func @constant(%o: tensor<3x31x8xf32> {dsv4.name = "o"}) {
  dsv4.kernel @constant_k(%o) schedule <threads = 128, pdl = true, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<3x31x8xf32>) -> () {
  ^bb0(%o1: tensor<3x31x8xf32>):
    %m = dsv4.buffer %o1 : tensor<3x31x8xf32> to memref<?xf32>
    %c0 = arith.constant 0 : index
    %x = arith.constant 1.0 : f32
    memref.store %x, %m[%c0] : memref<?xf32>
  }
  return
}

// -----

// Of a vector's memory 16 bytes, of a scalar's its own size, also where it is chosen
// from two; what is not accessed is as good as read byte by byte.
// CHECK-LABEL: func.func @accesses
// CHECK-NEXT: dsv4.launch {{.*}} parameters ["update(v, 16)", "read(s, 4)", "read(t, 2)", "read(one, 4)", "read(unused, 1)", "i32(rows)", "i32(rows)"]
func.func @accesses(%v: tensor<?x8xf32> {dsv4.name = "v", dsv4.dims = ["rows", ""]},
                    %s: tensor<?x8xi32> {dsv4.name = "s", dsv4.dims = ["rows", ""]},
                    %t: tensor<?x8xbf16> {dsv4.name = "t", dsv4.dims = ["rows", ""]},
                    %one: tensor<?x8xf32> {dsv4.name = "one", dsv4.dims = ["rows", ""]},
                    %unused: tensor<?x8xf32> {dsv4.name = "unused", dsv4.dims = ["rows", ""]}) {
  dsv4.kernel @k(%v, %s, %t, %one, %unused) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64}
      : (tensor<?x8xf32>, tensor<?x8xi32>, tensor<?x8xbf16>, tensor<?x8xf32>, tensor<?x8xf32>) -> () {
  ^bb0(%v1: tensor<?x8xf32>, %s1: tensor<?x8xi32>, %t1: tensor<?x8xbf16>, %one1: tensor<?x8xf32>, %unused1: tensor<?x8xf32>):
    %n = dsv4.row_count %v1 : tensor<?x8xf32>
    %extent = dsv4.extent %v1, 0 : tensor<?x8xf32>
    %mv = dsv4.buffer %v1 : tensor<?x8xf32> to memref<?xf32>
    %ms = dsv4.buffer %s1 : tensor<?x8xi32> to memref<?xi32>
    %mt = dsv4.buffer %t1 : tensor<?x8xbf16> to memref<?xbf16>
    %mone = dsv4.buffer %one1 : tensor<?x8xf32> to memref<?xf32>
    %mu = dsv4.buffer %unused1 : tensor<?x8xf32> to memref<?xf32>
    %a = cuda.load %mv[%n] : memref<?xf32>, index -> vector<4xf32>
    cuda.store %a, %mv[%extent] : vector<4xf32>, memref<?xf32>, index
    %i = memref.load %ms[%n] : memref<?xi32>
    %c0 = arith.constant 0 : i32
    %which = arith.cmpi slt, %i, %c0 : i32
    %x = memref.load %mt[%n] : memref<?xbf16>
    %single = cuda.load %mone[%n] : memref<?xf32>, index -> vector<1xf32>
  }
  return
}

// -----

// A destination that no argument is has no extents that a launch has.
// CHECK-LABEL: func.func @empty
// CHECK: dsv4.launch {{.*}} grid ["1", "1", "1"]
func.func @empty(%o: tensor<16x8xf32>) {
  %e = tensor.empty() : tensor<16x8xf32>
  dsv4.kernel @k(%o, %e) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 1 : i64} : (tensor<16x8xf32>, tensor<16x8xf32>) -> () {
  ^bb0(%o1: tensor<16x8xf32>, %e1: tensor<16x8xf32>):
  }
  return
}

// -----

// A stride that is asked for of an argument without strides is a product of extents.
// CHECK-LABEL: func.func @contiguous
// CHECK-NEXT: dsv4.launch {{.*}} parameters ["update(x, 4)", "i32(tokens * heads)", "i32(heads * 8)"]
func.func @contiguous(%x: tensor<?x?x8xf32> {dsv4.name = "x", dsv4.dims = ["tokens", "heads", ""]}) {
  dsv4.kernel @k(%x) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 1>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x?x8xf32>) -> () {
  ^bb0(%row: tensor<?x?x8xf32>):
    %rows = dsv4.row_count %row : tensor<?x?x8xf32>
    %s = dsv4.stride %row, 0 : tensor<?x?x8xf32>
    %m = dsv4.buffer %row : tensor<?x?x8xf32> to memref<?xf32>
    %v = memref.load %m[%s] : memref<?xf32>
    memref.store %v, %m[%rows] : memref<?xf32>
  }
  return
}
