// What: SGLang's dequantize_k_cache_paged(quant_k_cache, page_table_1_flattened, page_size=64,
// layout=V41_FP4_NEW): rows of the FP4 record of V4.1 by slot, with the scales of an entry after its
// values.
// Bytes: equal
// Dims: --dim rows=37 --dim quant_k_cache.pages=5
// Dims: --dim rows=0 --dim quant_k_cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <v41_fp4_interleaved_288>>

func.func @dequantize_k_cache_paged_v41_fp4_new(
    %quant_k_cache: !cache {dsv4.name = "quant_k_cache"},
    %slots: tensor<?xi32> {dsv4.name = "page_table_1_flattened", dsv4.dims = ["rows"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""],
                              dsv4.strides = #dsv4.strides<[?]>})
    -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %quant_k_cache[%slots] outs(%out : tensor<?x512xbf16>)
      : !cache, tensor<?xi32>
  return %rows : tensor<?x512xbf16>
}
