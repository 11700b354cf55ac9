// Routers with their logits in one kernel, and logits that are stored.

func.func @route(
    %hidden: tensor<?x7168xbf16> {dsv4.name = "hidden", dsv4.dims = ["tokens", ""]},
    %gate: tensor<256x7168xbf16> {dsv4.name = "gate"},
    %bias: tensor<256xf32> {dsv4.name = "bias"},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x8xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8xi32>, tensor<?x8xf32>)
    attributes {dsv4.policies = {tokens = #dsv4.policy<bucket>}} {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %hidden, %c0 : tensor<?x7168xbf16>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %logits = dsv4.router_logits %hidden, %gate outs(%row : tensor<?x256xf32>)
      : tensor<?x7168xbf16>, tensor<256x7168xbf16>
  %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted
      outs(%experts : tensor<?x8xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x8xf32>) : tensor<?x256xf32>, tensor<?x8xi32>
  return %chosen, %shares : tensor<?x8xi32>, tensor<?x8xf32>
}

func.func @few(
    %hidden: tensor<8x4096xbf16> {dsv4.name = "hidden"}, %gate: tensor<384x4096xf32> {dsv4.name = "gate"},
    %out: tensor<8x384xf32> {dsv4.name = "logits"}) -> tensor<8x384xf32> {
  %0 = dsv4.router_logits %hidden, %gate outs(%out : tensor<8x384xf32>) : tensor<8x4096xbf16>, tensor<384x4096xf32>
  return %0 : tensor<8x384xf32>
}
