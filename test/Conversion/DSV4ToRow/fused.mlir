// A fused producer hands its row over in registers: the value between two ops of
// a kernel is never memory.

// RUN: dsv4-opt %s --convert-dsv4-to-row --cse | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = arith.mulf %{{.*}} : vector<32xf32>
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %{{.*}} : vector<32xf32>
// CHECK: %[[Z:.*]] = arith.truncf %[[Y]]
// CHECK: row.write %[[Z]]
// CHECK-NOT: row.write
func.func @chain(%d: tensor<?x32xf8E4M3FN>, %s: tensor<?xf32>, %tmp: tensor<?x32xf32>,
                 %o: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %0 = dsv4.kernel @k(%d, %s, %tmp, %o)
      : (tensor<?x32xf8E4M3FN>, tensor<?xf32>, tensor<?x32xf32>, tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  ^bb0(%d1: tensor<?x32xf8E4M3FN>, %s1: tensor<?xf32>, %tmp1: tensor<?x32xf32>, %o1: tensor<?x32xbf16>):
    %0 = dsv4.dequantize %d1 scales(%s1 : tensor<?xf32>) outs(%tmp1 : tensor<?x32xf32>)
        {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<?x32xf8E4M3FN>
    %1 = dsv4.dequantize %0 scales(%s1 : tensor<?xf32>) outs(%o1 : tensor<?x32xbf16>)
        {format = #dsv4.format<f32, [<f32 per row>]>} : tensor<?x32xf32>
    dsv4.yield %1 : tensor<?x32xbf16>
  }
  return %0 : tensor<?x32xbf16>
}
