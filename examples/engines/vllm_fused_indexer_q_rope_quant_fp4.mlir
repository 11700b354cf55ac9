// What: vLLM's fused_indexer_q_rope_quant(..., use_fp4=True): heads of the indexer in MXFP4; the
// scales stay with them, four of one byte in each i32, and the weights are multiplied by both
// constants alone. Heads may be a view; weights are the last columns of one GEMM's output. Both
// kernels are one launch.
// Bytes: last bits; compilers fuse products of the engine's rotation
// Dims: --dim tokens=7 --dim positions=99
// Dims: --dim tokens=0 --dim positions=5
// Parameters: heads = 64 (1 to 1024), softmax_scale = 0.0883883461 (-1.0e+06 to 1.0e+06),
//   head_scale = 0.125 (-1.0e+06 to 1.0e+06)
// Uses: ?x{heads}x128x | ?x{heads}xbf16 | %w: tensor<?x{heads}xf32 | %w : tensor<?x{heads}xf32 |
//   , tensor<?x{heads}xf32 | ?x{heads}x4x | constants [{softmax_scale}, {head_scale}]

#fp4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
#recipe = #dsv4.quantizer<floor = 7.0529661e-38 : f32, limit = reciprocal, rounding = up_pow2>

func.func @fused_indexer_q_rope_quant(
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %index_q: tensor<?x64x128xbf16> {dsv4.name = "index_q", dsv4.dims = ["tokens", "", ""],
                                     dsv4.strides = #dsv4.strides<[?, ?]>},
    %cos_sin_cache: tensor<?x64xf32> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %index_weights: tensor<?x64xbf16> {dsv4.name = "index_weights", dsv4.dims = ["tokens", ""],
                                       dsv4.strides = #dsv4.strides<[?]>},
    %q_fp4: tensor<?x64x128xf4E2M1FN> {dsv4.name = "q_fp4", dsv4.dims = ["tokens", "", ""]},
    %q_scale: tensor<?x64x4xf8E8M0FNU> {dsv4.name = "q_scale", dsv4.dims = ["tokens", "", ""]},
    %w: tensor<?x64xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x64x128xf4E2M1FN>, tensor<?x64x4xf8E8M0FNU>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %index_q, %c0 : tensor<?x64x128xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x128xbf16>
  %rotated = dsv4.rope %index_q table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%positions : tensor<?xi64>) outs(%heads : tensor<?x64x128xbf16>)
      : tensor<?x64x128xbf16>
  %payload, %scales = dsv4.quantize %rotated
      outs(%q_fp4, %q_scale : tensor<?x64x128xf4E2M1FN>, tensor<?x64x4xf8E8M0FNU>)
      {format = #fp4, recipe = #recipe} : tensor<?x64x128xbf16>
  %weighted = dsv4.scale_weights %index_weights constants [0.0883883461, 0.125]
      outs(%w : tensor<?x64xf32>) : tensor<?x64xbf16>
  return %payload, %scales, %weighted
      : tensor<?x64x128xf4E2M1FN>, tensor<?x64x4xf8E8M0FNU>, tensor<?x64xf32>
}
