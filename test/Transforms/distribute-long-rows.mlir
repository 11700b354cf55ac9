// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline --mlir-print-debuginfo --split-input-file | dsv4-translate --mlir-to-cuda --split-input-file | FileCheck %s

// What a lane holds and unrolls does not grow with the row: groups of three, of half of a row, an odd row that is longer
// than a warp can hold, and a transform of such a row.

// CHECK-LABEL: quantize(
// CHECK: load_vectors<dsv4::Tile<dsv4::bf16, 4, 6>>
// CHECK-NOT: Vec<dsv4::bf16, 510>
func.func @quantize(%x: tensor<?x510xbf16>, %c: tensor<?x510xf4E2M1FN>, %s: tensor<?x170xf8E4M3FN>) -> (tensor<?x510xf4E2M1FN>, tensor<?x170xf8E4M3FN>) {
  %q, %z = dsv4.quantize %x outs(%c, %s : tensor<?x510xf4E2M1FN>, tensor<?x170xf8E4M3FN>) {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 3>]>, recipe = #dsv4.quantizer<>} : tensor<?x510xbf16>
  return %q, %z : tensor<?x510xf4E2M1FN>, tensor<?x170xf8E4M3FN>
}

// -----

// CHECK-LABEL: long_groups(
// CHECK: for (int group = 0; group < 65536; group += 32768) {
// CHECK: dsv4::fold_sections<dsv4::Max, 1024, 32>(
func.func @long_groups(%x: tensor<?x65536xbf16>, %c: tensor<?x65536xf8E4M3FN>, %s: tensor<?x2xf32>) -> (tensor<?x65536xf8E4M3FN>, tensor<?x2xf32>) {
  %q, %z = dsv4.quantize %x outs(%c, %s : tensor<?x65536xf8E4M3FN>, tensor<?x2xf32>) {format = #dsv4.format<f8E4M3FN, [<f32 per 32768>]>, recipe = #dsv4.quantizer<>} : tensor<?x65536xbf16>
  return %q, %z : tensor<?x65536xf8E4M3FN>, tensor<?x2xf32>
}

// -----

// CHECK-LABEL: norm(
// CHECK: dsv4::fold_sections<dsv4::Sum, 1024, 64>(
// CHECK: for (int section = 0; section < 65535; section += 1024) {
func.func @norm(%x: tensor<?x65535xbf16>, %o: tensor<?x65535xbf16>) -> tensor<?x65535xbf16> {
  %y = dsv4.rms_norm %x outs(%o : tensor<?x65535xbf16>) {eps = 1.0e-6 : f32} : tensor<?x65535xbf16>
  return %y : tensor<?x65535xbf16>
}

// -----

// CHECK-LABEL: transform(
// CHECK: for (int section = 0; section < 65536; section += 1024) {
// CHECK: dsv4::hadamard_sections<1024, 65536>(
func.func @transform(%x: tensor<?x65536xbf16>, %o: tensor<?x65536xbf16>) -> tensor<?x65536xbf16> {
  %y = dsv4.hadamard %x outs(%o : tensor<?x65536xbf16>) {scale = 1.0 : f32} : tensor<?x65536xbf16>
  return %y : tensor<?x65536xbf16>
}
