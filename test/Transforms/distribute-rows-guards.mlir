// Where the addresses of stores with a condition are found: those with strides of run time where
// the condition holds, unless an op beside them needs other lanes.

// RUN: dsv4-opt %s --dsv4-distribute-rows | FileCheck %s

// CHECK-LABEL: func.func @alone
// CHECK: arith.cmpi sge
// CHECK: scf.if
// CHECK-NEXT: arith.muli %{{.*}}, %{{.*}} : index
// CHECK: cuda.store
func.func @alone(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %n: tensor<?xi32> {dsv4.name = "n", dsv4.dims = ["rows"]},
    %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>}) {
  dsv4.kernel @k(%x, %n, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x64xbf16>, tensor<?xi32>, tensor<?x64xbf16>) -> () {
  ^bb0(%a: tensor<?x64xbf16>, %b: tensor<?xi32>, %c: tensor<?x64xbf16>):
    %rows = dsv4.row_count %a : tensor<?x64xbf16>
    %from = dsv4.buffer %a : tensor<?x64xbf16> to memref<?xbf16>
    %numbers = dsv4.buffer %b : tensor<?xi32> to memref<?xi32>
    %to = dsv4.buffer %c : tensor<?x64xbf16> to memref<?xbf16>
    %stride = dsv4.stride %c, 0 : tensor<?x64xbf16>
    scf.forall (%row) in (%rows) {
      %c64 = arith.constant 64 : index
      %c0 = arith.constant 0 : i32
      %at = arith.muli %row, %c64 : index
      %value = row.read %from[%at] {align = 16 : i64} : memref<?xbf16> -> vector<64xbf16>
      %number = memref.load %numbers[%row] : memref<?xi32>
      %valid = arith.cmpi sge, %number, %c0 : i32
      scf.if %valid {
        %start = arith.muli %row, %stride : index
        row.write %value, %to[%start] {align = 16 : i64} : vector<64xbf16>, memref<?xbf16>
      }
    }
  }
  return
}

// CHECK-LABEL: func.func @search
// CHECK: cuda.search %{{.*}} rows %{{.*}} lanes 8
// CHECK: arith.muli
// CHECK: scf.if
// CHECK-NOT: cuda.search
// CHECK: cuda.store
func.func @search(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %n: tensor<?xi32> {dsv4.name = "n", dsv4.dims = ["rows"]},
    %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>}) {
  dsv4.kernel @k(%x, %n, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 8>]>
      attributes {dsv4.rows_of = 0 : i64} : (tensor<?x64xbf16>, tensor<?xi32>, tensor<?x64xbf16>) -> () {
  ^bb0(%a: tensor<?x64xbf16>, %b: tensor<?xi32>, %c: tensor<?x64xbf16>):
    %rows = dsv4.row_count %a : tensor<?x64xbf16>
    %from = dsv4.buffer %a : tensor<?x64xbf16> to memref<?xbf16>
    %numbers = dsv4.buffer %b : tensor<?xi32> to memref<?xi32>
    %to = dsv4.buffer %c : tensor<?x64xbf16> to memref<?xbf16>
    %stride = dsv4.stride %c, 0 : tensor<?x64xbf16>
    scf.forall (%row) in (%rows) {
      %c64 = arith.constant 64 : index
      %c0 = arith.constant 0 : i32
      %at = arith.muli %row, %c64 : index
      %value = row.read %from[%at] {align = 16 : i64} : memref<?xbf16> -> vector<64xbf16>
      %number = memref.load %numbers[%row] : memref<?xi32>
      %valid = arith.cmpi sge, %number, %c0 : i32
      scf.if %valid {
        %found = row.search %numbers for %row of %rows : memref<?xi32>
        %other = arith.index_cast %found : i32 to index
        %start = arith.muli %other, %stride : index
        row.write %value, %to[%start] {align = 16 : i64} : vector<64xbf16>, memref<?xbf16>
      }
    }
  }
  return
}
