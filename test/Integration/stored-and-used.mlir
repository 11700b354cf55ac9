// A row that is returned and used in the same kernel.

// RUN: dsv4-run %s --entry=returned --target=host --random=3 --check --dim rows=7 | FileCheck %s -DNAME=returned
// RUN: dsv4-run %s --entry=written --target=host --random=3 --check --dim rows=7 --dim positions=50 --dim c.pages=3 \
// RUN:   | FileCheck %s -DNAME=written
// RUN: dsv4-run %s --entry=transformed --target=host --random=3 --check --dim rows=7 | FileCheck %s -DNAME=transformed
// RUN: dsv4-run %s --entry=gathered --target=host --random=3 --check --dim rows=7 --dim c.pages=3 \
// RUN:   | FileCheck %s -DNAME=gathered
// RUN: dsv4-run %s --entry=scored --target=host --random=3 --check --dim rows=7 | FileCheck %s -DNAME=scored
// CHECK: kernel {{ *}}[[NAME]]
// CHECK-NOT: kernel
// CHECK: matches the oracle

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>

#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#floor = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>
#up = #dsv4.quantizer<rounding = up_pow2>

func.func @returned(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %row: tensor<?x512xbf16> {dsv4.name = "row", dsv4.dims = ["rows", ""]},
    %q: tensor<?x512xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", ""]},
    %f: tensor<?x8xf8E8M0FNU> {dsv4.name = "f", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xbf16>, tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>) {
  %0 = dsv4.rms_norm %x outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1, %2 = dsv4.quantize %0 outs(%q, %f : tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #fp8, recipe = #up} : tensor<?x512xbf16>
  return %0, %1, %2 : tensor<?x512xbf16>, tensor<?x512xf8E4M3FN>, tensor<?x8xf8E8M0FNU>
}

// Every step of a writer.
func.func @written(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""]},
    %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
    %n: tensor<?x512xbf16> {dsv4.name = "n", dsv4.dims = ["rows", ""]},
    %r: tensor<?x512xbf16> {dsv4.name = "r", dsv4.dims = ["rows", ""]},
    %q: tensor<?x448xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", ""]},
    %f: tensor<?x7xf8E8M0FNU> {dsv4.name = "f", dsv4.dims = ["rows", ""]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["rows"]},
    %c: !cache {dsv4.name = "c"})
    -> (tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>) {
  %0 = dsv4.rms_norm %x outs(%n : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1 = dsv4.rope %0 table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>)
      outs(%r : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %2, %3 = dsv4.quantize %1 columns [0, 448]
      outs(%q, %f : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #floor} : tensor<?x512xbf16>
  dsv4.paged_append %c[%slots] unique fields(%2, %1, %3
      : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>) columns [0, 448, 0]
      : !cache, tensor<?xi32>
  return %0, %1, %2, %3 : tensor<?x512xbf16>, tensor<?x512xbf16>, tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>
}

func.func @transformed(
    %x: tensor<?x128xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %h: tensor<?x128xbf16> {dsv4.name = "h", dsv4.dims = ["rows", ""]},
    %q: tensor<?x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", ""]},
    %f: tensor<?x2xf8E8M0FNU> {dsv4.name = "f", dsv4.dims = ["rows", ""]})
    -> (tensor<?x128xbf16>, tensor<?x128xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) {
  %0 = dsv4.hadamard %x outs(%h : tensor<?x128xbf16>) {scale = 0.125 : f32} : tensor<?x128xbf16>
  %1, %2 = dsv4.quantize %0 outs(%q, %f : tensor<?x128xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      {format = #fp8, recipe = #up} : tensor<?x128xbf16>
  return %0, %1, %2 : tensor<?x128xbf16>, tensor<?x128xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
}

func.func @gathered(
    %c: !cache {dsv4.name = "c"},
    %i: tensor<?x4xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]},
    %g: tensor<?x4x512xbf16> {dsv4.name = "g", dsv4.dims = ["rows", "", ""]},
    %n: tensor<?x4x512xbf16> {dsv4.name = "n", dsv4.dims = ["rows", "", ""]})
    -> (tensor<?x4x512xbf16>, tensor<?x4x512xbf16>) {
  %0 = dsv4.paged_gather %c[%i] outs(%g : tensor<?x4x512xbf16>) : !cache, tensor<?x4xi32>
  %1 = dsv4.rms_norm %0 outs(%n : tensor<?x4x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x4x512xbf16>
  return %0, %1 : tensor<?x4x512xbf16>, tensor<?x4x512xbf16>
}

func.func @scored(
    %x: tensor<?x256xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %g: tensor<?x256xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""]},
    %n: tensor<?x256xf32> {dsv4.name = "n", dsv4.dims = ["rows", ""]})
    -> (tensor<?x256xf32>, tensor<?x256xf32>) {
  %0 = dsv4.gate %x function sigmoid outs(%g : tensor<?x256xf32>) : tensor<?x256xf32>
  %1 = dsv4.gate %0 function sqrt_softplus outs(%n : tensor<?x256xf32>) : tensor<?x256xf32>
  return %0, %1 : tensor<?x256xf32>, tensor<?x256xf32>
}
