// What: `fused_topk_bias` of vLLM: experts by sqrt-softplus score plus bias, weights from the
// scores alone, renormalised and scaled.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5
// Dims: --dim tokens=0
// Dims: --dim tokens=131
// Parameters: experts = 256 (1 to 1024), k = 6 (1 to 32), scale = 1.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | <{experts}xf32 | ?x{k}x | scale {scale}

func.func @vllm_fused_topk_bias(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<256xf32> {dsv4.name = "bias"},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted
      outs(%experts : tensor<?x6xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %chosen, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}
