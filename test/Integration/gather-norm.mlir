// A destination that no memory is for: what a kernel computes for another of its ops needs none.

// RUN: dsv4-run %s --target=host --random=3 --check --dim k=7 --dim from.pages=3 | FileCheck %s
// CHECK: kernel {{ *}}move
// CHECK-NOT: kernel {{ *}}move
// CHECK: matches the oracle

func.func @move(
    %from: !dsv4.cache<17 x <v4_584>> {dsv4.name = "from"},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["k"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["k", ""]}) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %k = tensor.dim %indices, %c0 : tensor<?xi32>
  %row = tensor.empty(%k) : tensor<?x512xbf16>
  %entries = dsv4.paged_gather %from[%indices] outs(%row : tensor<?x512xbf16>)
      : !dsv4.cache<17 x <v4_584>>, tensor<?xi32>
  %normed = dsv4.rms_norm %entries outs(%out : tensor<?x512xbf16>) {eps = 1.0e-06 : f32}
      : tensor<?x512xbf16>
  return %normed : tensor<?x512xbf16>
}
