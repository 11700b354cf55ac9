// What: torch.ops._C.persistent_topk and cooperative_topk of vLLM: one length a row. Logits are the
// view that DeepGEMM returns, and the output is a view of topk_indices_buffer. Their k is 512, 1024
// or 2048; the workspace is that of the program, if it needs one.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4001
// Dims: --dim rows=3 --dim columns=70001
// Dims: --dim rows=0 --dim columns=100
// Parameters: k = 1024 (1 to 4096)
// Uses: ?x{k}x

func.func @vllm_persistent_topk(
    %logits: tensor<?x?xf32> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?], align = 4>},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %output: tensor<?x1024xi32> {dsv4.name = "output", dsv4.dims = ["rows", ""],
                                 dsv4.strides = #dsv4.strides<[?], align = 4>})
    -> tensor<?x1024xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0 = dsv4.topk %logits lengths(%lengths : tensor<?xi32>)
      outs(%output : tensor<?x1024xi32>) : tensor<?x?xf32>
  return %r0 : tensor<?x1024xi32>
}
