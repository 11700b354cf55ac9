// Blocks that share all rows: one per multiprocessor, and none without rows.

// RUN: dsv4-opt %s --dsv4-lower-to-cuda-pipeline | FileCheck %s

// CHECK: dsv4.launch @scores{{.*}} grid ["multiprocessors() * min(rows, 1)", "1", "1"] block [512, 1, 1]
// CHECK-SAME: read(weights, 4)
func.func @scores(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?xf32> {dsv4.name = "k_scales", dsv4.dims = ["keys"]},
    %out: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]}) -> tensor<?x?xf32> {
  %0 = dsv4.index_score %q weights(%w : tensor<?x64xf32>) keys(%k : tensor<?x128xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) outs(%out : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  return %0 : tensor<?x?xf32>
}
