// What: flashinfer.top_k with sorted = True and tie_break = LARGE: values in descending order,
// of equal ones the larger index first and selected. Without `ties high` it is tie_break =
// SMALL.
// Dims: --dim rows=4 --dim columns=5000
// Dims: --dim rows=2 --dim columns=40000

func.func @flashinfer_top_k(
    %input: tensor<?x?xbf16> {dsv4.name = "input", dsv4.dims = ["rows", "columns"]},
    %indices: tensor<?x256xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x256xbf16> {dsv4.name = "values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x256xi32>, tensor<?x256xbf16>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0, %r1 = dsv4.topk %input order sorted ties high
      outs(%indices, %values : tensor<?x256xi32>, tensor<?x256xbf16>) : tensor<?x?xbf16>
  return %r0, %r1 : tensor<?x256xi32>, tensor<?x256xbf16>
}
