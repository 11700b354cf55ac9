// What: vLLM's fused_deepseek_v4_qnorm_rope_kv_rope_quant_insert(q_in, kv, k_cache, slot_mapping,
// position_ids, cos_sin_cache, ...): each head of the query is normalised without a weight and
// rotated; the key is rotated, quantised and inserted as a V4 record. Both are one launch. Positions
// are per head here, and heads are not padded.
// Dims: --dim tokens=5 --dim positions=40 --dim cache.pages=3
// Dims: --dim tokens=1 --dim positions=40 --dim cache.pages=3
// Dims: --dim tokens=0 --dim positions=1 --dim cache.pages=1

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @qnorm_rope_kv_rope_quant_insert(
    %q: tensor<?x64x512xbf16> {dsv4.name = "q", dsv4.dims = ["tokens", "", ""]},
    %q_position: tensor<?x64xi32> {dsv4.name = "q_position", dsv4.dims = ["tokens", ""]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %q_out: tensor<?x64x512xbf16> {dsv4.name = "q_out", dsv4.dims = ["tokens", "", ""]},
    %cache: !cache {dsv4.name = "cache"}) -> tensor<?x64x512xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %q, %c0 : tensor<?x64x512xbf16>
  %q_row = tensor.empty(%tokens) : tensor<?x64x512xbf16>
  %kv_row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>

  %normed = dsv4.rms_norm %q outs(%q_row : tensor<?x64x512xbf16>) {eps = 1.0e-06 : f32}
      : tensor<?x64x512xbf16>
  %query = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%q_position : tensor<?x64xi32>)
      outs(%q_out : tensor<?x64x512xbf16>) : tensor<?x64x512xbf16>

  %rotated = dsv4.rope %kv table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%kv_row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slots] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return %query : tensor<?x64x512xbf16>
}
