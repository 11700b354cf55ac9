// What engines do to queries and states before attention, against the oracle: positions per token for all
// heads, padded heads, tables of complex numbers and of bf16, halves, weights with folded scales, biased
// states. Each function is one kernel.

// RUN: dsv4-run %s --target=host --entry=padded --random=1 --check --dim tokens=5 --dim positions=40 | FileCheck %s --check-prefixes=PADDED,CHECK
// RUN: dsv4-run %s --target=host --entry=padded --random=2 --check --dim tokens=1 --dim positions=0 --thread-order=reverse | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=padded --random=3 --check --dim tokens=0 --dim positions=3 | FileCheck %s
// PADDED: kernel {{ *}}padded
// PADDED-NOT: kernel {{ *}}padded
// RUN: dsv4-run %s --target=host --entry=exact --random=1 --check --dim tokens=5 | FileCheck %s --check-prefixes=EXACT,CHECK
// EXACT: kernel {{ *}}exact
// EXACT-NOT: kernel {{ *}}exact
// RUN: dsv4-run %s --target=host --entry=any_heads --random=1 --check --dim tokens=5 --dim heads=3 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=any_heads --random=2 --check --dim tokens=5 --dim heads=9 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=any_heads --random=3 --check --dim tokens=5 --dim heads=0 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=quantized_heads --random=4 --check --dim tokens=6 | FileCheck %s --check-prefixes=QUANTIZED,CHECK
// QUANTIZED: kernel {{ *}}quantized_heads
// QUANTIZED-NOT: kernel {{ *}}quantized_heads
// RUN: dsv4-run %s --target=host --entry=folded --random=5 --check --dim tokens=6 --dim positions=40 | FileCheck %s --check-prefixes=FOLDED,CHECK
// RUN: dsv4-run %s --target=host --entry=folded --random=6 --check --dim tokens=0 --dim positions=40 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=folded --random=7 --check --dim tokens=3 --dim positions=40 --thread-order=random:7 | FileCheck %s
// FOLDED: kernel {{ *}}folded
// FOLDED-NOT: kernel {{ *}}folded
// RUN: dsv4-run %s --target=host --entry=folded_group --random=8 --check --dim tokens=6 | FileCheck %s --check-prefixes=GROUP,CHECK
// GROUP: kernel {{ *}}folded_group
// GROUP-NOT: kernel {{ *}}folded_group
// RUN: dsv4-run %s --target=host --entry=weights --random=9 --check --dim tokens=7 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=halves --random=10 --check --dim a=3 --dim b=4 --dim c=5 --dim positions=30 | FileCheck %s --check-prefixes=HALVES,CHECK
// RUN: dsv4-run %s --target=host --entry=halves --random=11 --check --dim a=0 --dim b=4 --dim c=5 --dim positions=30 | FileCheck %s
// RUN: dsv4-run %s --target=host --entry=halves --random=12 --check --dim a=1 --dim b=1 --dim c=1 --dim positions=1 --thread-order=reverse | FileCheck %s
// HALVES: kernel {{ *}}halves
// HALVES-NOT: kernel {{ *}}halves
// RUN: dsv4-run %s --target=host --entry=state --random=13 --check --dim tokens=40 --dim requests=3 --dim state.pages=4 | FileCheck %s --check-prefixes=STATE,CHECK
// RUN: dsv4-run %s --target=host --entry=state --random=14 --check --dim tokens=0 --dim requests=3 --dim state.pages=4 | FileCheck %s
// STATE: kernel {{ *}}state
// STATE-NOT: kernel {{ *}}state
// CHECK: matches the oracle

// Zeros are normalised, rotated and stored as the other heads are.
func.func @padded(%q: tensor<?x3x96xbf16> {dsv4.dims = ["tokens", "", ""]},
                  %weight: tensor<96xf32>,
                  %table: tensor<?x32xbf16> {dsv4.dims = ["positions", ""]},
                  %position: tensor<?xi32> {dsv4.dims = ["tokens"]},
                  %o: tensor<?x8x96xbf16> {dsv4.dims = ["tokens", "", ""]}) -> tensor<?x8x96xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x3x96xbf16>
  %heads = tensor.empty(%n) : tensor<?x8x96xbf16>
  %padded = dsv4.pad_rows %q outs(%heads : tensor<?x8x96xbf16>) : tensor<?x3x96xbf16>
  %normed = dsv4.rms_norm %padded weight(%weight : tensor<96xf32>)
      outs(%heads : tensor<?x8x96xbf16>) {eps = 1.0e-6} : tensor<?x8x96xbf16>
  %rotated = dsv4.rope %normed table(%table : tensor<?x32xbf16>) interleaved
      positions(%position : tensor<?xi32>) outs(%o : tensor<?x8x96xbf16>) : tensor<?x8x96xbf16>
  return %rotated : tensor<?x8x96xbf16>
}

func.func @exact(%q: tensor<?x3x96xbf16> {dsv4.dims = ["tokens", "", ""]},
                 %o: tensor<?x8x96xbf16> {dsv4.dims = ["tokens", "", ""]}) -> tensor<?x8x96xbf16>
    attributes {dsv4.policies = {tokens = #dsv4.policy<exact>}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x3x96xbf16>
  %heads = tensor.empty(%n) : tensor<?x8x96xbf16>
  %padded = dsv4.pad_rows %q outs(%heads : tensor<?x8x96xbf16>) : tensor<?x3x96xbf16>
  %normed = dsv4.rms_norm %padded outs(%o : tensor<?x8x96xbf16>) {eps = 1.0e-6} : tensor<?x8x96xbf16>
  return %normed : tensor<?x8x96xbf16>
}

// Heads beyond the last are left out.
func.func @any_heads(%q: tensor<?x?x7xf32> {dsv4.dims = ["tokens", "heads", ""]},
                     %o: tensor<?x4x7xf32> {dsv4.dims = ["tokens", "", ""]}) -> tensor<?x4x7xf32> {
  %padded = dsv4.pad_rows %q outs(%o : tensor<?x4x7xf32>) : tensor<?x?x7xf32>
  return %padded : tensor<?x4x7xf32>
}

// The rows are those of destinations of other shapes.
func.func @quantized_heads(%q: tensor<?x3x128xbf16> {dsv4.dims = ["tokens", "", ""]},
                           %o: tensor<?x8x128xf8E4M3FN> {dsv4.dims = ["tokens", "", ""]},
                           %s: tensor<?x8xf32> {dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8x128xf8E4M3FN>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x3x128xbf16>
  %heads = tensor.empty(%n) : tensor<?x8x128xbf16>
  %padded = dsv4.pad_rows %q outs(%heads : tensor<?x8x128xbf16>) : tensor<?x3x128xbf16>
  %payload, %scales = dsv4.quantize %padded outs(%o, %s : tensor<?x8x128xf8E4M3FN>, tensor<?x8xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>, recipe = #dsv4.quantizer<>}
      : tensor<?x8x128xbf16>
  return %payload, %scales : tensor<?x8x128xf8E4M3FN>, tensor<?x8xf32>
}

// Scales are stored as well as folded.
func.func @folded(%q: tensor<?x5x128xbf16> {dsv4.dims = ["tokens", "", ""]},
                  %table: tensor<?x64xf32> {dsv4.dims = ["positions", ""]},
                  %position: tensor<?xi32> {dsv4.dims = ["tokens"]},
                  %weights: tensor<?x5xbf16> {dsv4.dims = ["tokens", ""]},
                  %o: tensor<?x5x128xf8E4M3FN> {dsv4.dims = ["tokens", "", ""]},
                  %s: tensor<?x5xf32> {dsv4.dims = ["tokens", ""]},
                  %w: tensor<?x5xf32> {dsv4.dims = ["tokens", ""]})
    -> (tensor<?x5x128xf8E4M3FN>, tensor<?x5xf32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x5x128xbf16>
  %heads = tensor.empty(%n) : tensor<?x5x128xf32>
  %rotated = dsv4.rope %q table(%table : tensor<?x64xf32>) positions(%position : tensor<?xi32>)
      outs(%heads : tensor<?x5x128xf32>) : tensor<?x5x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%heads : tensor<?x5x128xf32>) {scale = 0.0883883461}
      : tensor<?x5x128xf32>
  %payload, %scales = dsv4.quantize %transformed outs(%o, %s : tensor<?x5x128xf8E4M3FN>, tensor<?x5xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-4, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x5x128xf32>
  %folded = dsv4.scale_weights %weights scales(%scales : tensor<?x5xf32>) constants [0.3, 0.7]
      outs(%w : tensor<?x5xf32>) : tensor<?x5xbf16>
  return %payload, %scales, %folded : tensor<?x5x128xf8E4M3FN>, tensor<?x5xf32>, tensor<?x5xf32>
}

// Several scales per row, each with a weight.
func.func @folded_group(%x: tensor<?x128xf32> {dsv4.dims = ["tokens", ""]},
                        %weights: tensor<?x4xf32> {dsv4.dims = ["tokens", ""]},
                        %o: tensor<?x128xf8E4M3FN> {dsv4.dims = ["tokens", ""]},
                        %w: tensor<?x4xbf16> {dsv4.dims = ["tokens", ""]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x4xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x128xf32>
  %none = tensor.empty(%n) : tensor<?x4xf32>
  %payload, %scales = dsv4.quantize %x outs(%o, %none : tensor<?x128xf8E4M3FN>, tensor<?x4xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 32>]>, recipe = #dsv4.quantizer<floor = 1.0e-4>}
      : tensor<?x128xf32>
  %folded = dsv4.scale_weights %weights scales(%scales : tensor<?x4xf32>)
      outs(%w : tensor<?x4xbf16>) : tensor<?x4xf32>
  return %payload, %folded : tensor<?x128xf8E4M3FN>, tensor<?x4xbf16>
}

func.func @weights(%weights: tensor<?x21xbf16> {dsv4.dims = ["tokens", ""]},
                   %s: tensor<?x21xf32> {dsv4.dims = ["tokens", ""]},
                   %w: tensor<?x21xf32> {dsv4.dims = ["tokens", ""]},
                   %v: tensor<?x21xbf16> {dsv4.dims = ["tokens", ""]})
    -> (tensor<?x21xf32>, tensor<?x21xbf16>) {
  %folded = dsv4.scale_weights %weights scales(%s : tensor<?x21xf32>) constants [0.3]
      outs(%w : tensor<?x21xf32>) : tensor<?x21xbf16>
  %scaled = dsv4.scale_weights %weights constants [0.3, 0.7] outs(%v : tensor<?x21xbf16>) : tensor<?x21xbf16>
  return %folded, %scaled : tensor<?x21xf32>, tensor<?x21xbf16>
}

// Positions have two of three axes; the norm's row is cut into what is not rotated and two halves.
func.func @halves(%x: tensor<?x?x?x192xbf16> {dsv4.dims = ["a", "b", "c", ""]},
                  %table: tensor<?x64xf32> {dsv4.dims = ["positions", ""]},
                  %position: tensor<?x?xi32> {dsv4.dims = ["a", "b"]},
                  %o: tensor<?x?x?x192xbf16> {dsv4.dims = ["a", "b", "c", ""]}) -> tensor<?x?x?x192xbf16> {
  %normed = dsv4.rms_norm %x outs(%o : tensor<?x?x?x192xbf16>) {eps = 1.0e-6} : tensor<?x?x?x192xbf16>
  %rotated = dsv4.rope %normed inverse neox table(%table : tensor<?x64xf32>)
      positions(%position : tensor<?x?xi32>) outs(%o : tensor<?x?x?x192xbf16>) : tensor<?x?x?x192xbf16>
  return %rotated : tensor<?x?x?x192xbf16>
}

// Both halves of a row, of which one is biased, in a ring.
func.func @state(%kv_score: tensor<?x256xf32> {dsv4.dims = ["tokens", ""]},
                 %ape: tensor<4x128xf32>,
                 %position: tensor<?xi32> {dsv4.dims = ["tokens"]},
                 %request: tensor<?xi32> {dsv4.dims = ["tokens"]},
                 %length: tensor<?xi32> {dsv4.dims = ["requests"]},
                 %state: !dsv4.cache<8 x <[<"kv" : 128 x f32 in row>, <"score" : 128 x f32 in row>]>>
                     {dsv4.name = "state"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %kv_score, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%n) : tensor<?x128xf32>
  %biased = dsv4.add_rows %kv_score columns [128, 128] bias(%ape : tensor<4x128xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x128xf32>) : tensor<?x256xf32>
  dsv4.paged_append %state[%position] ring 8 requests(%request : tensor<?xi32>)
      lengths(%length : tensor<?xi32>)
      fields(%kv_score, %biased : tensor<?x256xf32>, tensor<?x128xf32>) columns [0, 0]
      : !dsv4.cache<8 x <[<"kv" : 128 x f32 in row>, <"score" : 128 x f32 in row>]>>, tensor<?xi32>
  return
}
