// The indexer's choice: of every query's scores the 512 best of the compressed entries that it may
// see, one for every 4 positions up to its own, and where they are in a paged cache with 64 entries a
// page. Exactly these, whatever the scores: of equal ones the first. Rows that have fewer are filled up with -1.
//
//   dsv4-run examples/topk.mlir --random=1 --check --dim queries=64 --dim entries=32768 \
//       --dim requests=8 --dim pages=512
//
// Positions of queries are given, so `ratio` makes entries of them. What is compiled is for numbers of queries and entries
// up to the next powers of two: of few queries each may have several blocks. With `queries = #dsv4.policy<dynamic>` one
// kernel has any number of them, a block each.

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
