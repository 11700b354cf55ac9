// What: SGLang's fused_q_indexer_rope_hadamard_fp4_quant(q_input, weight, weight_scale, freqs_cis,
// positions): rotation, Hadamard transform and MXFP4, of bf16 after the rotation and after the
// transform. The scales stay with the heads, four of one byte in each i32, and the weights are
// multiplied by weight_scale alone. Both kernels are one launch.
// Bytes: last bits; sums are added in another order
// Dims: --dim tokens=7 --dim positions=99
// Dims: --dim tokens=0 --dim positions=5
// Parameters: heads = 64 (1 to 1024), weight_scale = 0.0110485433 (-1.0e+06 to 1.0e+06)
// Uses: ?x{heads}x128x | ?x{heads}x4x | ?x{heads}xbf16 | %w: tensor<?x{heads}xf32 |
//   %w : tensor<?x{heads}xf32 | , tensor<?x{heads}xf32 | constants [{weight_scale}]

#fp4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
#recipe = #dsv4.quantizer<floor = 1.66666669e-05 : f32, floor_of = scale, rounding = up_pow2,
                          ties = down, drop_negative_zero = true>

func.func @fused_q_indexer_rope_hadamard_fp4_quant(
    %q_input: tensor<?x64x128xbf16> {dsv4.name = "q_input", dsv4.dims = ["tokens", "", ""]},
    %weight: tensor<?x64xbf16> {dsv4.name = "weight", dsv4.dims = ["tokens", ""]},
    %freqs_cis: tensor<?x64xf32> {dsv4.name = "freqs_cis", dsv4.dims = ["positions", ""]},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %q_fp4: tensor<?x64x128xf4E2M1FN> {dsv4.name = "q_fp4", dsv4.dims = ["tokens", "", ""]},
    %q_sf: tensor<?x64x4xf8E8M0FNU> {dsv4.name = "q_sf", dsv4.dims = ["tokens", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x64x128xf4E2M1FN>, tensor<?x64x4xf8E8M0FNU>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q_input, %c0 : tensor<?x64x128xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x128xbf16>
  %rotated = dsv4.rope %q_input table(%freqs_cis : tensor<?x64xf32>) interleaved
      positions(%positions : tensor<?xi64>) outs(%heads : tensor<?x64x128xbf16>)
      : tensor<?x64x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%heads : tensor<?x64x128xbf16>)
      {scale = 0.0883883461} : tensor<?x64x128xbf16>
  %payload, %scales = dsv4.quantize %transformed
      outs(%q_fp4, %q_sf : tensor<?x64x128xf4E2M1FN>, tensor<?x64x4xf8E8M0FNU>)
      {format = #fp4, recipe = #recipe} : tensor<?x64x128xbf16>
  %weighted = dsv4.scale_weights %weight constants [0.0110485433]
      outs(%w : tensor<?x64xf32>) : tensor<?x64xbf16>
  return %payload, %scales, %weighted
      : tensor<?x64x128xf4E2M1FN>, tensor<?x64x4xf8E8M0FNU>, tensor<?x64xf32>
}
