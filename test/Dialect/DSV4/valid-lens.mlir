// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s

// CHECK-LABEL: @positions
// CHECK: %lens = dsv4.valid_lens positions(%{{.*}} : tensor<?xi64>) ratio 4 outs(%{{.*}} : tensor<?x1xi32>)
func.func @positions(%t: tensor<?xi64>, %out: tensor<?x1xi32>) -> tensor<?x1xi32> {
  %0 = dsv4.valid_lens positions(%t : tensor<?xi64>) ratio 4 outs(%out : tensor<?x1xi32>)
  return %0 : tensor<?x1xi32>
}

// CHECK-LABEL: @pages
// CHECK: %lens = dsv4.valid_lens lengths(%{{.*}} : tensor<8xi32>) ratio 128 window 100 page 2 outs(%{{.*}} : tensor<8x5xi64>)
func.func @pages(%n: tensor<8xi32>, %out: tensor<8x5xi64>) -> tensor<8x5xi64> {
  %0 = dsv4.valid_lens lengths(%n : tensor<8xi32>) ratio 128 window 100 page 2 outs(%out : tensor<8x5xi64>)
  return %0 : tensor<8x5xi64>
}

// CHECK-LABEL: @numbers
// CHECK: %lens = dsv4.valid_lens lengths(%{{.*}} : tensor<?xi32>) window 128 outs(%{{.*}} : tensor<?xui32>)
func.func @numbers(%n: tensor<?xi32>, %out: tensor<?xui32>) -> tensor<?xui32> {
  %0 = dsv4.valid_lens lengths(%n : tensor<?xi32>) window 128 outs(%out : tensor<?xui32>)
  return %0 : tensor<?xui32>
}
