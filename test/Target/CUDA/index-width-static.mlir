// The known extent of a iteration space decides the width of row arithmetic: 2048 rows of
// 128 elements need 32 bits.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s

// CHECK-LABEL: small(
// CHECK-NOT: int rows
// CHECK: row < 2048
// CHECK-NOT: long long
// CHECK: }
func.func @small(%data: tensor<2048x128xf8E4M3FN> {dsv4.name = "data"},
                 %scale: tensor<2048xf32> {dsv4.name = "scale"},
                 %out: tensor<2048x128xf32> {dsv4.name = "out"}) -> tensor<2048x128xf32> {
  %0 = dsv4.dequantize %data scales(%scale : tensor<2048xf32>)
      outs(%out : tensor<2048x128xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<2048x128xf8E4M3FN>
  return %0 : tensor<2048x128xf32>
}
