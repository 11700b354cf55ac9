// What: TokenSpeed's indexer_mxfp4_paged_gather(kv_cache, values_out, scales_out, block_table,
// cu_seq_lens, cache_block_size): the stored MXFP4 keys and scales of all positions of all
// requests. Pages may lie in a slab, and block_table is a view.
// Bytes: equal
// Dims: --dim rows=301 --dim starts=6 --dim requests=5 --dim blocks=4 --dim kv_cache.pages=17
// Dims: --dim rows=3 --dim starts=3 --dim requests=2 --dim blocks=1 --dim kv_cache.pages=2
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_mxfp4_68>>

func.func @indexer_mxfp4_paged_gather(
    %kv_cache: !cache {dsv4.name = "kv_cache", dsv4.strides = #dsv4.strides<[?]>},
    %values_out: tensor<?x128xf4E2M1FN> {dsv4.name = "values_out", dsv4.dims = ["rows", ""]},
    %scales_out: tensor<?x4xf8E8M0FNU> {dsv4.name = "scales_out", dsv4.dims = ["rows", ""]},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "blocks"],
                                   dsv4.strides = #dsv4.strides<[?], align = 4>},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]})
    -> (tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>) {
  %values, %scales = dsv4.paged_gather %kv_cache pages(%block_table : tensor<?x?xi32>)
      cu_seq_lens(%cu_seq_lens : tensor<?xi32>)
      fields(%values_out, %scales_out : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>) : !cache
  return %values, %scales : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>
}
