// What: TensorRT-LLM's indexer_k_cache_scatter_op(k_fp8, k_scale, k_cache, slot_mapping_fp8,
// slot_mapping_scale): keys and scales as they are, into pages of a slab. Slots are byte offsets of
// the keys; those of the scales, slot_mapping_scale, follow from them and are no operand.
// Bytes: equal
// Dims: --dim tokens=13 --dim k_cache.pages=3
// Dims: --dim tokens=150 --dim k_cache.pages=2
// Dims: --dim tokens=0 --dim k_cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_fp8_132>>

func.func @indexer_k_cache_scatter_op(
    %k_fp8: tensor<?x128xf8E4M3FN> {dsv4.name = "k_fp8", dsv4.dims = ["tokens", ""]},
    %k_scale: tensor<?x1xf32> {dsv4.name = "k_scale", dsv4.dims = ["tokens", ""]},
    %k_cache: !cache {dsv4.name = "k_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slot_mapping_fp8: tensor<?xi64> {dsv4.name = "slot_mapping_fp8", dsv4.dims = ["tokens"]}) {
  dsv4.paged_append %k_cache[%slot_mapping_fp8] in_bytes unique
      fields(%k_fp8, %k_scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) : !cache, tensor<?xi64>
  return
}
