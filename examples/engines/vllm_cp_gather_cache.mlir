// What: vLLM's cp_gather_cache(src_cache, dst, block_table, cu_seq_lens, batch_size, seq_starts):
// entries copied as they are, from position seq_starts of each request on. Pages may lie in a slab;
// dst and block_table may be views.
// Bytes: equal
// Dims: --dim rows=301 --dim starts=6 --dim requests=5 --dim blocks=4 --dim src_cache.pages=17
// Dims: --dim rows=77 --dim starts=2 --dim requests=1 --dim blocks=9 --dim src_cache.pages=9
// Parameters: page_size = 16 (1 to 4096), columns = 576 (1 to 65536)
// Uses: cache<{page_size} x | : {columns} x bf16 | ?x{columns}x

!cache = !dsv4.cache<16 x <[<"kv" : 576 x bf16 in row>]>>

func.func @cp_gather_cache(
    %src_cache: !cache {dsv4.name = "src_cache", dsv4.strides = #dsv4.strides<[?]>},
    %dst: tensor<?x576xbf16> {dsv4.name = "dst", dsv4.dims = ["rows", ""],
                              dsv4.strides = #dsv4.strides<[?]>},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "blocks"],
                                   dsv4.strides = #dsv4.strides<[?], align = 4>},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]},
    %seq_starts: tensor<?xi32> {dsv4.name = "seq_starts", dsv4.dims = ["requests"]}) -> tensor<?x576xbf16> {
  %rows = dsv4.paged_gather %src_cache pages(%block_table : tensor<?x?xi32>) cu_seq_lens(%cu_seq_lens : tensor<?xi32>)
      seq_starts(%seq_starts : tensor<?xi32>) fields(%dst : tensor<?x576xbf16>) : !cache
  return %rows : tensor<?x576xbf16>
}
