// What: torch.ops._C.top_k_per_row_prefill of vLLM, and with the same operands indexer_topk_prefill
// of TensorRT-LLM and tl_topk of TileLang. Row r is [row_starts[r], row_ends[r]) of its logits,
// starts are not aligned, and indices count from the start of the row. stride0 is the stride of
// `logits`: the rows that DeepGEMM returns lie farther apart than they are long. `indices` is a
// view of topk_indices_buffer.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4001
// Dims: --dim rows=3 --dim columns=70001
// Dims: --dim rows=0 --dim columns=100
// Dims: --dim rows=5 --dim columns=4001 --dim logits.stride.0=4352 --dim indices.stride.0=2048
// Parameters: k = 2048 (1 to 4096)
// Uses: ?x{k}x

func.func @vllm_top_k_per_row_prefill(
    %logits: tensor<?x?xf32> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?], align = 4>},
    %row_starts: tensor<?xi32> {dsv4.name = "row_starts", dsv4.dims = ["rows"]},
    %row_ends: tensor<?xi32> {dsv4.name = "row_ends", dsv4.dims = ["rows"]},
    %indices: tensor<?x2048xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""],
                                  dsv4.strides = #dsv4.strides<[?], align = 4>})
    -> tensor<?x2048xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0 = dsv4.topk %logits starts(%row_starts : tensor<?xi32>) ends(%row_ends : tensor<?xi32>)
      outs(%indices : tensor<?x2048xi32>) : tensor<?x?xf32>
  return %r0 : tensor<?x2048xi32>
}
