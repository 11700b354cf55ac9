// A selection from scores that another kernel of the program stores has the schedule for as many
// columns as these can have.

// RUN: dsv4-opt %s --dsv4-specialize=dims=rows=64,columns=8192 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=SHORT
// RUN: dsv4-opt %s --dsv4-specialize=dims=rows=64,columns=32768 --dsv4-form-kernels \
// RUN:   --dsv4-select-schedule=arch=sm_90a | FileCheck %s --check-prefix=LONG

// SHORT: dsv4.kernel @choose_1{{.*}} schedule <threads = 1024, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>
// LONG: dsv4.kernel @choose_1{{.*}} schedule <threads = 1024, cluster = 2, pdl = true, parts = [#dsv4.select<algorithm = block, vector = 4>]>

func.func @choose(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %keys: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %out: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %indices: tensor<?x512xi32> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]})
    -> (tensor<?x?xf32>, tensor<?x512xi32>)
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>,
                                 columns = #dsv4.policy<bucket, multiple = 4>}} {
  %scores = dsv4.index_score %q weights(%w : tensor<?x64xf32>) cache(%keys : !dsv4.cache<64 x <index_fp8_132>>) pages(%table : tensor<?x?xi32>)
      lengths(%length : tensor<?xi32>) outs(%out : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  %chosen = dsv4.topk %scores lengths(%length : tensor<?xi32>) outs(%indices : tensor<?x512xi32>) : tensor<?x?xf32>
  return %scores, %chosen : tensor<?x?xf32>, tensor<?x512xi32>
}
