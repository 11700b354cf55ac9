// The text of a loop has no location of its index; its name is in that of the loop.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo | dsv4-translate --mlir-to-cuda | FileCheck %s
// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline -mlir-print-debuginfo | dsv4-opt -mlir-print-debuginfo \
// RUN:   | dsv4-translate --mlir-to-cuda | FileCheck %s

// CHECK: for (int section = 0; section < 65536; section += {{[0-9]+}}) {
// CHECK: section
func.func @rms_norm(%x: tensor<?x65536xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
                    %out: tensor<?x65536xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x65536xbf16> {
  %0 = dsv4.rms_norm %x outs(%out : tensor<?x65536xbf16>) {eps = 1.0e-06 : f32} : tensor<?x65536xbf16>
  return %0 : tensor<?x65536xbf16>
}
