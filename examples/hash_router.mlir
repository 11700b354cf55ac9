// The router of the first layers, which chooses experts by token id: a row of the table names them.
// The weights are computed as in any other layer, from the scores of the chosen experts. One
// kernel, which reads only the 6 logits that it needs. An id outside the table gives -1 and weights
// of 0.
//
//   dsv4-run examples/hash_router.mlir --random=1 --check --dim tokens=64

func.func @hash_router(
    %table: tensor<129280x6xi32> {dsv4.name = "table"},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %found = dsv4.lookup %table[%ids] outs(%experts : tensor<?x6xi32>)
      : tensor<129280x6xi32>, tensor<?xi32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%found] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %found, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}
