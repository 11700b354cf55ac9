// What: vLLM's fused_indexer_q_rope_quant(positions, index_q, cos_sin_cache, index_weights,
// softmax_scale, head_scale, use_fp4=False): rotates the last 64 elements of each head, quantises
// it to FP8 with one scale, and multiplies its weight by that scale and by both constants. Heads
// may be a view; weights are the last columns of one GEMM's output.
// Bytes: last bits; compilers fuse products of the engine's rotation
// Dims: --dim tokens=7 --dim positions=99
// Dims: --dim tokens=0 --dim positions=5
// Dims: --dim tokens=7 --dim positions=99 --dim index_weights.stride.0=192
// Parameters: heads = 64 (1 to 1024), softmax_scale = 0.0883883461 (-1.0e+06 to 1.0e+06),
//   head_scale = 0.125 (-1.0e+06 to 1.0e+06)
// Uses: ?x{heads}x128x | ?x{heads}xbf16 | %w: tensor<?x{heads}xf32 | %w : tensor<?x{heads}xf32 |
//   , tensor<?x{heads}xf32 | empty(%tokens) : tensor<?x{heads}xf32 |
//   scales(%scales : tensor<?x{heads}xf32 | constants [{softmax_scale}, {head_scale}]

#fp8 = #dsv4.format<f8E4M3FN, [<f32 per row>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @fused_indexer_q_rope_quant(
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %index_q: tensor<?x64x128xbf16> {dsv4.name = "index_q", dsv4.dims = ["tokens", "", ""],
                                     dsv4.strides = #dsv4.strides<[?, ?]>},
    %cos_sin_cache: tensor<?x64xf32> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %index_weights: tensor<?x64xbf16> {dsv4.name = "index_weights", dsv4.dims = ["tokens", ""],
                                       dsv4.strides = #dsv4.strides<[?]>},
    %q_fp8: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q_fp8", dsv4.dims = ["tokens", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %index_q, %c0 : tensor<?x64x128xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x128xbf16>
  %scale = tensor.empty(%tokens) : tensor<?x64xf32>
  %rotated = dsv4.rope %index_q table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%positions : tensor<?xi64>) outs(%heads : tensor<?x64x128xbf16>)
      : tensor<?x64x128xbf16>
  %payload, %scales = dsv4.quantize %rotated
      outs(%q_fp8, %scale : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>)
      {format = #fp8, recipe = #recipe} : tensor<?x64x128xbf16>
  %folded = dsv4.scale_weights %index_weights scales(%scales : tensor<?x64xf32>)
      constants [0.0883883461, 0.125] outs(%w : tensor<?x64xf32>) : tensor<?x64xbf16>
  return %payload, %folded : tensor<?x64x128xf8E4M3FN>, tensor<?x64xf32>
}
