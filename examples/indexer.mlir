// The lightning indexer, whole: the scores of all keys that a query sees, and the slots of the 512 best
// of them, in one kernel. The keys are FP8 in a paged cache; a compressed entry is seen once the query
// has reached its last position. No score is in memory.
//
//   dsv4-run examples/indexer.mlir --random=1 --check --dim queries=4 --dim requests=2 \
//       --dim pages=64 --dim keys.pages=100
//
// 4096 is the maximum number of entries that a query sees. It costs no memory.

!keys = !dsv4.cache<64 x <index_fp8_132>>

func.func @indexer(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["queries", "", ""]},
    %weights: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["queries", ""]},
    %keys: !keys {dsv4.name = "keys"},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["queries"]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["queries"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["queries", ""]},
    %slots: tensor<?x512xi32> {dsv4.name = "slots", dsv4.dims = ["queries", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xi32>) {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x64x128xf8E4M3FN>
  %row = tensor.empty(%queries) : tensor<?x4096xf32>
  %scores = dsv4.index_score %q weights(%weights : tensor<?x64xf32>)
      cache(%keys : !keys) pages(%table : tensor<?x?xi32>) requests(%request : tensor<?xi32>)
      lengths(%position : tensor<?xi32>) ratio 4
      outs(%row : tensor<?x4096xf32>) : tensor<?x64x128xf8E4M3FN>
  %chosen, %where = dsv4.topk %scores lengths(%position : tensor<?xi32>) ratio 4
      pages(%table : tensor<?x?xi32>) page 64 requests(%request : tensor<?xi32>)
      outs(%indices, %slots : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x4096xf32>
  return %chosen, %where : tensor<?x512xi32>, tensor<?x512xi32>
}
