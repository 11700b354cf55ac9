// What: SGLang's fused_store_cache(input, cache, indices, page_size=64, type="indexer"): keys of the
// indexer in FP8 with one f32 scale; a value is multiplied by the reciprocal of the scale.
// Bytes: equal
// Dims: --dim tokens=37 --dim cache.pages=5
// Dims: --dim tokens=0 --dim cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_fp8_132>>

func.func @fused_store_cache(
    %input: tensor<?x128xbf16> {dsv4.name = "input", dsv4.dims = ["tokens", ""]},
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?xi64> {dsv4.name = "indices", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %input, %c0 : tensor<?x128xbf16>
  %data = tensor.empty(%tokens) : tensor<?x128xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?xf32>
  %payload, %scales = dsv4.quantize %input
      outs(%data, %scale : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f8E4M3FN, [<f32 per row>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, payload = reciprocal>} : tensor<?x128xbf16>
  dsv4.paged_append %cache[%indices] unique
      fields(%payload, %scales : tensor<?x128xf8E4M3FN>, tensor<?xf32>) : !cache, tensor<?xi64>
  return
}
