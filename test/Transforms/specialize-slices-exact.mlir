// RUN: dsv4-opt %s --dsv4-specialize="dims=exact=6" | FileCheck %s

// Extents of a launch, and one that is part of the kernel.
// CHECK-LABEL: func.func @extents(
// CHECK-SAME: %arg0: tensor<?x6xf32> {dsv4.dims = ["tokens", "exact"]
// CHECK-SAME: %arg3: tensor<?x6xf32> {dsv4.dims = ["prefills", ""], dsv4.name = "arg0_slice", dsv4.strides = #dsv4.strides<[24], align = 8>, dsv4.view = #dsv4.view<of = 0, axes = [0, 1], offsets = ["decodes * 2 + 6", "0"]>})
func.func @extents(%x: tensor<?x?xf32> {dsv4.dims = ["tokens", "exact"]}, %d: tensor<?xi32> {dsv4.dims = ["decodes"]},
                   %i: tensor<?x2xi32> {dsv4.dims = ["prefills", ""]}) -> tensor<?x2xi32>
    attributes {dsv4.policies = {exact = #dsv4.policy<exact>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %decodes = tensor.dim %d, %c0 : tensor<?xi32>
  %prefills = tensor.dim %i, %c0 : tensor<?x2xi32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %twice = arith.muli %decodes, %c2 : index
  %begin = arith.addi %twice, %columns : index
  %s = tensor.extract_slice %x[%begin, 0] [%prefills, %columns] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %r = dsv4.topk %s outs(%i : tensor<?x2xi32>) : tensor<?x?xf32>
  return %r : tensor<?x2xi32>
}
