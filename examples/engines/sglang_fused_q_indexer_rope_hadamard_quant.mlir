// What: SGLang's fused_q_indexer_rope_hadamard_quant(q_input, weight, weight_scale, freqs_cis, positions):
// rotation by a table of complex64, Hadamard transform in f32, FP8 with one scale per head, and the
// weight of the head multiplied by that scale and by weight_scale.
// Bytes: last bits; sums are added in another order
// Dims: --dim tokens=7 --dim positions=99
// Dims: --dim tokens=0 --dim positions=5
// Parameters: heads = 64 (1 to 1024), weight_scale = 0.0110485433 (-1.0e+06 to 1.0e+06)
// Uses: ?x{heads}x128x | ?x{heads}xbf16 | %w: tensor<?x{heads}xf32 | %w : tensor<?x{heads}xf32 |
//   , tensor<?x{heads}xf32 | empty(%tokens) : tensor<?x{heads}xf32 |
//   scales(%scales : tensor<?x{heads}xf32 | constants [{weight_scale}]

#fp8 = #dsv4.format<f8E4M3FN, [<f32 per row>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, payload = reciprocal>

func.func @fused_q_indexer_rope_hadamard_quant(
    %q_input: tensor<?x64x128xbf16> {dsv4.name = "q_input", dsv4.dims = ["tokens", "", ""]},
    %weight: tensor<?x64xbf16> {dsv4.name = "weight", dsv4.dims = ["tokens", ""]},
    %freqs_cis: tensor<?x64xf32> {dsv4.name = "freqs_cis", dsv4.dims = ["positions", ""]},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %q_fp8: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q_fp8", dsv4.dims = ["tokens", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q_input, %c0 : tensor<?x64x128xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x128xf32>
  %scale = tensor.empty(%tokens) : tensor<?x64xf32>
  %rotated = dsv4.rope %q_input table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%heads : tensor<?x64x128xf32>)
      : tensor<?x64x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%heads : tensor<?x64x128xf32>)
      {scale = 0.0883883461} : tensor<?x64x128xf32>
  %payload, %scales = dsv4.quantize %transformed
      outs(%q_fp8, %scale : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>)
      {format = #fp8, recipe = #recipe} : tensor<?x64x128xf32>
  %folded = dsv4.scale_weights %weight scales(%scales : tensor<?x64xf32>)
      constants [0.0110485433] outs(%w : tensor<?x64xf32>) : tensor<?x64xbf16>
  return %payload, %folded : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>
}
