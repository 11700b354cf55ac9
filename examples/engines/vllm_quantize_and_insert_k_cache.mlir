// What: vLLM's quantize_and_insert_k_cache(k, k_cache, slot_mapping, 64, is_ue8m0=True): 448 values
// in FP8 with E8M0 scales, 64 as they are, in V4's records; the unused byte of the scales becomes
// 0. Pages may lie in a slab of all layers.
// Bytes: equal
// Dims: --dim tokens=37 --dim cache.pages=5
// Dims: --dim tokens=0 --dim cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <v4_584>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, rounding = up_pow2>

func.func @quantize_and_insert_k_cache(
    %k: tensor<?x512xbf16> {dsv4.name = "k", dsv4.dims = ["tokens", ""]},
    %cache: !cache {dsv4.name = "cache", dsv4.strides = #dsv4.strides<[?]>},
    %slots: tensor<?xi64> {dsv4.name = "slots", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %k, %c0 : tensor<?x512xbf16>
  %data = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %payload, %scales = dsv4.quantize %k columns [0, 448]
      outs(%data, %scale : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%slots] unique
      fields(%payload, %k, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi64>
  return
}
