// What: `_moe_C.topk_softplus_sqrt` of vLLM with `input_ids` and `tid2eid`: experts by token id,
// with the padding and the third result of the other form. Ids and table are i32, or i64 with
// MegaMoE: then both have that type here.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5 --dim words=40
// Dims: --dim tokens=0 --dim words=40
// Dims: --dim tokens=131 --dim words=7
// Parameters: experts = 256 (1 to 1024), k = 6 (1 to 32), scale = 1.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | ?x{k}x | scale {scale}

func.func @vllm_topk_hash_softplus_sqrt(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %table: tensor<?x6xi32> {dsv4.name = "table", dsv4.dims = ["words", ""]},
    %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %pad: tensor<?xi1> {dsv4.name = "pad", dsv4.dims = ["tokens"]},
    %experts: tensor<?x6xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %sources: tensor<?x6xi32> {dsv4.name = "sources", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi32>, tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %chosen, %numbers = dsv4.lookup %table[%ids] padding(%pad : tensor<?xi1>) token_experts
      outs(%experts, %sources : tensor<?x6xi32>, tensor<?x6xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x256xf32>, tensor<?x6xi32>
  return %chosen, %numbers, %shares : tensor<?x6xi32>, tensor<?x6xi32>, tensor<?x6xf32>
}
