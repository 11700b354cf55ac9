// What: flashinfer.top_k_ragged_transform: an offset of each row is added to its indices.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4001
// Dims: --dim rows=3 --dim columns=70001
// Dims: --dim rows=0 --dim columns=100
// Parameters: k = 512 (1 to 4096)
// Uses: ?x{k}x

func.func @flashinfer_top_k_ragged_transform(
    %input: tensor<?x?xf32> {dsv4.name = "input", dsv4.dims = ["rows", "columns"]},
    %row_starts: tensor<?xi32> {dsv4.name = "row_starts", dsv4.dims = ["rows"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %offsets: tensor<?xi32> {dsv4.name = "offsets", dsv4.dims = ["rows"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x512xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0 = dsv4.topk %input starts(%row_starts : tensor<?xi32>) lengths(%lengths : tensor<?xi32>)
      offsets(%offsets : tensor<?xi32>)
      outs(%indices : tensor<?x512xi32>) : tensor<?x?xf32>
  return %r0 : tensor<?x512xi32>
}
