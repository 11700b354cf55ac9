// What: vLLM's dequantize_and_gather_k_cache(out, k_cache, seq_lens, gather_lens, block_table,
// block_size, offset): the last gather_lens positions of each request, decoded to bf16 from row
// `offset` of the request on. All other rows stay as they are. The device reads the offset.
// Bytes: equal, but for scales of f8E8M0FNU whose byte is 0 or 255
// Dims: --dim requests=5 --dim blocks=3 --dim rows=150 --dim k_cache.pages=11
// Dims: --dim requests=1 --dim blocks=4 --dim rows=129 --dim k_cache.pages=3
// Dims: --dim requests=33 --dim blocks=1 --dim rows=7 --dim k_cache.pages=40
// Dims: --dim requests=0 --dim blocks=4 --dim rows=100 --dim k_cache.pages=3
// Parameters: record = v4_584, page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x | x {record} | ?x{record.values}xbf16

!cache = !dsv4.cache<64 x <v4_584>>

func.func @dequantize_and_gather_k_cache(
    %out: tensor<?x?x512xbf16> {dsv4.name = "out", dsv4.dims = ["requests", "rows", ""],
                                dsv4.strides = #dsv4.strides<[?, ?]>},
    %k_cache: !cache {dsv4.name = "k_cache", dsv4.strides = #dsv4.strides<[?]>},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %gather_lens: tensor<?xi32> {dsv4.name = "gather_lens", dsv4.dims = ["requests"]},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "blocks"]},
    %offset: tensor<1xi32> {dsv4.name = "offset"})
    -> tensor<?x?x512xbf16> {
  %rows = dsv4.paged_gather %k_cache pages(%block_table : tensor<?x?xi32>) seq_lens(%seq_lens : tensor<?xi32>)
      gather_lens(%gather_lens : tensor<?xi32>) offset(%offset : tensor<1xi32>)
      outs(%out : tensor<?x?x512xbf16>) : !cache
  return %rows : tensor<?x?x512xbf16>
}
