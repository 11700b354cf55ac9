// A router that chooses groups first, as DeepSeek-V3's does. Of 8 groups of 32 experts it keeps the
// 4 whose two best experts have the largest sums of score plus bias, and of their experts it
// chooses the 8 best. The weights are the scores without the bias, divided by their sum and scaled.
// One kernel, with a warp per token.
//
//   dsv4-run examples/grouped_router.mlir --random=1 --check --dim tokens=64

func.func @grouped_router(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<256xf32> {dsv4.name = "bias"},
    %experts: tensor<?x8xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x8xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x8xi32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted
      groups 8 keep 4 by 2 outs(%experts : tensor<?x8xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x8xf32>) : tensor<?x256xf32>, tensor<?x8xi32>
  return %chosen, %shares : tensor<?x8xi32>, tensor<?x8xf32>
}
