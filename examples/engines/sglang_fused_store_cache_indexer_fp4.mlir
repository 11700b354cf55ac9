// What: SGLang's fused_store_cache(input, cache, indices, page_size=64, type="indexer") of a pool
// in MXFP4: a scale per 32 values is a power of two of which amax is at most 6 times as large. Ties
// go down, and a zero has no sign.
// Bytes: equal
// Dims: --dim tokens=37 --dim cache.pages=5
// Dims: --dim tokens=0 --dim cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_mxfp4_68>>
#fp4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
#recipe = #dsv4.quantizer<floor = 1.66666669e-05 : f32, floor_of = scale, rounding = up_pow2,
                          ties = down, drop_negative_zero = true>

func.func @fused_store_cache(
    %input: tensor<?x128xbf16> {dsv4.name = "input", dsv4.dims = ["tokens", ""]},
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?xi64> {dsv4.name = "indices", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %input, %c0 : tensor<?x128xbf16>
  %data = tensor.empty(%tokens) : tensor<?x128xf4E2M1FN>
  %scale = tensor.empty(%tokens) : tensor<?x4xf8E8M0FNU>
  %payload, %scales = dsv4.quantize %input
      outs(%data, %scale : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      {format = #fp4, recipe = #recipe} : tensor<?x128xbf16>
  dsv4.paged_append %cache[%indices] unique
      fields(%payload, %scales : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      : !cache, tensor<?xi64>
  return
}
