// A printer that finds no names says so; it does not print text without them.
// Here the names were lost because the IR was printed without locations.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline | not dsv4-translate --mlir-to-cuda 2>&1 | FileCheck %s

// CHECK: error: {{.*}}name
func.func @dequantize(%data: tensor<?x128xf8E4M3FN>, %scale: tensor<?xf32>,
                      %out: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %0 = dsv4.dequantize %data scales(%scale : tensor<?xf32>) outs(%out : tensor<?x128xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>} : tensor<?x128xf8E4M3FN>
  return %0 : tensor<?x128xf32>
}
