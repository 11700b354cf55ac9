// The selection of the indexer. A query may see one compressed entry for every 4 positions up to
// its own. Its 512 best scores are selected, with the slots of their entries in a paged cache of 64
// entries per page. The result is exact: the first of equal scores wins. A row with fewer entries
// is padded with -1.
//
//   dsv4-run examples/topk.mlir --random=1 --check --dim queries=64 --dim entries=32768 \
//       --dim requests=8 --dim pages=512
//
// The lengths are positions of queries, which `ratio` turns into numbers of entries. The kernel is
// compiled for numbers of queries and entries up to the next powers of two, so each of few queries may
// have several blocks. With `queries = #dsv4.policy<dynamic>` one kernel takes any number of queries,
// with one block each.

func.func @topk(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["queries", "entries"]},
    %positions: tensor<?xi32> {dsv4.name = "positions", dsv4.dims = ["queries"]},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["queries"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["queries", ""]},
    %slots: tensor<?x512xi32> {dsv4.name = "slots", dsv4.dims = ["queries", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xi32>)
    attributes {dsv4.policies = {entries = #dsv4.policy<bucket>, queries = #dsv4.policy<bucket>}} {
  %chosen, %where = dsv4.topk %scores lengths(%positions : tensor<?xi32>) ratio 4
      pages(%table : tensor<?x?xi32>) page 64 requests(%request : tensor<?xi32>)
      outs(%indices, %slots : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x?xf32>
  return %chosen, %where : tensor<?x512xi32>, tensor<?x512xi32>
}
