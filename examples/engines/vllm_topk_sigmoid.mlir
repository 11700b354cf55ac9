// What: `_moe_C.topk_sigmoid` of vLLM: sigmoid scores plus bias, renormalised and scaled.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5
// Dims: --dim tokens=0
// Dims: --dim tokens=131
// Parameters: experts = 160 (1 to 1024), k = 8 (1 to 32), scale = 2.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | <{experts}xf32 | ?x{k}x | scale {scale}

func.func @vllm_topk_sigmoid(
    %logits: tensor<?x160xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<160xf32> {dsv4.name = "bias"},
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x8xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x160xf32>
  %row = tensor.empty(%tokens) : tensor<?x160xf32>

  %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x160xf32>)
      : tensor<?x160xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<160xf32>) order sorted
      padding(%pad : tensor<?xi1>) outs(%experts : tensor<?x8xi32>) : tensor<?x160xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x8xf32>) : tensor<?x160xf32>, tensor<?x8xi32>
  return %chosen, %shares : tensor<?x8xi32>, tensor<?x8xf32>
}
