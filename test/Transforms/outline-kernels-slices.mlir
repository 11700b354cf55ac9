// The parameter of a slice begins within the argument; a condition says that it ends there. Extents and strides are
// those of the argument.

// RUN: dsv4-opt %s --split-input-file --dsv4-lower-to-cuda-pipeline | FileCheck %s

// CHECK: func.func @columns
// CHECK: dsv4.launch {{.*}} parameters ["write(o, 16)", "read(x + 1024, 16)", "i32(tokens)"]
func.func @columns(%x: tensor<?x1024xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]},
                   %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", ""]}) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %s = tensor.extract_slice %x[0, 512] [%n, 512] [1, 1] : tensor<?x1024xbf16> to tensor<?x512xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  return %r : tensor<?x512xbf16>
}

// -----

// CHECK: func.func @rows
// CHECK: dsv4.launch {{.*}} parameters ["write(o, 16)", "read(x + decodes * x.stride.0 * 2 + 6, 2, decodes + prefills <= tokens)", "i32(prefills)", "i32(x.stride.0)"]
func.func @rows(%x: tensor<?x1024xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[?]>},
                %d: tensor<?xi32> {dsv4.name = "d", dsv4.dims = ["decodes"]},
                %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["prefills", ""]}) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %decodes = tensor.dim %d, %c0 : tensor<?xi32>
  %n = tensor.dim %o, %c0 : tensor<?x512xbf16>
  %s = tensor.extract_slice %x[%decodes, 3] [%n, 512] [1, 1] : tensor<?x1024xbf16> to tensor<?x512xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  return %r : tensor<?x512xbf16>
}

// -----

// The stride follows from an extent.
// CHECK: func.func @scores
// CHECK: parameters ["write(i, 4)", "read(s + columns * 4 + 16, 4, 4 + part <= columns)", {{.*}}"i32(2 * columns)"
func.func @scores(%s: tensor<?x2x?xf32> {dsv4.name = "s", dsv4.dims = ["rows", "", "columns"]},
                  %w: tensor<?xi32> {dsv4.name = "w", dsv4.dims = ["part"]},
                  %i: tensor<?x2xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]}) -> tensor<?x2xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %s, %c0 : tensor<?x2x?xf32>
  %part = tensor.dim %w, %c0 : tensor<?xi32>
  %t = tensor.extract_slice %s[0, 1, 4] [%n, 1, %part] [1, 1, 1] : tensor<?x2x?xf32> to tensor<?x?xf32>
  %r = dsv4.topk %t outs(%i : tensor<?x2xi32>) : tensor<?x?xf32>
  return %r : tensor<?x2xi32>
}
