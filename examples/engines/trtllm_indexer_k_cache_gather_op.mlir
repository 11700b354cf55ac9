// What: TensorRT-LLM's indexer_k_cache_gather_op(k_cache, slot_mapping_fp8, slot_mapping_scale,
// k_token_start, num_tokens): stored keys and scales by byte offsets of the keys. The caller passes
// num_tokens elements of slot_mapping_fp8 from k_token_start on; slot_mapping_scale is not needed.
// Bytes: equal
// Dims: --dim tokens=13 --dim k_cache.pages=3
// Dims: --dim tokens=150 --dim k_cache.pages=2
// Dims: --dim tokens=0 --dim k_cache.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_fp8_132>>

func.func @indexer_k_cache_gather_op(
    %k_cache: !cache {dsv4.name = "k_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slot_mapping_fp8: tensor<?xi64> {dsv4.name = "slot_mapping_fp8", dsv4.dims = ["tokens"]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["tokens", ""]},
    %scale: tensor<?x1xf32> {dsv4.name = "scale", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %keys, %scales = dsv4.paged_gather %k_cache[%slot_mapping_fp8] in_bytes
      fields(%k, %scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) : !cache, tensor<?xi64>
  return %keys, %scales : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}
