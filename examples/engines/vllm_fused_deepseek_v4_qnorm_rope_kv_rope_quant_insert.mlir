// What: vLLM's fused_deepseek_v4_qnorm_rope_kv_rope_quant_insert(q_in, kv, k_cache, slot_mapping,
// position_ids, cos_sin_cache, q_head_padded=64, eps, 64): heads of q are filled up with zeros,
// normalised and rotated; kv is rotated, quantised and written in V4's records, whose pages may lie
// in a slab. Both are one launch. As there, heads are f32 between norm and rotation, and kv is rounded
// to bf16 before it is quantised.
// Bytes: last bits; sums of squares are added in another order, and compilers fuse products
// Dims: --dim tokens=11 --dim positions=99 --dim k_cache.pages=3
// Dims: --dim tokens=1 --dim positions=99 --dim k_cache.pages=3
// Dims: --dim tokens=0 --dim positions=5 --dim k_cache.pages=1
// Dims: --dim tokens=11 --dim positions=99 --dim k_cache.pages=3 --dim k_cache.stride.0=1315008
// Parameters: heads = 16 (1 to 1024), padded_heads = 64 (1 to 1024), page_size = 64 (1 to 4096),
//   eps = 1.0e-06 (0.0 to 1.0)
// Uses: ?x{heads}x512x | ?x{padded_heads}x512x | cache<{page_size} x | eps = {eps}

!cache = !dsv4.cache<64 x <v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2>

func.func @qnorm_rope_kv_rope_quant_insert(
    %q_in: tensor<?x16x512xbf16> {dsv4.name = "q_in", dsv4.dims = ["tokens", "", ""]},
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %k_cache: !cache {dsv4.name = "k_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]},
    %position_ids: tensor<?xi64> {dsv4.name = "position_ids", dsv4.dims = ["tokens"]},
    %cos_sin_cache: tensor<?x64xf32> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %q_out: tensor<?x64x512xbf16> {dsv4.name = "q_out", dsv4.dims = ["tokens", "", ""]})
    -> tensor<?x64x512xbf16> {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %heads = tensor.empty(%tokens) : tensor<?x64x512xbf16>
  %wide = tensor.empty(%tokens) : tensor<?x64x512xf32>
  %row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %data = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>

  %padded = dsv4.pad_rows %q_in outs(%heads : tensor<?x64x512xbf16>) : tensor<?x16x512xbf16>
  %normed = dsv4.rms_norm %padded outs(%wide : tensor<?x64x512xf32>) {eps = 1.0e-06}
      : tensor<?x64x512xbf16>
  %q = dsv4.rope %normed table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi64>) outs(%q_out : tensor<?x64x512xbf16>)
      : tensor<?x64x512xf32>

  %rotated = dsv4.rope %kv table(%cos_sin_cache : tensor<?x64xf32>)
      positions(%position_ids : tensor<?xi64>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%data, %scale : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %k_cache[%slot_mapping] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi64>
  return %q : tensor<?x64x512xbf16>
}
