// What: SGLang's fused_store_cache(input, cache, indices, page_size=64, type="flashmla", layout=V41_FP4_NEW):
// the FP4 record of V4.1 as FlashMLA and vLLM 0.33 have it since 2026-09-30, with the scales of an
// entry after its values.
// Bytes: not compared
// Dims: --dim tokens=37 --dim cache.pages=5
// Dims: --dim tokens=0 --dim cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <v41_fp4_interleaved_288>>
#format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>
#recipe = #dsv4.quantizer<floor = 0.001953125 : f32, floor_of = scale, limit = reciprocal>

func.func @fused_store_cache_v41_fp4_new(
    %input: tensor<?x512xbf16> {dsv4.name = "input", dsv4.dims = ["tokens", ""]},
    %indices: tensor<?xi64> {dsv4.name = "indices", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %input, %c0 : tensor<?x512xbf16>
  %data = tensor.empty(%tokens) : tensor<?x512xf4E2M1FN>
  %scale = tensor.empty(%tokens) : tensor<?x32xf8E4M3FN>
  %payload, %scales = dsv4.quantize %input
      outs(%data, %scale : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #format, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%indices] unique
      fields(%payload, %scales : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      : !cache, tensor<?xi64>
  return
}
