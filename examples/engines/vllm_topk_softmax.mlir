// What: `_moe_C.topk_softmax` of vLLM: softmax scores of bf16 logits, `is_padding`, and
// `token_expert_indices`.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5
// Dims: --dim tokens=0
// Dims: --dim tokens=131
// Parameters: experts = 128 (1 to 1024), k = 8 (1 to 32)
// Uses: ?x{experts}x | ?x{k}x

func.func @vllm_topk_softmax(
    %logits: tensor<?x128xbf16> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %sources: tensor<?x8xi32> {dsv4.name = "sources", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x8xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x128xbf16>
  %row = tensor.empty(%tokens) : tensor<?x128xf32>

  %scores = dsv4.gate %logits function softmax outs(%row : tensor<?x128xf32>)
      : tensor<?x128xbf16>
  %chosen, %numbers = dsv4.topk %scores order sorted padding(%pad : tensor<?xi1>) token_experts
      outs(%experts, %sources : tensor<?x8xi32>, tensor<?x8xi32>) : tensor<?x128xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize outs(%weights : tensor<?x8xf32>)
      : tensor<?x128xf32>, tensor<?x8xi32>
  return %chosen, %numbers, %shares : tensor<?x8xi32>, tensor<?x8xi32>, tensor<?x8xf32>
}
