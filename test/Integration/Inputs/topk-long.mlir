// A few rows of any length up to the most there can be.
func.func @topk(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xi32>
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>, columns = #dsv4.policy<bucket>}} {
  %chosen = dsv4.topk %scores outs(%indices : tensor<?x512xi32>) : tensor<?x?xf32>
  return %chosen : tensor<?x512xi32>
}
