// What: `hash_topk` of SGLang and FlashInfer with a fused shared expert: its id follows those of
// the experts, and its weight is 1 / scale, here 1 / 2.5. The others are renormalised, not scaled.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5 --dim words=40
// Dims: --dim tokens=0 --dim words=40
// Dims: --dim tokens=131 --dim words=7
// Parameters: experts = 256 (1 to 1024), k = 6 (1 to 31), scale = 2.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | ?x{k + 1}x | ?x{k}x | experts {experts} | weight {1 / scale}

func.func @sglang_hash_topk(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %table: tensor<?x6xi32> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi64> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %experts: tensor<?x7xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x7xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x7xi32>, tensor<?x7xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %chosen = dsv4.lookup %table[%ids] shared 1 experts 256 outs(%experts : tensor<?x7xi32>)
      : tensor<?x6xi32>, tensor<?xi64>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize shared 1 weight 0.4
      outs(%weights : tensor<?x7xf32>) : tensor<?x256xf32>, tensor<?x7xi32>
  return %chosen, %shares : tensor<?x7xi32>, tensor<?x7xf32>
}
