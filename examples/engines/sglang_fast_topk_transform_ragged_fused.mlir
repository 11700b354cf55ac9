// What: sgl_kernel.fast_topk_transform_ragged_fused of SGLang: an offset of each row is added to
// its indices; padding stays -1. Scores are the view that DeepGEMM returns.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4001
// Dims: --dim rows=3 --dim columns=70001
// Dims: --dim rows=0 --dim columns=100
// Parameters: k = 2048 (1 to 4096)
// Uses: ?x{k}x

func.func @sglang_fast_topk_transform_ragged_fused(
    %score: tensor<?x?xf32> {dsv4.name = "score", dsv4.dims = ["rows", "columns"],
                             dsv4.strides = #dsv4.strides<[?], align = 4>},
    %row_starts: tensor<?xi32> {dsv4.name = "row_starts", dsv4.dims = ["rows"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %topk_indices_offset: tensor<?xi32> {dsv4.name = "topk_indices_offset", dsv4.dims = ["rows"]},
    %indices: tensor<?x2048xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]})
    -> tensor<?x2048xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0 = dsv4.topk %score starts(%row_starts : tensor<?xi32>) lengths(%lengths : tensor<?xi32>)
      offsets(%topk_indices_offset : tensor<?xi32>)
      outs(%indices : tensor<?x2048xi32>) : tensor<?x?xf32>
  return %r0 : tensor<?x2048xi32>
}
