// What: vLLM's cp_gather_and_upconvert_fp8_kv_cache(src_cache, dst, block_table, seq_lens,
// workspace_starts, batch_size): all positions of each request, decoded to bf16, from row
// workspace_starts of the request on. Pages may lie in a slab; dst and block_table may be views.
// Bytes: equal
// Dims: --dim rows=301 --dim requests=5 --dim blocks=4 --dim src_cache.pages=17
// Dims: --dim rows=10 --dim requests=1 --dim blocks=2 --dim src_cache.pages=3
// Dims: --dim rows=10 --dim requests=0 --dim blocks=2 --dim src_cache.pages=3
// Parameters: record = v32_656, page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x | x {record} | ?x{record.values}xbf16

!cache = !dsv4.cache<64 x <v32_656>>

func.func @cp_gather_and_upconvert_fp8_kv_cache(
    %src_cache: !cache {dsv4.name = "src_cache", dsv4.strides = #dsv4.strides<[?]>},
    %dst: tensor<?x576xbf16> {dsv4.name = "dst", dsv4.dims = ["rows", ""],
                              dsv4.strides = #dsv4.strides<[?]>},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "blocks"],
                                   dsv4.strides = #dsv4.strides<[?], align = 4>},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %workspace_starts: tensor<?xi32> {dsv4.name = "workspace_starts", dsv4.dims = ["requests"]})
    -> tensor<?x576xbf16> {
  %rows = dsv4.paged_gather %src_cache pages(%block_table : tensor<?x?xi32>)
      row_starts(%workspace_starts : tensor<?xi32>) seq_lens(%seq_lens : tensor<?xi32>)
      outs(%dst : tensor<?x576xbf16>) : !cache
  return %rows : tensor<?x576xbf16>
}
