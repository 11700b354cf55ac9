// What: `moe_fused_gate` of SGLang: groups by their two best, and a fused shared expert in the last
// of nine columns. It weighs the sum of the others divided by the scale, here by 2.5, before all
// are renormalised.
// Bytes: last bits; exponentials, sums and denominators are those of dsv4
// Dims: --dim tokens=5
// Dims: --dim tokens=0
// Dims: --dim tokens=131
// Parameters: experts = 256 (1 to 1024), k = 8 (1 to 31), groups = 8 (1 to 256),
//   keep = 4 (1 to 256), scale = 2.5 (1.0e-06 to 1.0e+06)
// Uses: ?x{experts}x | <{experts}xf32 | ?x{k + 1}x | groups {groups} keep {keep} by |
//   of_sum {1 / scale}

func.func @sglang_moe_fused_gate(
    %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<256xf32> {dsv4.name = "bias"},
    %experts: tensor<?x9xi32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x9xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x9xi32>, tensor<?x9xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>

  %scores = dsv4.gate %logits function sigmoid outs(%row : tensor<?x256xf32>)
      : tensor<?x256xf32>
  %chosen = dsv4.topk %scores bias(%bias : tensor<256xf32>) order sorted groups 8 keep 4 by 2
      shared 1 outs(%experts : tensor<?x9xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize shared 1 of_sum 0.4
      outs(%weights : tensor<?x9xf32>) : tensor<?x256xf32>, tensor<?x9xi32>
  return %chosen, %shares : tensor<?x9xi32>, tensor<?x9xf32>
}
