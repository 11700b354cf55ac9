// What: `_moe_C.grouped_topk` of vLLM: groups of experts by their two best, then experts of these
// groups, with sigmoid scores. The denominator is at least 2^-126; the engine adds 1e-20.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5
// Dims: --dim tokens=0
// Dims: --dim tokens=131
// Parameters: experts = 256 (1 to 1024), k = 8 (1 to 32), groups = 8 (1 to 256),
//   keep = 4 (1 to 256), scale = 2.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | <{experts}xf32 | ?x{k}x | groups {groups} keep {keep} by | scale {scale}

func.func @vllm_grouped_topk(
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
  %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted groups 8 keep 4 by 2
      outs(%experts : tensor<?x8xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 2.5
      outs(%weights : tensor<?x8xf32>) : tensor<?x256xf32>, tensor<?x8xi32>
  return %chosen, %shares : tensor<?x8xi32>, tensor<?x8xf32>
}
