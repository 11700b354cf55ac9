// FP8 by a scale that is given, alone: divided, multiplied by the reciprocal, and multiplied by a given inverse; in one
// kernel with what computes the rows and with what stores them.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=divided --random=1 --dim rows=37 | FileCheck %s
// RUN: %{run} --entry=divided --random=2 --dim rows=0 | FileCheck %s
// RUN: %{run} --entry=reciprocal --random=3 --dim rows=37 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=inverse --random=4 --dim rows=37 | FileCheck %s
// RUN: %{run} --entry=odd --random=5 --dim rows=11 | FileCheck %s
// RUN: %{run} --entry=stored --random=6 --dim rows=37 --dim positions=50 --dim cache.pages=3 | FileCheck %s --check-prefixes=CHECK,STORED
// STORED: kernel {{ *}}stored
// STORED-NOT: kernel {{ *}}stored
// CHECK: matches the oracle

#fp8 = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>

func.func @divided(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %scale: tensor<1xf32> {dsv4.name = "scale"},
    %data: tensor<?x512xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.quantize %x given(%scale : tensor<1xf32>) outs(%data : tensor<?x512xf8E4M3FN>)
      {format = #fp8, recipe = #dsv4.quantizer<>} : tensor<?x512xbf16>
  return
}

func.func @reciprocal(
    %x: tensor<?x3x128xf32> {dsv4.name = "x", dsv4.dims = ["rows", "", ""]},
    %scale: tensor<1xf32> {dsv4.name = "scale"},
    %data: tensor<?x3x64xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", "", ""]}) {
  %0 = dsv4.quantize %x columns [64, 64] given(%scale : tensor<1xf32>) outs(%data : tensor<?x3x64xf8E4M3FN>)
      {format = #fp8, recipe = #dsv4.quantizer<payload = reciprocal>} : tensor<?x3x128xf32>
  return
}

func.func @inverse(
    %x: tensor<?x512xf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #dsv4.strides<[?], align = 2>},
    %inverse: tensor<1xf32> {dsv4.name = "inverse"},
    %data: tensor<?x512xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.quantize %x given inverse(%inverse : tensor<1xf32>) outs(%data : tensor<?x512xf8E4M3FN>)
      {format = #fp8, recipe = #dsv4.quantizer<>} : tensor<?x512xf16>
  return
}

func.func @odd(
    %x: tensor<?x77xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %inverse: tensor<1xf32> {dsv4.name = "inverse"},
    %data: tensor<?x77xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.quantize %x given inverse(%inverse : tensor<1xf32>) outs(%data : tensor<?x77xf8E4M3FN>)
      {format = #fp8, recipe = #dsv4.quantizer<>} : tensor<?x77xf32>
  return
}

func.func @stored(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %table: tensor<?x64xf32> {dsv4.name = "table", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["rows"]},
    %scale: tensor<1xf32> {dsv4.name = "scale"},
    %cache: !dsv4.cache<64 x <fp8_512>> {dsv4.name = "cache"},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["rows"]}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%rows) : tensor<?x512xf32>
  %data = tensor.empty(%rows) : tensor<?x512xf8E4M3FN>
  %0 = dsv4.rope %x table(%table : tensor<?x64xf32>) positions(%position : tensor<?xi32>)
      outs(%row : tensor<?x512xf32>) : tensor<?x512xbf16>
  %1 = dsv4.quantize %0 given(%scale : tensor<1xf32>) outs(%data : tensor<?x512xf8E4M3FN>)
      {format = #fp8, recipe = #dsv4.quantizer<payload = reciprocal>} : tensor<?x512xf32>
  dsv4.paged_append %cache[%slot] unique fields(%1 : tensor<?x512xf8E4M3FN>) : !dsv4.cache<64 x <fp8_512>>, tensor<?xi32>
  return
}
