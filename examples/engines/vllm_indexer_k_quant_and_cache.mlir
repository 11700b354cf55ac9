// What: vLLM's indexer_k_quant_and_cache(k, kv_cache, slot_mapping, 128, "ue8m0"): keys of the
// indexer in FP8 with one f32 scale, a power of two. A page has the values of its entries, then
// their scales. vLLM pads pages, or packs them in a slab.
// Bytes: equal
// Dims: --dim tokens=37 --dim kv_cache.pages=5
// Dims: --dim tokens=0 --dim kv_cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_fp8_132>>

func.func @indexer_k_quant_and_cache(
    %k: tensor<?x128xbf16> {dsv4.name = "k", dsv4.dims = ["tokens", ""]},
    %kv_cache: !cache {dsv4.name = "kv_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %k, %c0 : tensor<?x128xbf16>
  %data = tensor.empty(%tokens) : tensor<?x128xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?xf32>
  %payload, %scales = dsv4.quantize %k outs(%data, %scale : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, rounding = up_pow2>} : tensor<?x128xbf16>
  dsv4.paged_append %kv_cache[%slot_mapping] unique
      fields(%payload, %scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>) : !cache, tensor<?xi64>
  return
}
