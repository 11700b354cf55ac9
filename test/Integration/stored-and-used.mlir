// A row that is returned and used in the same kernel.

// RUN: dsv4-run %s --entry=returned --target=host --random=3 --check --dim rows=7 | FileCheck %s -DNAME=returned
// RUN: dsv4-run %s --entry=written --target=host --random=3 --check --dim rows=7 --dim positions=50 --dim c.pages=3 \
// RUN:   | FileCheck %s -DNAME=written
// RUN: dsv4-run %s --entry=transformed --target=host --random=3 --check --dim rows=7 | FileCheck %s -DNAME=transformed
// RUN: dsv4-run %s --entry=gathered --target=host --random=3 --check --dim rows=7 --dim c.pages=3 \
// RUN:   | FileCheck %s -DNAME=gathered
// RUN: dsv4-run %s --entry=scored --target=host --random=3 --check --dim rows=7 | FileCheck %s -DNAME=scored
// DEFINE: %{scores} = dsv4-run %s --target=host --check
// RUN: %{scores} --entry=routed --random=4 --dim rows=37 | FileCheck %s -DNAME=routed
// RUN: %{scores} --entry=routed --random=5 --dim rows=0 --thread-order=reverse | FileCheck %s -DNAME=routed
// RUN: %{scores} --entry=routed_softmax --random=6 --dim rows=9 | FileCheck %s -DNAME=routed_softmax
// RUN: %{scores} --entry=routed_softmax --random=7 --dim rows=130 --thread-order=reverse | FileCheck %s -DNAME=routed_softmax
// RUN: %{scores} --entry=routed_part --random=8 --dim rows=33 --thread-order=random:3 | FileCheck %s -DNAME=routed_part
// RUN: %{scores} --entry=routed_grouped --random=9 --dim rows=21 | FileCheck %s -DNAME=routed_grouped
// RUN: %{scores} --entry=routed_uneven --random=10 --dim rows=21 --thread-order=reverse | FileCheck %s -DNAME=routed_uneven
// RUN: %{scores} --entry=routed_ids --random=11 --dim rows=37 --dim words=30 | FileCheck %s -DNAME=routed_ids
// RUN: %{scores} --entry=routed_ids --random=12 --dim rows=5 --dim words=3 --thread-order=reverse | FileCheck %s -DNAME=routed_ids
// RUN: %{scores} --entry=routed_twice --random=13 --dim rows=9 --thread-order=reverse | FileCheck %s -DNAME=routed_twice
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

// The scores of a router, all of them beside what is chosen.
func.func @routed(
    %x: tensor<?x256xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %b: tensor<256xf32> {dsv4.name = "b"},
    %g: tensor<?x256xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""]},
    %i: tensor<?x6xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]},
    %w: tensor<?x6xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]})
    -> (tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  %0 = dsv4.gate %x function sqrt_softplus outs(%g : tensor<?x256xf32>) : tensor<?x256xf32>
  %1 = dsv4.topk %0 bias(%b : tensor<256xf32>) order sorted outs(%i : tensor<?x6xi32>) : tensor<?x256xf32>
  %2 = dsv4.route_weights %0[%1] renormalize outs(%w : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %0, %1, %2 : tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>
}

func.func @routed_softmax(
    %x: tensor<?x384xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %g: tensor<?x384xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""],
                           dsv4.strides = #dsv4.strides<[?]>},
    %i: tensor<?x8xi64> {dsv4.name = "i", dsv4.dims = ["rows", ""]},
    %w: tensor<?x8xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]})
    -> (tensor<?x384xf32>, tensor<?x8xi64>, tensor<?x8xf32>) {
  %0 = dsv4.gate %x function softmax outs(%g : tensor<?x384xf32>) : tensor<?x384xbf16>
  %1 = dsv4.topk %0 order sorted outs(%i : tensor<?x8xi64>) : tensor<?x384xf32>
  %2 = dsv4.route_weights %0[%1] outs(%w : tensor<?x8xf32>) : tensor<?x384xf32>, tensor<?x8xi64>
  return %0, %1, %2 : tensor<?x384xf32>, tensor<?x8xi64>, tensor<?x8xf32>
}

// A selection from a part of the row, of which all scores are stored.
func.func @routed_part(
    %x: tensor<?x192xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %n: tensor<?xi32> {dsv4.name = "n", dsv4.dims = ["rows"]},
    %valid: tensor<1xi32> {dsv4.name = "valid"},
    %g: tensor<?x192xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""]},
    %i: tensor<?x6xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]},
    %v: tensor<?x6xf32> {dsv4.name = "v", dsv4.dims = ["rows", ""]})
    -> (tensor<?x192xf32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  %0 = dsv4.gate %x function sigmoid outs(%g : tensor<?x192xf32>) : tensor<?x192xf32>
  %1, %2 = dsv4.topk %0 lengths(%n : tensor<?xi32>) order sorted valid_rows(%valid : tensor<1xi32>)
      outs(%i, %v : tensor<?x6xi32>, tensor<?x6xf32>) : tensor<?x192xf32>
  return %0, %1, %2 : tensor<?x192xf32>, tensor<?x6xi32>, tensor<?x6xf32>
}

func.func @routed_grouped(
    %x: tensor<?x256xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %b: tensor<256xf32> {dsv4.name = "b"},
    %g: tensor<?x256xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""]},
    %i: tensor<?x9xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]})
    -> (tensor<?x256xf32>, tensor<?x9xi32>) {
  %0 = dsv4.gate %x function sigmoid outs(%g : tensor<?x256xf32>) : tensor<?x256xf32>
  %1 = dsv4.topk %0 bias(%b : tensor<256xf32>) order sorted groups 8 keep 4 by 2 shared 1
      outs(%i : tensor<?x9xi32>) : tensor<?x256xf32>
  return %0, %1 : tensor<?x256xf32>, tensor<?x9xi32>
}

// No number of vectors divides the row.
func.func @routed_uneven(
    %x: tensor<?x257xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %g: tensor<?x257xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""]},
    %i: tensor<?x6xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]})
    -> (tensor<?x257xf32>, tensor<?x6xi32>) {
  %0 = dsv4.gate %x function softmax outs(%g : tensor<?x257xf32>) : tensor<?x257xf32>
  %1 = dsv4.topk %0 order sorted outs(%i : tensor<?x6xi32>) : tensor<?x257xf32>
  return %0, %1 : tensor<?x257xf32>, tensor<?x6xi32>
}

// Experts by token: lanes hold the row, and read elements of it by index.
func.func @routed_ids(
    %x: tensor<?x256xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %t: tensor<?x6xi32> {dsv4.name = "t", dsv4.dims = ["words", ""]},
    %d: tensor<?xi32> {dsv4.name = "d", dsv4.dims = ["rows"]},
    %g: tensor<?x256xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""]},
    %i: tensor<?x6xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]},
    %w: tensor<?x6xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]})
    -> (tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  %0 = dsv4.gate %x function sqrt_softplus outs(%g : tensor<?x256xf32>) : tensor<?x256xf32>
  %1 = dsv4.lookup %t[%d] outs(%i : tensor<?x6xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %2 = dsv4.route_weights %0[%1] renormalize outs(%w : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %0, %1, %2 : tensor<?x256xf32>, tensor<?x6xi32>, tensor<?x6xf32>
}

// Of two ops before the selection, both results.
func.func @routed_twice(
    %x: tensor<?x160xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %y: tensor<?x160xf32> {dsv4.name = "y", dsv4.dims = ["rows", ""]},
    %g: tensor<?x160xf32> {dsv4.name = "g", dsv4.dims = ["rows", ""]},
    %i: tensor<?x6xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]})
    -> (tensor<?x160xf32>, tensor<?x160xf32>, tensor<?x6xi32>) {
  %0 = dsv4.gate %x function sigmoid outs(%y : tensor<?x160xf32>) : tensor<?x160xf32>
  %1 = dsv4.gate %0 function sqrt_softplus outs(%g : tensor<?x160xf32>) : tensor<?x160xf32>
  %2 = dsv4.topk %1 order sorted outs(%i : tensor<?x6xi32>) : tensor<?x160xf32>
  return %0, %1, %2 : tensor<?x160xf32>, tensor<?x160xf32>, tensor<?x6xi32>
}
