// The row program of a format without scales: a rounding, without a maximum and without a division.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

// CHECK-LABEL: dsv4.kernel @cast
// CHECK: %[[X:.*]] = row.read {{.*}} vector<64xbf16>
// CHECK-NEXT: %[[F32:.*]] = arith.extf %[[X]] : vector<64xbf16> to vector<64xf32>
// CHECK-NEXT: %[[CODES:.*]] = row.encode %[[F32]] : vector<64xf32> to vector<64xf8E4M3FN>
// CHECK-NOT: row.reduce
// CHECK: row.write %[[CODES]], {{.*}} : vector<64xf8E4M3FN>
func.func @f(%x: tensor<?x576xbf16>, %o: tensor<?x64xf8E4M3FN>) -> tensor<?x64xf8E4M3FN> {
  %0 = dsv4.kernel @cast(%x, %o) : (tensor<?x576xbf16>, tensor<?x64xf8E4M3FN>) -> tensor<?x64xf8E4M3FN> {
  ^bb0(%x1: tensor<?x576xbf16>, %o1: tensor<?x64xf8E4M3FN>):
    %r = dsv4.quantize %x1 columns [512, 64] outs(%o1 : tensor<?x64xf8E4M3FN>)
        {format = #dsv4.format<f8E4M3FN>} : tensor<?x576xbf16>
    dsv4.yield %r : tensor<?x64xf8E4M3FN>
  }
  return %0 : tensor<?x64xf8E4M3FN>
}
