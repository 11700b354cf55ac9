// What: `_moe_C.topk_softplus_sqrt` of vLLM with a bias: rows of `is_padding` get -1 and 0, and
// `token_expert_indices` is a result. The weight is the score itself, where the engine takes the
// bias off the sum again.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5
// Dims: --dim tokens=0
// Dims: --dim tokens=131
// Parameters: experts = 384 (1 to 1024), k = 6 (1 to 32), scale = 2.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | <{experts}xf32 | ?x{k}x | scale {scale}

func.func @vllm_topk_softplus_sqrt(
    %logits: tensor<?x384xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<384xf32> {dsv4.name = "bias"},
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %sources: tensor<?x6xi32> {dsv4.name = "sources", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x384xf32>
  %row = tensor.empty(%tokens) : tensor<?x384xf32>

  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x384xf32>)
      : tensor<?x384xf32>
  %chosen, %numbers = dsv4.topk %scores bias(%bias : tensor<384xf32>) order sorted
      padding(%pad : tensor<?xi1>) token_experts
      outs(%experts, %sources : tensor<?x6xi32>, tensor<?x6xi32>) : tensor<?x384xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x384xf32>, tensor<?x6xi32>
  return %chosen, %numbers, %shares : tensor<?x6xi32>, tensor<?x6xi32>, tensor<?x6xf32>
}
