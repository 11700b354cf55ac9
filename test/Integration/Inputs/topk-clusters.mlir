// A few rows of bf16 of any length up to a bound, from which 4096 are chosen at most.
func.func @topk(
    %scores: tensor<?x?xbf16> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %indices: tensor<?x4096xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x4096xbf16> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x4096xi32>, tensor<?x4096xbf16>)
    attributes {dsv4.policies = {rows = #dsv4.policy<bucket>, columns = #dsv4.policy<bucket>}} {
  %0, %1 = dsv4.topk %scores lengths(%lengths : tensor<?xi32>) order sorted
      outs(%indices, %values : tensor<?x4096xi32>, tensor<?x4096xbf16>) : tensor<?x?xbf16>
  return %0, %1 : tensor<?x4096xi32>, tensor<?x4096xbf16>
}
