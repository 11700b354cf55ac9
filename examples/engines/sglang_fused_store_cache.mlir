// What: SGLang `fused_store_cache(input, cache, indices, page_size=64, type="flashmla")`: quantises
// rows of bf16 and stores them in V4's records, by slots of i64.
// Bytes: equal
// Dims: --dim tokens=77 --dim cache.pages=3
// Dims: --dim tokens=1 --dim cache.pages=1
// Dims: --dim tokens=0 --dim cache.pages=2
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>

func.func @fused_store_cache(
    %input: tensor<?x512xbf16> {dsv4.name = "input", dsv4.dims = ["tokens", ""]},
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?xi64> {dsv4.name = "indices", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %input, %c0 : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %payload, %scales = dsv4.quantize %input columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x512xbf16>
  dsv4.paged_append %cache[%indices] unique
      fields(%payload, %input, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi64>
  return
}
