// Rows that are overwritten by what is computed from them, and what may not read them then.

// RUN: split-file %s %t
// RUN: dsv4-run %t/good.mlir --entry=norm --target=host --random=1 --check --dim rows=9 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=rotate --target=host --random=1 --check --dim rows=9 --dim positions=50 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=chain --target=host --random=1 --check --dim rows=9 --dim positions=50 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=long --target=host --random=1 --check --dim rows=3 | FileCheck %s
// CHECK: matches the oracle
// RUN: dsv4-opt %t/bad.mlir --dsv4-specialize --split-input-file --verify-diagnostics

//--- good.mlir
func.func @norm(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]}) -> tensor<?x512xbf16> {
  %0 = dsv4.rms_norm %x outs(%x : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

func.func @rotate(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                  %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
                  %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]}) {
  %0 = dsv4.rope %x table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%x : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return
}

// The norm reads what the rotation, which is computed from it, overwrites.
func.func @chain(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                 %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
                 %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%rows) : tensor<?x512xbf16>
  %0 = dsv4.rms_norm %x outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%x : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return
}

// By sections: a lane reads again only what it has not yet overwritten.
func.func @long(%x: tensor<?x7168xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.rms_norm %x outs(%x : tensor<?x7168xbf16>) {eps = 1.0e-6 : f32} : tensor<?x7168xbf16>
  return
}

//--- bad.mlir
// Elements by index are other lanes' elements.
func.func @by_index(%s: tensor<?x8xf32>, %i: tensor<?x8xi32>) {
  // expected-error @+1 {{reads argument 'arg0', which is the destination of 'dsv4.route_weights' too, and it cannot work in place: pass another buffer}}
  %w = dsv4.route_weights %s[%i] scale 1.5 outs(%s : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xi32>
  return
}

// -----

// The second norm would read what the first has overwritten.
func.func @afterwards(%x: tensor<?x512xbf16>, %o: tensor<?x512xbf16>) {
  %0 = dsv4.rms_norm %x outs(%x : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  // expected-error @+1 {{reads argument 'arg0', which is the destination of 'dsv4.rms_norm' too, and it cannot work in place: pass another buffer}}
  %1 = dsv4.rms_norm %x outs(%o : tensor<?x512xbf16>) {eps = 1.0e-5 : f32} : tensor<?x512xbf16>
  return
}

// -----

// Scales of a row are read by lanes that do not overwrite them.
func.func @scales(%d: tensor<?x32xf8E4M3FN>, %s: tensor<?x32xf32>) {
  // expected-error @+1 {{reads argument 'arg1', which is the destination of 'dsv4.dequantize' too, and it cannot work in place: pass another buffer}}
  %0 = dsv4.dequantize %d scales(%s : tensor<?x32xf32>) outs(%s : tensor<?x32xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 1>]>} : tensor<?x32xf8E4M3FN>
  return
}
