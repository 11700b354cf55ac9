// What: vLLM's fused_deepseek_v4_qnorm_rope_kv_rope_full_cache_fp8_insert(q, kv, q_fp8, k_cache, ...,
// fp8_scale, q_fp8_scale_inv): q is normalised, rotated and multiplied by q_fp8_scale_inv, kv is
// rotated and divided by fp8_scale, by its reciprocal. Both are stored as e4m3, in one launch.
// Bytes: last bits; sums of squares are added in another order, and compilers fuse products
// Dims: --dim tokens=11 --dim positions=99 --dim k_cache.pages=3
// Dims: --dim tokens=0 --dim positions=5 --dim k_cache.pages=1
// Parameters: heads = 64 (1 to 1024), page_size = 64 (1 to 4096), eps = 1.0e-06 (0.0 to 1.0)
// Uses: ?x{heads}x512x | cache<{page_size} x | eps = {eps}

!cache = !dsv4.cache<64 x <[<"kv" : 512 x f8E4M3FN in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f32 per tensor>]>

func.func @full_cache_fp8_insert(
    %q: tensor<?x64x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %q_fp8: tensor<?x64x512xf8E4M3FN> {dsv4.name = "q_fp8", dsv4.dims = ["tokens", "", ""]},
    %k_cache: !cache {dsv4.name = "k_cache"},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]},
    %position_ids: tensor<?xi64> {dsv4.name = "position_ids", dsv4.dims = ["tokens"]},
    %cos_sin_cache: tensor<?x64xf32> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %fp8_scale: tensor<1xf32> {dsv4.name = "fp8_scale"},
    %q_fp8_scale_inv: tensor<1xf32> {dsv4.name = "q_fp8_scale_inv"})
    -> tensor<?x64x512xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x512xf32>
  %row = tensor.empty(%tokens) : tensor<?x512xf32>
  %row_fp8 = tensor.empty(%tokens) : tensor<?x512xf8E4M3FN>
  %normed = dsv4.rms_norm %q outs(%heads : tensor<?x64x512xf32>) {eps = 1.0e-06}
      : tensor<?x64x512xbf16>
  %q_rotated = dsv4.rope %normed table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi64>) outs(%heads : tensor<?x64x512xf32>)
      : tensor<?x64x512xf32>
  %q_payload = dsv4.quantize %q_rotated given inverse(%q_fp8_scale_inv : tensor<1xf32>)
      outs(%q_fp8 : tensor<?x64x512xf8E4M3FN>)
      {format = #fp8, recipe = #dsv4.quantizer<>} : tensor<?x64x512xf32>
  %kv_rotated = dsv4.rope %kv table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi64>) outs(%row : tensor<?x512xf32>) : tensor<?x512xbf16>
  %kv_payload = dsv4.quantize %kv_rotated given(%fp8_scale : tensor<1xf32>)
      outs(%row_fp8 : tensor<?x512xf8E4M3FN>)
      {format = #fp8, recipe = #dsv4.quantizer<payload = reciprocal>} : tensor<?x512xf32>
  dsv4.paged_append %k_cache[%slot_mapping] unique
      fields(%kv_payload : tensor<?x512xf8E4M3FN>) : !cache, tensor<?xi64>
  return %q_payload : tensor<?x64x512xf8E4M3FN>
}
