// What: quantize_k_cache(input_k_cache, V32_FP8Sparse) of FlashMLA's tests: V3.2's records with scales that
// are powers of two, in pages of 65 records of which 64 are used.
// Bytes: equal
// Dims: --dim tokens=128 --dim cache.pages=2
// Dims: --dim tokens=0 --dim cache.pages=1
// Parameters: page_size = 64 (1 to 1597)
// Uses: cache<{page_size} x | align {656 * page_size + 656}

!cache = !dsv4.cache<64 x <[<"nope" : 512 x f8E4M3FN in row>,
    <"nope_scale" : 4 x f32 in row scales "nope" per 128>, <"rope" : 64 x bf16 in row>], align 42640>>
#fp8 = #dsv4.format<f8E4M3FN, [<f32 per 128>]>

func.func @quantize_k_cache(
    %input: tensor<?x576xbf16> {dsv4.name = "input", dsv4.dims = ["tokens", ""]},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %input, %c0 : tensor<?x576xbf16>
  %data = tensor.empty(%tokens) : tensor<?x512xf8E4M3FN>
  %scale = tensor.empty(%tokens) : tensor<?x4xf32>
  %payload, %scales = dsv4.quantize %input columns [0, 512]
      outs(%data, %scale : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>)
      {format = #fp8,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, floor_of = scale, rounding = up_pow2>}
      : tensor<?x576xbf16>
  dsv4.paged_append %cache[%slots] unique
      fields(%payload, %scales, %input
             : tensor<?x512xf8E4M3FN>, tensor<?x4xf32>, tensor<?x576xbf16>)
      columns [0, 0, 512] : !cache, tensor<?xi32>
  return
}
