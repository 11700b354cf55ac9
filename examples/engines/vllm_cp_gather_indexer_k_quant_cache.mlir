// What: vLLM's cp_gather_indexer_k_quant_cache(kv_cache, dst_k, dst_scale, block_table,
// cu_seq_lens): the stored keys and scales of all positions of all requests, undecoded. Pages may
// lie in a slab, and block_table is a view. Rows beyond the last position stay as they are.
// Bytes: equal
// Dims: --dim rows=301 --dim starts=6 --dim requests=5 --dim blocks=4 --dim kv_cache.pages=17
// Dims: --dim rows=64 --dim starts=2 --dim requests=1 --dim blocks=2 --dim kv_cache.pages=3
// Dims: --dim rows=500 --dim starts=101 --dim requests=100 --dim blocks=1 --dim kv_cache.pages=60
// Dims: --dim rows=10 --dim starts=1 --dim requests=0 --dim blocks=2 --dim kv_cache.pages=3
// Dims: --dim rows=0 --dim starts=4 --dim requests=3 --dim blocks=2 --dim kv_cache.pages=3
// Dims: --dim rows=301 --dim starts=6 --dim requests=5 --dim blocks=4 --dim kv_cache.pages=17 --dim kv_cache.stride.0=8640 --dim block_table.stride.0=4096
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_fp8_132>>

func.func @cp_gather_indexer_k_quant_cache(
    %kv_cache: !cache {dsv4.name = "kv_cache", dsv4.strides = #dsv4.strides<[?]>},
    %dst_k: tensor<?x128xf8E4M3FN> {dsv4.name = "dst_k", dsv4.dims = ["rows", ""]},
    %dst_scale: tensor<?x1xf32> {dsv4.name = "dst_scale", dsv4.dims = ["rows", ""]},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "blocks"],
                                   dsv4.strides = #dsv4.strides<[?], align = 4>},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %k, %scale = dsv4.paged_gather %kv_cache pages(%block_table : tensor<?x?xi32>)
      cu_seq_lens(%cu_seq_lens : tensor<?xi32>)
      fields(%dst_k, %dst_scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) : !cache
  return %k, %scale : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}
