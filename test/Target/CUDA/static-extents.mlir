// Static extents are constants of the text, in 64 bits where they do not fit 32.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s

// CHECK-LABEL: small(
// CHECK-NOT: int rows
// CHECK: row < 2048
// CHECK: }
func.func @small(%data: tensor<2048x128xf8E4M3FN> {dsv4.name = "data"},
                 %scale: tensor<2048xf32> {dsv4.name = "scale"},
                 %out: tensor<2048x128xf32> {dsv4.name = "out"}) -> tensor<2048x128xf32> {
  %0 = dsv4.dequantize %data scales(%scale : tensor<2048xf32>)
      outs(%out : tensor<2048x128xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<2048x128xf8E4M3FN>
  return %0 : tensor<2048x128xf32>
}

// CHECK-LABEL: large(
// CHECK: row < 33554432
// CHECK: (long long)row * 128
func.func @large(%data: tensor<33554432x128xf8E4M3FN> {dsv4.name = "data"},
                 %scale: tensor<33554432xf32> {dsv4.name = "scale"},
                 %out: tensor<33554432x128xf32> {dsv4.name = "out"}) -> tensor<33554432x128xf32> {
  %0 = dsv4.dequantize %data scales(%scale : tensor<33554432xf32>)
      outs(%out : tensor<33554432x128xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<33554432x128xf8E4M3FN>
  return %0 : tensor<33554432x128xf32>
}
