// What: SGLang's dequantize_k_cache_paged(quant_k_cache, page_table_1_flattened, group_size): the
// V3.2 records at these slots, decoded to bf16. `out` may be a view.
// Bytes: equal
// Dims: --dim slots=77 --dim cache.pages=5
// Dims: --dim slots=0 --dim cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <v32_656>>

func.func @dequantize_k_cache_paged_v32(
    %cache: !cache {dsv4.name = "cache"},
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["slots"]},
    %out: tensor<?x576xbf16> {dsv4.name = "out", dsv4.dims = ["slots", ""],
                              dsv4.strides = #dsv4.strides<[?]>}) -> tensor<?x576xbf16> {
  %rows = dsv4.paged_gather %cache[%slots] outs(%out : tensor<?x576xbf16>) : !cache, tensor<?xi32>
  return %rows : tensor<?x576xbf16>
}
