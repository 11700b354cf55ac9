// Scales that are read in the layouts that matrix products take: groups that do not fill a run, and a tensor with more
// rows than there are; and what dsv4.quantize writes, read back. A tensor with fewer rows is refused, and so is a
// swizzled one of no whole blocks.

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
// RUN: %{run} --entry=many_groups --random=11 --dim rows=130 --dim scale_rows=256 | FileCheck %s
// RUN: %{run} --entry=strided_columns --random=12 --dim rows=21 --dim scale_rows=24 | FileCheck %s
// RUN: %{run} --entry=strided_packed --random=13 --dim rows=21 --dim scale_rows=23 | FileCheck %s
// RUN: %{run} --entry=normed --random=14 --dim rows=21 --dim scale_rows=24 | FileCheck %s --check-prefixes=CHECK,NORMED
// RUN: %{run} --entry=back_from_columns --random=15 --dim rows=29 --dim scale_rows=32 | FileCheck %s
// RUN: %{run} --entry=back_from_packed --random=16 --dim rows=29 --dim scale_rows=32 | FileCheck %s
// RUN: %{run} --entry=back_from_blocks --random=17 --dim rows=129 --dim scale_rows=256 | FileCheck %s
// RUN: %{run} --entry=back_from_blocks --random=18 --dim rows=200 --dim scale_rows=256 --thread-order=reverse | FileCheck %s
// RUN: not %{run} --entry=columns --random=1 --dim rows=18 --dim scale_rows=17 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: argument 'scales': extent 1 (dim 'scale_rows') is 17, expected at least 18, rows{{$}}
// RUN: not %{run} --entry=large_blocks --random=1 --dim rows=129 --dim scale_rows=128 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: argument 'scales': extent 0 (dim 'scale_rows') is 128, expected at least 256, ceildiv(rows, 128) * 128{{$}}
// RUN: not %{run} --entry=small_blocks --random=1 --dim rows=5 --dim scale_rows=12 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: argument 'scales': extent 0 (dim 'scale_rows') is 12, expected a multiple of 8{{$}}
// NORMED: kernel {{ *}}normed
// NORMED-NOT: kernel {{ *}}normed
// CHECK: matches the oracle

func.func @columns(
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<5x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]},
    %out: tensor<?x640xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales column_major(%scales : tensor<5x?xf32>) outs(%out : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

func.func @packed(
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<2x?xi32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]},
    %out: tensor<?x640xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales packed(%scales : tensor<2x?xi32>) outs(%out : tensor<?x640xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

func.func @large_blocks(
    %data: tensor<?x112xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x8xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]},
    %given: tensor<1xf32> {dsv4.name = "given"},
    %out: tensor<?x112xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales swizzle_128x4(%scales, %given : tensor<?x8xf8E4M3FN>, tensor<1xf32>)
      outs(%out : tensor<?x112xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>} : tensor<?x112xf4E2M1FN>
  return
}

func.func @small_blocks(
    %data: tensor<?x160xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x12xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]},
    %outer: tensor<?xf32> {dsv4.name = "outer", dsv4.dims = ["rows"]},
    %out: tensor<?x160xf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales swizzle_8x4(%scales, %outer : tensor<?x12xf8E4M3FN>, tensor<?xf32>)
      outs(%out : tensor<?x160xf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>} : tensor<?x160xf4E2M1FN>
  return
}

// A lane holds a row as a whole.
func.func @odd_groups(
    %data: tensor<?x90xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x12xf8E8M0FNU> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]},
    %out: tensor<?x90xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales swizzle_8x4(%scales : tensor<?x12xf8E8M0FNU>) outs(%out : tensor<?x90xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 10>]>} : tensor<?x90xf8E4M3FN>
  return
}

// A lane has several groups of a vector.
func.func @many_groups(
    %data: tensor<?x4096xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x1024xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]},
    %out: tensor<?x4096xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales swizzle_128x4(%scales : tensor<?x1024xf8E4M3FN>) outs(%out : tensor<?x4096xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 4>]>} : tensor<?x4096xf4E2M1FN>
  return
}

func.func @strided_columns(
    %data: tensor<?x640xi4> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<5x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"], dsv4.strides = #dsv4.strides<[?], align = 4>},
    %out: tensor<?x640xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales column_major(%scales : tensor<5x?xf32>) outs(%out : tensor<?x640xbf16>)
      {format = #dsv4.format<i4, [<f32 per 128>]>} : tensor<?x640xi4>
  return
}

func.func @strided_packed(
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<2x?xi32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"], dsv4.strides = #dsv4.strides<[?], align = 4>},
    %out: tensor<?x640xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.dequantize %data scales packed(%scales : tensor<2x?xi32>) outs(%out : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

// One kernel with what consumes the values.
func.func @normed(
    %data: tensor<?x512xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<4x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %data, %c0 : tensor<?x512xf8E4M3FN>
  %row = tensor.empty(%rows) : tensor<?x512xf32>
  %0 = dsv4.dequantize %data scales column_major(%scales : tensor<4x?xf32>) outs(%row : tensor<?x512xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x512xf8E4M3FN>
  %1 = dsv4.rms_norm %0 outs(%out : tensor<?x512xbf16>) {eps = 1.0e-6 : f32} : tensor<?x512xf32>
  return
}

func.func @back_from_columns(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<5x?xf32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]},
    %out: tensor<?x640xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %q, %s = dsv4.quantize %x scales column_major outs(%data, %scales : tensor<?x640xf8E4M3FN>, tensor<5x?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<floor = 1.0e-10 : f32>}
      : tensor<?x640xbf16>
  %0 = dsv4.dequantize %q scales column_major(%s : tensor<5x?xf32>) outs(%out : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

func.func @back_from_packed(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x640xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<2x?xi32> {dsv4.name = "scales", dsv4.dims = ["", "scale_rows"]},
    %out: tensor<?x640xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %q, %s = dsv4.quantize %x scales packed outs(%data, %scales : tensor<?x640xf8E4M3FN>, tensor<2x?xi32>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>}
      : tensor<?x640xbf16>
  %0 = dsv4.dequantize %q scales packed(%s : tensor<2x?xi32>) outs(%out : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

func.func @back_from_blocks(
    %x: tensor<?x112xf32> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %given: tensor<1xf32> {dsv4.name = "given"},
    %data: tensor<?x112xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x8xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["scale_rows", ""]},
    %out: tensor<?x112xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) {
  %q, %s = dsv4.quantize %x given(%given : tensor<1xf32>) scales swizzle_128x4
      outs(%data, %scales : tensor<?x112xf4E2M1FN>, tensor<?x8xf8E4M3FN>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>, recipe = #dsv4.quantizer<>}
      : tensor<?x112xf32>
  %0 = dsv4.dequantize %q scales swizzle_128x4(%s, %given : tensor<?x8xf8E4M3FN>, tensor<1xf32>)
      outs(%out : tensor<?x112xbf16>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per tensor>]>} : tensor<?x112xf4E2M1FN>
  return
}
