// The router of a dense layer: scores of the experts from their logits, the 6 best experts by score
// plus bias, and their weights. The weights are the scores without the bias, divided by their sum
// and scaled. One kernel, with a warp per token, so scores never go to memory. The best expert is
// first.
//
//   dsv4-run examples/router.mlir --random=1 --check --dim tokens=64

func.func @router(
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
