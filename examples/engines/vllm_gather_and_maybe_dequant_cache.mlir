// What: vLLM's gather_and_maybe_dequant_cache(src_cache, dst, block_table, cu_seq_lens,
// token_to_seq, num_tokens, kv_cache_dtype, scale, seq_starts): positions from seq_starts on, of
// FP8 entries with one scale. The request of each row is given. Pages may lie in a slab; dst and
// block_table may be views. vLLM rounds seq_starts down to a block, in which they begin.
// Bytes: equal
// Dims: --dim rows=301 --dim starts=6 --dim requests=5 --dim blocks=4 --dim src_cache.pages=17
// Dims: --dim rows=1 --dim starts=2 --dim requests=1 --dim blocks=1 --dim src_cache.pages=1
// Parameters: page_size = 64 (1 to 4096), columns = 576 (1 to 65536)
// Uses: cache<{page_size} x | : {columns} x f8 | ?x{columns}x

!cache = !dsv4.cache<64 x <[<"kv" : 576 x f8E4M3FN in row>, <"scale" : 1 x f32 in array scales "kv" per tensor>]>>

func.func @gather_and_maybe_dequant_cache(
    %src_cache: !cache {dsv4.name = "src_cache", dsv4.strides = #dsv4.strides<[?]>},
    %dst: tensor<?x576xbf16> {dsv4.name = "dst", dsv4.dims = ["rows", ""],
                              dsv4.strides = #dsv4.strides<[?]>},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "blocks"],
                                   dsv4.strides = #dsv4.strides<[?], align = 4>},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]},
    %token_to_seq: tensor<?xi32> {dsv4.name = "token_to_seq", dsv4.dims = ["rows"]},
    %seq_starts: tensor<?xi32> {dsv4.name = "seq_starts", dsv4.dims = ["requests"]}) -> tensor<?x576xbf16> {
  %rows = dsv4.paged_gather %src_cache pages(%block_table : tensor<?x?xi32>) requests(%token_to_seq : tensor<?xi32>)
      cu_seq_lens(%cu_seq_lens : tensor<?xi32>) seq_starts(%seq_starts : tensor<?xi32>)
      outs(%dst : tensor<?x576xbf16>) : !cache
  return %rows : tensor<?x576xbf16>
}
