// What: torch.ops._C.top_k_per_row_decode of vLLM, and indexer_topk_decode of TensorRT-LLM, with
// next_n = 2 and one length a request: row r ends at max(0, seq_lens[r / 2] - 2 + r % 2 + 1).
// stride0 is the stride of `logits`, and `indices` is a view of topk_indices_buffer. With lengths
// of rows (2-D seq_lens) the program is that of persistent_topk.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim requests=4 --dim rows=8 --dim columns=5000
// Dims: --dim requests=2 --dim rows=4 --dim columns=66001
// Dims: --dim requests=2 --dim rows=7 --dim columns=1
// Parameters: k = 2048 (1 to 4096), next_n = 2 (1 to 16)
// Uses: ?x{k}x | next_n {next_n}

func.func @vllm_top_k_per_row_decode(
    %logits: tensor<?x?xf32> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?], align = 4>},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %indices: tensor<?x2048xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""],
                                  dsv4.strides = #dsv4.strides<[?], align = 4>})
    -> tensor<?x2048xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0 = dsv4.topk %logits lengths(%seq_lens : tensor<?xi32>) next_n 2
      outs(%indices : tensor<?x2048xi32>) : tensor<?x?xf32>
  return %r0 : tensor<?x2048xi32>
}
