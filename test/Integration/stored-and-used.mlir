// A row that is returned and used in the same kernel.

// RUN: dsv4-run %s --target=host --random=3 --check --dim rows=7 | FileCheck %s
// CHECK: kernel {{ *}}returned
// CHECK-NOT: kernel
// CHECK: matches the oracle

#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
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
