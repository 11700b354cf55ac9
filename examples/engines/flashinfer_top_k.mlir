// What: FlashInfer `top_k(input, k, sorted=True)` of f16, which returns values of the same type and
// i64 indices. Of equal values the larger index is selected first, as with `tie_break=LARGE`; without
// `ties high` it is `tie_break=SMALL`.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4000
// Dims: --dim rows=9 --dim columns=64
// Dims: --dim rows=3 --dim columns=17
// Parameters: k = 64 (1 to 4096)
// Uses: ?x{k}x

func.func @top_k(
    %input: tensor<?x?xf16> {dsv4.name = "input", dsv4.dims = ["rows", "columns"]},
    %values: tensor<?x64xf16> {dsv4.name = "values", dsv4.dims = ["rows", ""]},
    %indices: tensor<?x64xi64> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> (tensor<?x64xf16>, tensor<?x64xi64>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>}} {
  %chosen, %best = dsv4.topk %input order sorted ties high
      outs(%indices, %values : tensor<?x64xi64>, tensor<?x64xf16>) : tensor<?x?xf16>
  return %best, %chosen : tensor<?x64xf16>, tensor<?x64xi64>
}
