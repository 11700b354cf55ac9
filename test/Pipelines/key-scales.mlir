// Scales of FP8 keys in an array that has an alignment and no stride: its elements follow each other.

// RUN: dsv4-compile %s --emit-kernels --target=cuda --arch=sm_90a -o - | FileCheck %s
// RUN: dsv4-run %s --random=1 --check --target=host --dim rows=3 --dim keys=70 --dim columns=80

// CHECK: extern "C" __global__
func.func @scores(
    %q: tensor<?x3x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x3xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %s: tensor<?xf32> {dsv4.name = "s", dsv4.dims = ["keys"],
                       dsv4.strides = #dsv4.strides<[], align = 4>},
    %o: tensor<?x?xf32> {dsv4.name = "o", dsv4.dims = ["rows", "columns"]})
    -> tensor<?x?xf32> {
  %r = dsv4.index_score %q weights(%w : tensor<?x3xf32>)
      keys(%k : tensor<?x128xf8E4M3FN>) key_scales(%s : tensor<?xf32>)
      outs(%o : tensor<?x?xf32>) : tensor<?x3x128xf8E4M3FN>
  return %r : tensor<?x?xf32>
}
