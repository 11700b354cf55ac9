// Scales in the layouts that matrix products take: groups that do not fill a run, and a tensor with more rows than there
// are, which keep what they have. One with fewer is refused, and so is a swizzled one of no whole blocks.

// DEFINE: %{run} = dsv4-run %s --target=host --check
// RUN: %{run} --entry=columns --random=1 --dim rows=13 --dim scale_rows=16 | FileCheck %s
// RUN: %{run} --entry=columns --random=2 --dim rows=40 --dim scale_rows=40 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=columns --random=3 --dim rows=0 --dim scale_rows=0 | FileCheck %s
// RUN: %{run} --entry=packed --random=4 --dim rows=13 --dim scale_rows=16 | FileCheck %s
// RUN: %{run} --entry=packed --random=5 --dim rows=40 --dim scale_rows=47 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=large_blocks --random=6 --dim rows=131 --dim scale_rows=384 | FileCheck %s
// RUN: %{run} --entry=large_blocks --random=7 --dim rows=300 --dim scale_rows=384 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=small_blocks --random=8 --dim rows=13 --dim scale_rows=16 | FileCheck %s
// RUN: %{run} --entry=small_blocks --random=9 --dim rows=40 --dim scale_rows=48 --thread-order=reverse | FileCheck %s
// RUN: %{run} --entry=odd_groups --random=10 --dim rows=21 --dim scale_rows=24 | FileCheck %s
// RUN: %{run} --entry=normed --random=11 --dim rows=21 --dim scale_rows=24 | FileCheck %s --check-prefixes=CHECK,NORMED
// RUN: %{run} --entry=strided_columns --random=12 --dim rows=21 --dim scale_rows=24 | FileCheck %s
// RUN: %{run} --entry=strided_packed --random=13 --dim rows=21 --dim scale_rows=23 | FileCheck %s
// RUN: not %{run} --entry=columns --random=1 --dim rows=18 --dim scale_rows=17 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: argument 'scales': extent 1 (dim 'scale_rows') is 17, expected at least 18, rows{{$}}
// RUN: not %{run} --entry=packed --random=1 --dim rows=18 --dim scale_rows=17 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not %{run} --entry=large_blocks --random=1 --dim rows=129 --dim scale_rows=128 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: argument 'scales': extent 0 (dim 'scale_rows') is 128, expected at least 256, ceildiv(rows, 128) * 128{{$}}
// RUN: not %{run} --entry=large_blocks --random=1 --dim rows=5 --dim scale_rows=130 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: argument 'scales': extent 0 (dim 'scale_rows') is 130, expected a multiple of 128{{$}}
// RUN: not %{run} --entry=small_blocks --random=1 --dim rows=9 --dim scale_rows=8 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: argument 'scales': extent 0 (dim 'scale_rows') is 8, expected at least 16, ceildiv(rows, 8) * 8{{$}}
// NORMED: kernel {{ *}}normed
// NORMED-NOT: kernel {{ *}}normed
// CHECK: matches the oracle

func.func @columns(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<5x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]}) {
  %0:2 = dsv4.quantize %x scales column_major outs(%data, %scales : tensor<?x640xf8E4M3FN>, tensor<5x?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<floor = 1.0e-10 : f32>}
      : tensor<?x640xbf16>
  return
}

func.func @packed(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<2x?xi32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]}) {
  %0:2 = dsv4.quantize %x scales packed outs(%data, %scales : tensor<?x640xf8E4M3FN>, tensor<2x?xi32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>}
      : tensor<?x640xbf16>
  return
}

func.func @large_blocks(
    %x: tensor<?x112xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %given: tensor<1xf32> {dsv4.name = "given"},
    %data: tensor<?x112xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x8xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]}) {
  %0:2 = dsv4.quantize %x given(%given : tensor<1xf32>) scales swizzle_128x4
      outs(%data, %scales : tensor<?x112xf4E2M1FN>, tensor<?x8xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>, recipe = #dsv4.quantizer<>}
      : tensor<?x112xf32>
  return
}

// The scale of a row is a result, too, in the order of rows.
func.func @small_blocks(
    %x: tensor<?x160xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x160xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x12xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]},
    %outer: tensor<?xf32> {dsv4.name = "outer", dsv4.dims = ["rows"]}) {
  %0:3 = dsv4.quantize %x scales swizzle_8x4
      outs(%data, %scales, %outer : tensor<?x160xf4E2M1FN>, tensor<?x12xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>, recipe = #dsv4.quantizer<>}
      : tensor<?x160xbf16>
  return
}

// A lane holds a row as a whole.
func.func @odd_groups(
    %x: tensor<?x96xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x90xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x12xf8E8M0FNU> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]}) {
  %0:2 = dsv4.quantize %x columns [6, 90] scales swizzle_8x4
      outs(%data, %scales : tensor<?x90xf8E4M3FN>, tensor<?x12xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 10>]>, recipe = #dsv4.quantizer<rounding = up_pow2>}
      : tensor<?x96xbf16>
  return
}

// One kernel with what computes the rows.
func.func @normed(
    %x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x512xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<4x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%rows) : tensor<?x512xbf16>
  %0 = dsv4.rms_norm %x outs(%row : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xbf16>
  %1:2 = dsv4.quantize %0 scales column_major outs(%data, %scales : tensor<?x512xf8E4M3FN>, tensor<4x?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<floor = 1.0e-10 : f32>}
      : tensor<?x512xbf16>
  return
}

// Columns that lie apart.
func.func @strided_columns(
    %x: tensor<?x640xf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<5x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"], dsv4.strides = #dsv4.strides<[?], align = 4>}) {
  %0:2 = dsv4.quantize %x scales column_major outs(%data, %scales : tensor<?x640xf8E4M3FN>, tensor<5x?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<floor = 1.0e-10 : f32>}
      : tensor<?x640xf16>
  return
}

func.func @strided_packed(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<2x?xi32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"], dsv4.strides = #dsv4.strides<[?], align = 4>}) {
  %0:2 = dsv4.quantize %x scales packed outs(%data, %scales : tensor<?x640xf8E4M3FN>, tensor<2x?xi32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>}
      : tensor<?x640xbf16>
  return
}
