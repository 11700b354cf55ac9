// What: SparseIndexerTopk.forward of vLLM, which makes one call of top_k_per_row_decode and
// persistent_topk: bf16 logits, next_n rows a request, one length a request. Logits and
// topk_indices are views of wider tensors.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim requests=3 --dim rows=9 --dim columns=5000
// Dims: --dim requests=1 --dim rows=3 --dim columns=40000
// Parameters: k = 2048 (1 to 4096), next_n = 3 (1 to 16)
// Uses: ?x{k}x | next_n {next_n}

func.func @vllm_sparse_indexer_topk(
    %logits: tensor<?x?xbf16> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"],
                               dsv4.strides = #dsv4.strides<[?], align = 2>},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %topk_indices: tensor<?x2048xi32> {dsv4.name = "topk_indices", dsv4.dims = ["rows", ""],
                                       dsv4.strides = #dsv4.strides<[?], align = 4>})
    -> tensor<?x2048xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0 = dsv4.topk %logits lengths(%seq_lens : tensor<?xi32>) next_n 3
      outs(%topk_indices : tensor<?x2048xi32>) : tensor<?x?xbf16>
  return %r0 : tensor<?x2048xi32>
}
