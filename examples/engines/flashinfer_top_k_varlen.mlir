// What: flashinfer.top_k_varlen with compress_ratio = 4 and next_n = 2: row r ends at
// (seq_lens[r / 2] - 2 + r % 2 + 1) / 4. The hint of the last step (pre_idx) changes no result
// and is not taken.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim requests=4 --dim rows=8 --dim columns=5000
// Dims: --dim requests=3 --dim rows=5 --dim columns=20001
// Parameters: k = 512 (1 to 4096), next_n = 2 (1 to 16), ratio = 4 (1 to 4096)
// Uses: ?x{k}x | next_n {next_n} | ratio {ratio}

func.func @flashinfer_top_k_varlen(
    %logits: tensor<?x?xf32> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"]},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %out_indices: tensor<?x512xi32> {dsv4.name = "out_indices", dsv4.dims = ["rows", ""]},
    %out_values: tensor<?x512xf32> {dsv4.name = "out_values", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xf32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0, %r1 = dsv4.topk %logits lengths(%seq_lens : tensor<?xi32>) next_n 2 ratio 4
      outs(%out_indices, %out_values : tensor<?x512xi32>, tensor<?x512xf32>) : tensor<?x?xf32>
  return %r0, %r1 : tensor<?x512xi32>, tensor<?x512xf32>
}
