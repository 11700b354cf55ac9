// Rows that are overwritten by what is computed from them, and what may not read them then.

// RUN: split-file %s %t
// RUN: dsv4-run %t/good.mlir --entry=norm --target=host --random=1 --check --dim rows=9 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=rotate --target=host --random=1 --check --dim rows=9 --dim positions=50 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=chain --target=host --random=1 --check --dim rows=9 --dim positions=50 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=long --target=host --random=1 --check --dim rows=3 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=twice --target=host --random=1 --check --dim rows=9 --dim positions=50 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=twice_apart --target=host --random=1 --check --dim rows=9 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=before --target=host --random=1 --check --dim rows=9 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=between --target=host --random=1 --check --dim rows=9 --dim positions=50 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=query_and_key --target=host --random=1 --check --dim tokens=0 --dim positions=50 | FileCheck %s
// RUN: dsv4-run %t/good.mlir --entry=query_and_key --target=host --random=2 --check --dim tokens=7 --dim positions=50 \
// RUN:   --thread-order=reverse | FileCheck %s
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

// Each op of a chain overwrites the rows: the kernel stores the last.
func.func @twice(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                 %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
                 %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]}) -> tensor<?x512xbf16> {
  %0 = dsv4.rms_norm %x outs(%x : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%x : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return %1 : tensor<?x512xbf16>
}

// The same in two kernels: the second reads what the first has stored.
func.func @twice_apart(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                       %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.rms_norm %x outs(%x : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.hadamard %0 outs(%o : tensor<?x512xbf16>) {scale = 0.125 : f32} : tensor<?x512xbf16>
  %2 = dsv4.rms_norm %0 outs(%x : tensor<?x512xbf16>) {eps = 1.0e-5 : f32} : tensor<?x512xbf16>
  return
}

// A kernel reads the rows that a later one overwrites, which is not computed from it.
func.func @before(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                  %y: tensor<?x512xbf16> {dsv4.name = "y", dsv4.dims = ["rows", ""]},
                  %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.hadamard %y outs(%x : tensor<?x512xbf16>) {scale = 0.125 : f32} : tensor<?x512xbf16>
  return
}

// The norm may not move to its user, which comes after the op that overwrites what it reads.
func.func @between(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                   %y: tensor<?x512xbf16> {dsv4.name = "y", dsv4.dims = ["rows", ""]},
                   %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
                   %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
                   %n: tensor<?x512xbf16> {dsv4.name = "n", dsv4.dims = ["rows", ""]},
                   %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.rms_norm %x outs(%n : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.hadamard %y outs(%x : tensor<?x512xbf16>) {scale = 0.125 : f32} : tensor<?x512xbf16>
  %2 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x512xbf16>) : tensor<?x512xbf16>
  return
}

// Queries and keys, each where they are, in one launch.
func.func @query_and_key(
    %q: tensor<?x8x128xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %q_positions: tensor<?x8xi32> {dsv4.name = "q_positions", dsv4.dims = ["tokens", ""]},
    %k: tensor<?x128xbf16> {dsv4.name = "k", dsv4.dims = ["tokens", ""]},
    %positions: tensor<?xi32> {dsv4.name = "k_positions", dsv4.dims = ["tokens"]},
    %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]}) {
  %0 = dsv4.rope %q table(%t : tensor<?x64xf32>) positions(%q_positions : tensor<?x8xi32>)
      outs(%q : tensor<?x8x128xbf16>) : tensor<?x8x128xbf16>
  %1 = dsv4.rope %k table(%t : tensor<?x64xf32>) positions(%positions : tensor<?xi32>)
      outs(%k : tensor<?x128xbf16>) : tensor<?x128xbf16>
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

// -----

// What the first op puts there is returned.
// expected-error @+1 {{argument 'arg0' is the destination of two results: pass another buffer}}
func.func @returned(%x: tensor<?x512xbf16>, %y: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %0 = dsv4.rms_norm %y outs(%x : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.rms_norm %0 outs(%x : tensor<?x512xbf16>) {eps = 1.0e-5 : f32} : tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// -----

// The third op would read what the second has overwritten.
// expected-error @+1 {{argument 'arg0' is the destination of two results: pass another buffer}}
func.func @used_afterwards(%x: tensor<?x512xbf16>, %o: tensor<?x512xbf16>) {
  %0 = dsv4.rms_norm %x outs(%x : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.hadamard %0 outs(%x : tensor<?x512xbf16>) {scale = 0.125 : f32} : tensor<?x512xbf16>
  %2 = dsv4.hadamard %0 outs(%o : tensor<?x512xbf16>) {scale = 0.125 : f32} : tensor<?x512xbf16>
  return
}

// -----

// Elements by index are other lanes' elements.
// expected-error @+1 {{argument 'arg0' is the destination of two results: pass another buffer}}
func.func @chain_by_index(%s: tensor<?x8xf32>, %i: tensor<?x8xi32>) {
  %g = dsv4.gate %s function sigmoid outs(%s : tensor<?x8xf32>) : tensor<?x8xf32>
  %w = dsv4.route_weights %g[%i] scale 1.5 outs(%s : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?x8xi32>
  return
}
