// The source of a router waits for the previous kernel: loads of others are ordered after it.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo | dsv4-translate --mlir-to-cuda | FileCheck %s

// CHECK: waits = true
// CHECK: dsv4::hold_router_rows<
// CHECK: dsv4::load<int>(&valid[0])
// CHECK: dsv4::load<int>(&lengths[row])
func.func @route(
    %hidden: tensor<?x128xbf16> {dsv4.name = "hidden", dsv4.dims = ["rows", ""]},
    %matrix: tensor<64x128xbf16> {dsv4.name = "matrix"},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %valid: tensor<1xi32> {dsv4.name = "valid"},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["rows", ""]})
    -> tensor<?x6xi32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %hidden, %c0 : tensor<?x128xbf16>
  %row = tensor.empty(%rows) : tensor<?x64xf32>
  %logits = dsv4.router_logits %hidden, %matrix outs(%row : tensor<?x64xf32>)
      : tensor<?x128xbf16>, tensor<64x128xbf16>
  %chosen = dsv4.topk %logits lengths(%lengths : tensor<?xi32>) order sorted
      valid_rows(%valid : tensor<1xi32>) outs(%experts : tensor<?x6xi32>) : tensor<?x64xf32>
  return %chosen : tensor<?x6xi32>
}
