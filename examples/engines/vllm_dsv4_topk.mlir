// What: `dsv4_topk` of vLLM: six experts of a dense DeepSeek-V4 layer by score plus bias. A NaN
// comes after every number here, where the engine takes it for -1e30.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5
// Dims: --dim tokens=0
// Dims: --dim tokens=131
// Parameters: experts = 384 (1 to 1024), k = 6 (1 to 32), scale = 2.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | <{experts}xf32 | ?x{k}x | scale {scale}

func.func @vllm_dsv4_topk(
    %logits: tensor<?x384xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<384xf32> {dsv4.name = "bias"},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x384xf32>
  %row = tensor.empty(%tokens) : tensor<?x384xf32>

  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x384xf32>)
      : tensor<?x384xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<384xf32>) order sorted
      outs(%experts : tensor<?x6xi32>) : tensor<?x384xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x384xf32>, tensor<?x6xi32>
  return %chosen, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}
