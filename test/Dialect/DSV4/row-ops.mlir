// quantize, rms_norm, rope, hadamard, pad_rows, concat_rows, add_rows and scale_weights with all of their optional parts, read
// back from their own text, from generic text and from bytecode.

// RUN: dsv4-opt %s | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s -mlir-print-op-generic | dsv4-opt | FileCheck %s
// RUN: dsv4-opt %s --emit-bytecode | dsv4-opt --allow-bytecode | FileCheck %s

// CHECK-DAG: #[[FP8:format[0-9]*]] = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]{{ ?}}>
// CHECK-DAG: #[[ROW:format[0-9]*]] = #dsv4.format<f8E4M3FN, [<f32 per row>]{{ ?}}>
// CHECK-DAG: #[[GIVEN:format[0-9]*]] = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]{{ ?}}>
// CHECK-DAG: #[[OUTER:format[0-9]*]] = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]{{ ?}}>

//===----------------------------------------------------------------------===//
// quantize
//===----------------------------------------------------------------------===//

// The first 448 columns of a row of 512.
// CHECK-LABEL: func.func @quantize_columns
func.func @quantize_columns(%x: tensor<?x512xbf16>, %data: tensor<?x448xf8E4M3FN>,
                            %scales: tensor<?x7xf8E8M0FNU>)
    -> (tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>) {
  // CHECK: %payload, %scales = dsv4.quantize %{{[a-z0-9_]+}} columns [0, 448] outs(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
  // CHECK-SAME: {format = #[[FP8]], recipe = #dsv4.quantizer<floor = {{[^ ]*}} : f32, limit = reciprocal, rounding = up_pow2>} : tensor<?x512xbf16>
  // CHECK: return %payload, %scales : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>
  %q, %s = dsv4.quantize %x columns [0, 448]
      outs(%data, %scales : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x512xbf16>
  return %q, %s : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>
}

// Scales per row have no last axis; the last columns of a row.
// CHECK-LABEL: func.func @quantize_per_row
func.func @quantize_per_row(%x: tensor<4x8x128xf32>, %data: tensor<4x8x64xf8E4M3FN>,
                            %scales: tensor<4x8xf32>)
    -> (tensor<4x8x64xf8E4M3FN>, tensor<4x8xf32>) {
  // CHECK: %payload, %scales = dsv4.quantize %{{[a-z0-9_]+}} columns [64, 64] outs(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<4x8x64xf8E4M3FN>, tensor<4x8xf32>)
  // CHECK-SAME: {format = #[[ROW]], recipe = #dsv4.quantizer<>} : tensor<4x8x128xf32>
  %q, %s = dsv4.quantize %x columns [64, 64]
      outs(%data, %scales : tensor<4x8x64xf8E4M3FN>, tensor<4x8xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>, recipe = #dsv4.quantizer<>}
      : tensor<4x8x128xf32>
  return %q, %s : tensor<4x8x64xf8E4M3FN>, tensor<4x8xf32>
}

// A level per tensor is an operand and has no destination.
// CHECK-LABEL: func.func @quantize_given
func.func @quantize_given(%x: tensor<?x512xbf16>, %global: tensor<1xf32>,
                          %data: tensor<?x512xf4E2M1FN>, %scales: tensor<?x32xf8E4M3FN>)
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  // CHECK: %payload, %scales = dsv4.quantize %{{[a-z0-9_]+}} given(%{{[a-z0-9_]+}} : tensor<1xf32>) outs(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
  // CHECK-SAME: {format = #[[GIVEN]], recipe = #dsv4.quantizer<rounding = up>} : tensor<?x512xbf16>
  %q, %s = dsv4.quantize %x given(%global : tensor<1xf32>)
      outs(%data, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<rounding = up>} : tensor<?x512xbf16>
  return %q, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

// Scales in other orders than that of rows.
// CHECK-LABEL: func.func @quantize_layouts
func.func @quantize_layouts(%x: tensor<?x640xbf16>, %data: tensor<?x640xf8E4M3FN>, %columns: tensor<5x?xf8E8M0FNU>,
                            %packed: tensor<2x?xi32>, %large: tensor<256x8xf8E8M0FNU>,
                            %small: tensor<?x8xf8E8M0FNU>, %rows: tensor<?x5xf8E8M0FNU>) {
  // CHECK: dsv4.quantize %{{[a-z0-9_]+}} scales column_major outs(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x640xf8E4M3FN>, tensor<5x?xf8E8M0FNU>)
  %0:2 = dsv4.quantize %x scales column_major outs(%data, %columns : tensor<?x640xf8E4M3FN>, tensor<5x?xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  // CHECK: dsv4.quantize %{{[a-z0-9_]+}} scales packed outs
  %1:2 = dsv4.quantize %x scales packed outs(%data, %packed : tensor<?x640xf8E4M3FN>, tensor<2x?xi32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  // CHECK: dsv4.quantize %{{[a-z0-9_]+}} scales swizzle_128x4 outs
  %2:2 = dsv4.quantize %x scales swizzle_128x4 outs(%data, %large : tensor<?x640xf8E4M3FN>, tensor<256x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  // CHECK: dsv4.quantize %{{[a-z0-9_]+}} scales swizzle_8x4 outs
  %3:2 = dsv4.quantize %x scales swizzle_8x4 outs(%data, %small : tensor<?x640xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  // CHECK: dsv4.quantize %{{[a-z0-9_]+}} outs
  %4:2 = dsv4.quantize %x scales row_major outs(%data, %rows : tensor<?x640xf8E4M3FN>, tensor<?x5xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>,
       recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// Both levels are computed: three destinations.
// CHECK-LABEL: func.func @quantize_outer
func.func @quantize_outer(%x: tensor<?x512xbf16>, %data: tensor<?x480xf4E2M1FN>,
                          %scales: tensor<?x30xf8E4M3FN>, %outer: tensor<?xf32>)
    -> (tensor<?x480xf4E2M1FN>, tensor<?x30xf8E4M3FN>, tensor<?xf32>) {
  // CHECK: %payload, %scales, %scales_{{[0-9]}} = dsv4.quantize %{{[a-z0-9_]+}} columns [16, 480]
  // CHECK-SAME: outs(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<?x480xf4E2M1FN>, tensor<?x30xf8E4M3FN>, tensor<?xf32>)
  // CHECK-SAME: {format = #[[OUTER]], recipe = #dsv4.quantizer<ties = down, drop_negative_zero = true>} : tensor<?x512xbf16>
  %q, %s, %o = dsv4.quantize %x columns [16, 480]
      outs(%data, %scales, %outer : tensor<?x480xf4E2M1FN>, tensor<?x30xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>,
       recipe = #dsv4.quantizer<ties = down, drop_negative_zero = true>} : tensor<?x512xbf16>
  return %q, %s, %o : tensor<?x480xf4E2M1FN>, tensor<?x30xf8E4M3FN>, tensor<?xf32>
}

// One row, and no given level beside columns.
// CHECK-LABEL: func.func @quantize_one_row
func.func @quantize_one_row(%x: tensor<65536xbf16>, %data: tensor<65536xf8E4M3FN>,
                            %scale: tensor<f32>) -> (tensor<65536xf8E4M3FN>, tensor<f32>) {
  // CHECK: %payload, %scales = dsv4.quantize %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : tensor<65536xf8E4M3FN>, tensor<f32>)
  %q, %s = dsv4.quantize %x outs(%data, %scale : tensor<65536xf8E4M3FN>, tensor<f32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>, recipe = #dsv4.quantizer<>}
      : tensor<65536xbf16>
  return %q, %s : tensor<65536xf8E4M3FN>, tensor<f32>
}

// No rows are rows too.
// CHECK-LABEL: func.func @quantize_no_rows
func.func @quantize_no_rows(%x: tensor<0x2xf32>, %data: tensor<0x2xf4E2M1FN>,
                            %scales: tensor<0x1xf8E4M3FN>, %given: tensor<1xf32>)
    -> (tensor<0x2xf4E2M1FN>, tensor<0x1xf8E4M3FN>) {
  // CHECK: dsv4.quantize %{{[a-z0-9_]+}} columns [0, 2] given(%{{[a-z0-9_]+}} : tensor<1xf32>) outs(
  %q, %s = dsv4.quantize %x columns [0, 2] given(%given : tensor<1xf32>)
      outs(%data, %scales : tensor<0x2xf4E2M1FN>, tensor<0x1xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 2>, <f32 per tensor>]>,
       recipe = #dsv4.quantizer<>} : tensor<0x2xf32>
  return %q, %s : tensor<0x2xf4E2M1FN>, tensor<0x1xf8E4M3FN>
}

//===----------------------------------------------------------------------===//
// rms_norm
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<?x512xbf16>, %weight: tensor<512xf32>, %out: tensor<?x512xf32>)
    -> tensor<?x512xf32> {
  // CHECK: %normed = dsv4.rms_norm %{{[a-z0-9_]+}} weight(%{{[a-z0-9_]+}} : tensor<512xf32>) outs(%{{[a-z0-9_]+}} : tensor<?x512xf32>) {eps = {{[^ ]*}} : f32} : tensor<?x512xbf16>
  // CHECK: return %normed : tensor<?x512xf32>
  %y = dsv4.rms_norm %x weight(%weight : tensor<512xf32>) outs(%out : tensor<?x512xf32>)
      {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  return %y : tensor<?x512xf32>
}

// CHECK-LABEL: func.func @rms_norm_bare
func.func @rms_norm_bare(%x: tensor<7xf32>, %out: tensor<7xbf16>) -> tensor<7xbf16> {
  // CHECK: %normed = dsv4.rms_norm %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<7xbf16>) {eps = 0.000000e+00 : f32} : tensor<7xf32>
  %y = dsv4.rms_norm %x outs(%out : tensor<7xbf16>) {eps = 0.0 : f32} : tensor<7xf32>
  return %y : tensor<7xbf16>
}

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @rope
func.func @rope(%x: tensor<?x64x512xbf16>, %table: tensor<?x64xf32>, %positions: tensor<?x64xi32>,
                %out: tensor<?x64x512xbf16>) -> tensor<?x64x512xbf16> {
  // CHECK: %rotated = dsv4.rope %{{[a-z0-9_]+}} table(%{{[a-z0-9_]+}} : tensor<?x64xf32>) positions(%{{[a-z0-9_]+}} : tensor<?x64xi32>) outs(%{{[a-z0-9_]+}} : tensor<?x64x512xbf16>) : tensor<?x64x512xbf16>
  // CHECK: return %rotated : tensor<?x64x512xbf16>
  %y = dsv4.rope %x table(%table : tensor<?x64xf32>) positions(%positions : tensor<?x64xi32>)
      outs(%out : tensor<?x64x512xbf16>) : tensor<?x64x512xbf16>
  return %y : tensor<?x64x512xbf16>
}

// One row has a position of rank 0; the whole of it may be rotated.
// CHECK-LABEL: func.func @rope_inverse
func.func @rope_inverse(%x: tensor<64xf32>, %table: tensor<4096x64xf32>, %position: tensor<i32>,
                        %out: tensor<64xbf16>) -> tensor<64xbf16> {
  // CHECK: %rotated = dsv4.rope %{{[a-z0-9_]+}} inverse table(%{{[a-z0-9_]+}} : tensor<4096x64xf32>) positions(%{{[a-z0-9_]+}} : tensor<i32>) outs(%{{[a-z0-9_]+}} : tensor<64xbf16>) : tensor<64xf32>
  %y = dsv4.rope %x inverse table(%table : tensor<4096x64xf32>) positions(%position : tensor<i32>)
      outs(%out : tensor<64xbf16>) : tensor<64xf32>
  return %y : tensor<64xbf16>
}

//===----------------------------------------------------------------------===//
// hadamard
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @hadamard
func.func @hadamard(%x: tensor<?x64x128xbf16>, %out: tensor<?x64x128xbf16>)
    -> tensor<?x64x128xbf16> {
  // CHECK: %transformed = dsv4.hadamard %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<?x64x128xbf16>) {scale = 0.0883883461 : f32} : tensor<?x64x128xbf16>
  // CHECK: return %transformed : tensor<?x64x128xbf16>
  %y = dsv4.hadamard %x outs(%out : tensor<?x64x128xbf16>) {scale = 0.0883883461 : f32}
      : tensor<?x64x128xbf16>
  return %y : tensor<?x64x128xbf16>
}

// A row of one element is a power of two; a scale may be negative.
// CHECK-LABEL: func.func @hadamard_of_one
func.func @hadamard_of_one(%x: tensor<1xf32>, %out: tensor<1xbf16>) -> tensor<1xbf16> {
  // CHECK: dsv4.hadamard %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<1xbf16>) {scale = -1.000000e+00 : f32} : tensor<1xf32>
  %y = dsv4.hadamard %x outs(%out : tensor<1xbf16>) {scale = -1.0 : f32} : tensor<1xf32>
  return %y : tensor<1xbf16>
}

//===----------------------------------------------------------------------===//
// Tables, pairs and positions of rope
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @rope_heads
func.func @rope_heads(%x: tensor<?x64x512xbf16>, %t: tensor<?x64xf32>, %p: tensor<?xi32>,
                      %o: tensor<?x64x512xbf16>) -> tensor<?x64x512xbf16> {
  // CHECK: %rotated = dsv4.rope %{{[a-z0-9_]+}} inverse table(%{{[a-z0-9_]+}} : tensor<?x64xf32>) interleaved positions(%{{[a-z0-9_]+}} : tensor<?xi32>) outs(%{{[a-z0-9_]+}} : tensor<?x64x512xbf16>) : tensor<?x64x512xbf16>
  %0 = dsv4.rope %x inverse table(%t : tensor<?x64xf32>) interleaved
      positions(%p : tensor<?xi32>) outs(%o : tensor<?x64x512xbf16>) : tensor<?x64x512xbf16>
  return %0 : tensor<?x64x512xbf16>
}

// CHECK-LABEL: func.func @rope_halves
func.func @rope_halves(%x: tensor<?x3x4x64xf32>, %t: tensor<?x64xbf16>, %p: tensor<?x3xi32>,
                       %o: tensor<?x3x4x64xbf16>) -> tensor<?x3x4x64xbf16> {
  // CHECK: %rotated = dsv4.rope %{{[a-z0-9_]+}} inverse neox table(%{{[a-z0-9_]+}} : tensor<?x64xbf16>) positions(%{{[a-z0-9_]+}} : tensor<?x3xi32>) outs(%{{[a-z0-9_]+}} : tensor<?x3x4x64xbf16>) : tensor<?x3x4x64xf32>
  %0 = dsv4.rope %x inverse neox table(%t : tensor<?x64xbf16>)
      positions(%p : tensor<?x3xi32>) outs(%o : tensor<?x3x4x64xbf16>) : tensor<?x3x4x64xf32>
  return %0 : tensor<?x3x4x64xbf16>
}

//===----------------------------------------------------------------------===//
// pad_rows, add_rows, scale_weights
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<?x?x512xbf16>, %o: tensor<?x64x512xbf16>) -> tensor<?x64x512xbf16> {
  // CHECK: %padded = dsv4.pad_rows %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<?x64x512xbf16>) : tensor<?x?x512xbf16>
  %0 = dsv4.pad_rows %x outs(%o : tensor<?x64x512xbf16>) : tensor<?x?x512xbf16>
  return %0 : tensor<?x64x512xbf16>
}

// CHECK-LABEL: func.func @add
func.func @add(%x: tensor<?x16xf32>, %b: tensor<4x8xbf16>, %p: tensor<?xi32>, %o: tensor<?x8xbf16>)
    -> tensor<?x8xbf16> {
  // CHECK: %biased = dsv4.add_rows %{{[a-z0-9_]+}} columns [8, 8] bias(%{{[a-z0-9_]+}} : tensor<4x8xbf16>) positions(%{{[a-z0-9_]+}} : tensor<?xi32>) outs(%{{[a-z0-9_]+}} : tensor<?x8xbf16>) : tensor<?x16xf32>
  %0 = dsv4.add_rows %x columns [8, 8] bias(%b : tensor<4x8xbf16>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xbf16>) : tensor<?x16xf32>
  return %0 : tensor<?x8xbf16>
}

// CHECK-LABEL: func.func @add_whole
func.func @add_whole(%x: tensor<?x8xf32>, %b: tensor<4x8xf32>, %p: tensor<?xi32>, %o: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: %biased = dsv4.add_rows %{{[a-z0-9_]+}} bias(%{{[a-z0-9_]+}} : tensor<4x8xf32>) positions(%{{[a-z0-9_]+}} : tensor<?xi32>) outs(%{{[a-z0-9_]+}} : tensor<?x8xf32>) : tensor<?x8xf32>
  %0 = dsv4.add_rows %x bias(%b : tensor<4x8xf32>) positions(%p : tensor<?xi32>)
      outs(%o : tensor<?x8xf32>) : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @scale
func.func @scale(%w: tensor<?x64xbf16>, %s: tensor<?x64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: %folded = dsv4.scale_weights %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}} : tensor<?x64xf32>) constants [2.500000e-01, 3.000000e+00] outs(%{{[a-z0-9_]+}} : tensor<?x64xf32>) : tensor<?x64xbf16>
  %0 = dsv4.scale_weights %w scales(%s : tensor<?x64xf32>) constants [0.25, 3.0]
      outs(%o : tensor<?x64xf32>) : tensor<?x64xbf16>
  return %0 : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @scale_alone
func.func @scale_alone(%w: tensor<?x64xf32>, %s: tensor<?x64xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: %folded = dsv4.scale_weights %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}} : tensor<?x64xf32>) outs(%{{[a-z0-9_]+}} : tensor<?x64xf32>) : tensor<?x64xf32>
  %0 = dsv4.scale_weights %w scales(%s : tensor<?x64xf32>) outs(%o : tensor<?x64xf32>) : tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

//===----------------------------------------------------------------------===//
// A given scale alone, scales in other layouts, joined rows
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @given_scale
func.func @given_scale(%x: tensor<?x3x512xf32>, %s: tensor<1xf32>, %d: tensor<?x3x512xf8E4M3FN>) {
  // CHECK: %payload = dsv4.quantize %{{[a-z0-9_]+}} given(%{{[a-z0-9_]+}} : tensor<1xf32>) outs(%{{[a-z0-9_]+}} : tensor<?x3x512xf8E4M3FN>) {format = #{{[a-z0-9]+}}, recipe = #dsv4.quantizer<payload = reciprocal>} : tensor<?x3x512xf32>
  %0 = dsv4.quantize %x given(%s : tensor<1xf32>) outs(%d : tensor<?x3x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<payload = reciprocal>}
      : tensor<?x3x512xf32>
  // CHECK: %payload_0 = dsv4.quantize %{{[a-z0-9_]+}} given inverse(%{{[a-z0-9_]+}} : tensor<1xf32>) outs(
  %1 = dsv4.quantize %x given inverse(%s : tensor<1xf32>) outs(%d : tensor<?x3x512xf8E4M3FN>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>, recipe = #dsv4.quantizer<>} : tensor<?x3x512xf32>
  return
}

// CHECK-LABEL: func.func @layouts_of_scales
func.func @layouts_of_scales(%d: tensor<?x640xf8E4M3FN>, %columns: tensor<5x?xf32>, %words: tensor<2x?xi32>,
                             %blocks: tensor<?x8xf8E8M0FNU>, %rows: tensor<?x5xf8E8M0FNU>, %o: tensor<?x640xbf16>) {
  // CHECK: dsv4.dequantize %{{[a-z0-9_]+}} scales column_major(%{{[a-z0-9_]+}} : tensor<5x?xf32>) outs(
  %0 = dsv4.dequantize %d scales column_major(%columns : tensor<5x?xf32>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x640xf8E4M3FN>
  // CHECK: dsv4.dequantize %{{[a-z0-9_]+}} scales packed(%{{[a-z0-9_]+}} : tensor<2x?xi32>) outs(
  %1 = dsv4.dequantize %d scales packed(%words : tensor<2x?xi32>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  // CHECK: dsv4.dequantize %{{[a-z0-9_]+}} scales swizzle_128x4(%{{[a-z0-9_]+}} : tensor<?x8xf8E8M0FNU>) outs(
  %2 = dsv4.dequantize %d scales swizzle_128x4(%blocks : tensor<?x8xf8E8M0FNU>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  // CHECK: dsv4.dequantize %{{[a-z0-9_]+}} scales(%{{[a-z0-9_]+}} : tensor<?x5xf8E8M0FNU>) outs(
  %3 = dsv4.dequantize %d scales row_major(%rows : tensor<?x5xf8E8M0FNU>) outs(%o : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

// CHECK-LABEL: func.func @concat_rows
func.func @concat_rows(%x: tensor<?x64xbf16>, %y: tensor<?x32xbf16>, %o: tensor<?x96xbf16>) -> tensor<?x96xbf16> {
  // CHECK: %joined = dsv4.concat_rows %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} outs(%{{[a-z0-9_]+}} : tensor<?x96xbf16>) : tensor<?x64xbf16>, tensor<?x32xbf16>
  // CHECK: return %joined : tensor<?x96xbf16>
  %0 = dsv4.concat_rows %x, %y outs(%o : tensor<?x96xbf16>) : tensor<?x64xbf16>, tensor<?x32xbf16>
  return %0 : tensor<?x96xbf16>
}
