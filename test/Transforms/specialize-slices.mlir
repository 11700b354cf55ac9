// A slice of an argument becomes an argument that no caller passes. Its alignment is that of its strides and of its
// offset along the last axis.

// RUN: dsv4-opt %s --split-input-file --dsv4-specialize | FileCheck %s

// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %arg0: tensor<?x1024xbf16> {dsv4.dims = ["tokens", ""], dsv4.name = "x"},
// CHECK-SAME: %arg2: tensor<?x512xbf16> {dsv4.dims = ["tokens", ""], dsv4.name = "x_slice", dsv4.strides = #dsv4.strides<[2048]>, dsv4.view = #dsv4.view<of = 0, axes = [0, 1], offsets = ["0", "512"]>}
// CHECK-NOT: tensor.extract_slice
// CHECK: dsv4.rms_norm %arg2 outs(%arg1 : tensor<?x512xbf16>)
func.func @halves(%x: tensor<?x1024xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}, %o: tensor<?x512xbf16>)
    -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %s = tensor.extract_slice %x[0, 512] [%n, 512] [1, 1] : tensor<?x1024xbf16> to tensor<?x512xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  return %r : tensor<?x512xbf16>
}

// -----

// An odd element, of rows with strides; an axis less; the same slice once.
// CHECK-LABEL: func.func @axes(
// CHECK-SAME: %arg3: tensor<?x64xbf16> {dsv4.dims = ["tokens", ""], dsv4.name = "arg0_slice", dsv4.strides = #dsv4.strides<[?], align = 2>, dsv4.view = #dsv4.view<of = 0, axes = [0, 2], offsets = ["0", "3", "5"]>})
// CHECK: dsv4.rms_norm %arg3
// CHECK: dsv4.hadamard %arg3
func.func @axes(%x: tensor<?x4x512xbf16> {dsv4.strides = #dsv4.strides<[?, 1024]>, dsv4.dims = ["tokens", "", ""]},
                %o: tensor<?x64xbf16>, %p: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x512xbf16>
  %h = tensor.extract_slice %x[0, 1, 4] [%n, 3, 128] [1, 1, 1] : tensor<?x4x512xbf16> to tensor<?x3x128xbf16>
  %s = tensor.extract_slice %h[0, 2, 1] [%n, 1, 64] [1, 1, 1] : tensor<?x3x128xbf16> to tensor<?x64xbf16>
  %t = tensor.extract_slice %x[0, 3, 5] [%n, 1, 64] [1, 1, 1] : tensor<?x4x512xbf16> to tensor<?x64xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<?x64xbf16>) {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  %q = dsv4.hadamard %t outs(%p : tensor<?x64xbf16>) {scale = 0.125 : f32} : tensor<?x64xbf16>
  return %r, %q : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// -----

// A stride that follows from an extent; `multiple` says what it is a multiple of.
// CHECK-LABEL: func.func @multiple(
// CHECK-SAME: %arg3: tensor<?x?xf32> {dsv4.dims = ["tokens", "part"], dsv4.name = "arg0_slice", dsv4.strides = #dsv4.strides<[?]>, dsv4.view =
func.func @multiple(%x: tensor<?x?xf32> {dsv4.dims = ["tokens", "columns"]}, %w: tensor<?xi32> {dsv4.dims = ["part"]},
                    %i: tensor<?x2xi32>) -> tensor<?x2xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<dynamic, multiple = 4>}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %part = tensor.dim %w, %c0 : tensor<?xi32>
  %s = tensor.extract_slice %x[0, 8] [%n, %part] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %r = dsv4.topk %s outs(%i : tensor<?x2xi32>) : tensor<?x?xf32>
  return %r : tensor<?x2xi32>
}

// -----

// A slice that nothing reads goes.
// CHECK-LABEL: func.func @unused(
// CHECK-SAME: %arg0: tensor<4x8xf32>) {
// CHECK-NEXT: return
func.func @unused(%x: tensor<4x8xf32>) {
  %s = tensor.extract_slice %x[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
  return
}
