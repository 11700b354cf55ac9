// The larger and the smaller of two fragments are functions of a file that nothing else may name.

// RUN: dsv4-opt %s --dsv4-distribute-rows --dsv4-outline-kernels --cuda-form-device-calls --cuda-legalize \
// RUN:   --canonicalize --cse --cuda-prepare-for-emission -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda --cuda-self-contained > %t.cu
// RUN: FileCheck %s < %t.cu

// CHECK: Tile<float, S, V> max(Tile<float, S, V> a, float b)
// CHECK: extern "C" __global__ void
// CHECK: dsv4::min(dsv4::max(
func.func @clamp(%x: tensor<?x64xf32>, %o: tensor<?x64xf32>) {
  dsv4.kernel @clamp_rows(%x, %o) schedule <threads = 128, parts = [#dsv4.rows<lanes = 8, vector = 4>]>
      attributes {dsv4.rows_of = 0 : i64, dsv4.summary = "clamp"} : (tensor<?x64xf32>, tensor<?x64xf32>) -> () {
  ^bb0(%x1: tensor<?x64xf32>, %o1: tensor<?x64xf32>):
    %n = dsv4.row_count %x1 : tensor<?x64xf32>
    %m = dsv4.buffer %x1 : tensor<?x64xf32> to memref<?xf32>
    %w = dsv4.buffer %o1 : tensor<?x64xf32> to memref<?xf32>
    %lo = arith.constant dense<-1.0> : vector<64xf32>
    %hi = arith.constant dense<2.0> : vector<64xf32>
    scf.forall (%row) in (%n) {
      %c64 = arith.constant 64 : index
      %at = arith.muli %row, %c64 : index
      %v = row.read %m[%at] {align = 16} : memref<?xf32> -> vector<64xf32>
      %a = arith.maxnumf %v, %lo : vector<64xf32>
      %b = arith.minnumf %a, %hi : vector<64xf32>
      row.write %b, %w[%at] {align = 16} : vector<64xf32>, memref<?xf32>
    }
  }
  return
}
