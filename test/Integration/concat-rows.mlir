// Rows of two tensors, one after the other: alone, of odd widths, and in one kernel with what computes either and with
// what takes the result.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=alone --random=1 --dim rows=37 | FileCheck %s
// RUN: %{run} --entry=alone --random=2 --dim rows=0 | FileCheck %s
// RUN: %{run} --entry=odd --random=3 --dim rows=37 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=views --random=4 --dim rows=37 | FileCheck %s
// RUN: %{run} --entry=fused --random=5 --dim rows=37 --dim positions=50 | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: %{run} --entry=fused --random=6 --dim rows=1 --dim positions=50 --thread-order=reverse | FileCheck %s --check-prefixes=CHECK,FUSED
// RUN: %{run} --entry=normed --random=7 --dim rows=37 | FileCheck %s
// FUSED: kernel {{ *}}fused
// FUSED-NOT: kernel {{ *}}fused
// CHECK: matches the oracle

func.func @alone(
    %x: tensor<?x2x64xbf16> {dsv4.name = "x", dsv4.dims = ["rows", "", ""]},
    %y: tensor<?x2x32xbf16> {dsv4.name = "y", dsv4.dims = ["rows", "", ""]},
    %out: tensor<?x2x96xbf16> {dsv4.name = "out", dsv4.dims = ["rows", "", ""]}) {
  %0 = dsv4.concat_rows %x, %y outs(%out : tensor<?x2x96xbf16>) : tensor<?x2x64xbf16>, tensor<?x2x32xbf16>
  return
}

func.func @odd(
    %x: tensor<?x7xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %y: tensor<?x5xf32> {dsv4.name = "y", dsv4.dims = ["rows", ""]},
    %out: tensor<?x12xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.concat_rows %x, %y outs(%out : tensor<?x12xf32>) : tensor<?x7xf32>, tensor<?x5xf32>
  return
}

func.func @views(
    %x: tensor<?x64xf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 2>},
    %y: tensor<?x192xf16> {dsv4.name = "y", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>},
    %out: tensor<?x256xf16> {dsv4.name = "out", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?]>}) {
  %0 = dsv4.concat_rows %x, %y outs(%out : tensor<?x256xf16>) : tensor<?x64xf16>, tensor<?x192xf16>
  return
}

func.func @fused(
    %pe: tensor<?x64xbf16> {dsv4.name = "pe", dsv4.dims = ["rows", ""]},
    %nope: tensor<?x64xbf16> {dsv4.name = "nope", dsv4.dims = ["rows", ""]},
    %table: tensor<?x64xf32> {dsv4.name = "table", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["rows"]},
    %data: tensor<?x128xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x4xf32> {dsv4.name = "scales", dsv4.dims = ["rows", ""]}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %pe, %c0 : tensor<?x64xbf16>
  %half = tensor.empty(%rows) : tensor<?x64xbf16>
  %row = tensor.empty(%rows) : tensor<?x128xbf16>
  %0 = dsv4.rope %pe table(%table : tensor<?x64xf32>) positions(%position : tensor<?xi32>)
      outs(%half : tensor<?x64xbf16>) : tensor<?x64xbf16>
  %1 = dsv4.concat_rows %0, %nope outs(%row : tensor<?x128xbf16>) : tensor<?x64xbf16>, tensor<?x64xbf16>
  %2:2 = dsv4.quantize %1 outs(%data, %scales : tensor<?x128xf8E4M3FN>, tensor<?x4xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 32>]>, recipe = #dsv4.quantizer<floor = 1.0e-12 : f32>}
      : tensor<?x128xbf16>
  return
}

// A sum is that of neighbours, in whichever tensors they are.
func.func @normed(
    %x: tensor<?x448xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %y: tensor<?x64xbf16> {dsv4.name = "y", dsv4.dims = ["rows", ""]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x448xbf16>
  %row = tensor.empty(%rows) : tensor<?x512xbf16>
  %0 = dsv4.concat_rows %x, %y outs(%row : tensor<?x512xbf16>) : tensor<?x448xbf16>, tensor<?x64xbf16>
  %1 = dsv4.rms_norm %0 outs(%out : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  return
}
