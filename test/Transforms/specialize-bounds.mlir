// Extents that are at least those of others: what a launch has to compare is with the argument, and in the plans of the
// kernels that have it.

// RUN: dsv4-opt %s --dsv4-specialize --split-input-file | FileCheck %s
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline --split-input-file | FileCheck %s --check-prefix=PLAN

// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %{{.*}}: tensor<5x?xf32> {dsv4.dims = ["", "r"], dsv4.name = "s", dsv4.requires = "n <= r"})
// PLAN-LABEL: func.func @columns(
// PLAN: dsv4.launch {{.*}} requires "{{.*}}n <= r"
func.func @columns(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
    %d: tensor<?x640xf8E4M3FN> {dsv4.name = "d", dsv4.dims = ["n", ""]},
    %s: tensor<5x?xf32> {dsv4.name = "s", dsv4.dims = ["", "r"]}) {
  %0:2 = dsv4.quantize %x scales column_major outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<5x?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<>} : tensor<?x640xbf16>
  return
}

// -----

// The rows are those of an intermediate result, whose extent is that of its operand.
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME: dsv4.name = "s", dsv4.requires = "ceildiv(n, 128) * 128 <= r && ceildiv(r, 128) * 128 <= r"})
// PLAN-LABEL: func.func @swizzled(
// PLAN: dsv4.launch {{.*}} requires "{{.*}}ceildiv(n, 128) * 128 <= r && ceildiv(r, 128) * 128 <= r"
func.func @swizzled(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
    %d: tensor<?x640xf8E4M3FN> {dsv4.name = "d", dsv4.dims = ["n", ""]},
    %s: tensor<?x8xf8E8M0FNU> {dsv4.name = "s", dsv4.dims = ["r", ""]}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x640xbf16>
  %e = tensor.empty(%n) : tensor<?x640xbf16>
  %y = dsv4.rms_norm %x outs(%e : tensor<?x640xbf16>) {eps = 1.0e-06} : tensor<?x640xbf16>
  %0:2 = dsv4.quantize %y scales swizzle_128x4 outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<?x8xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>, recipe = #dsv4.quantizer<rounding = up_pow2>} : tensor<?x640xbf16>
  return
}

// -----

// The same for scales that are read.
// CHECK-LABEL: func.func @decoded(
// CHECK-SAME: dsv4.name = "s", dsv4.requires = "ceildiv(n, 8) * 8 <= r && ceildiv(r, 8) * 8 <= r"}
// PLAN-LABEL: func.func @decoded(
// PLAN: dsv4.launch {{.*}} requires "{{.*}}ceildiv(n, 8) * 8 <= r && ceildiv(r, 8) * 8 <= r"
func.func @decoded(
    %d: tensor<?x640xf8E4M3FN> {dsv4.name = "d", dsv4.dims = ["n", ""]},
    %s: tensor<?x8xf8E8M0FNU> {dsv4.name = "s", dsv4.dims = ["r", ""]},
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]}) {
  %0 = dsv4.dequantize %d scales swizzle_8x4(%s : tensor<?x8xf8E8M0FNU>) outs(%x : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}

// -----

// Extents of one name are equal, and constants are compared here.
// CHECK-LABEL: func.func @none(
// CHECK-NOT: dsv4.requires
func.func @none(
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]},
    %d: tensor<?x640xf8E4M3FN> {dsv4.name = "d", dsv4.dims = ["n", ""]},
    %s: tensor<5x?xf32> {dsv4.name = "s", dsv4.dims = ["", "n"]},
    %y: tensor<9x640xbf16>, %e: tensor<9x640xf8E4M3FN>, %t: tensor<5x12xf32>) {
  %0:2 = dsv4.quantize %x scales column_major outs(%d, %s : tensor<?x640xf8E4M3FN>, tensor<5x?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<>} : tensor<?x640xbf16>
  %1:2 = dsv4.quantize %y scales column_major outs(%e, %t : tensor<9x640xf8E4M3FN>, tensor<5x12xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>, recipe = #dsv4.quantizer<>} : tensor<9x640xbf16>
  return
}

// -----

// Slices of constant size: what has to fit is the rows of the values.
// CHECK-LABEL: func.func @sliced(
// CHECK-SAME: dsv4.name = "d", dsv4.requires = "n <= 256"
// PLAN-LABEL: func.func @sliced(
// PLAN: dsv4.launch {{.*}} requires "{{.*}}n <= 256
func.func @sliced(
    %d: tensor<?x640xf8E4M3FN> {dsv4.name = "d", dsv4.dims = ["n", ""]},
    %s: tensor<5x1024xf32> {dsv4.name = "s"},
    %x: tensor<?x640xbf16> {dsv4.name = "x", dsv4.dims = ["n", ""]}) {
  %part = tensor.extract_slice %s[0, 512] [5, 256] [1, 1] : tensor<5x1024xf32> to tensor<5x256xf32>
  %0 = dsv4.dequantize %d scales column_major(%part : tensor<5x256xf32>) outs(%x : tensor<?x640xbf16>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per 128>]>} : tensor<?x640xf8E4M3FN>
  return
}
