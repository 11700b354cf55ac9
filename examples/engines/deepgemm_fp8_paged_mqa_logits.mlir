// What: deep_gemm.fp8_paged_mqa_logits, with one query per request (next_n = 1) and pages of 64 keys.
// `kv_cache` has the stride of its pages (vLLM pads them). Columns from a length on are -infinity,
// where DeepGEMM leaves what was there. There is no metadata kernel before it. With several queries
// per request and a length for each, give `requests`, the request of each row.
// Bytes: last bits; sums are added in another order
// Dims: --dim rows=3 --dim blocks=9 --dim columns=560 --dim kv_cache.pages=20
// Dims: --dim rows=2 --dim blocks=3 --dim columns=256 --dim kv_cache.pages=4 --dim kv_cache.stride.0=8640
// Dims: --dim rows=0 --dim blocks=3 --dim columns=256 --dim kv_cache.pages=4
// Parameters: heads = 64 (1 to 128), page_size = 64 (1 to 4096)
// Uses: ?x{heads}x | cache<{page_size} x

!keys = !dsv4.cache<64 x <index_fp8_132>>

func.func @deepgemm_fp8_paged_mqa_logits(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %kv: !keys {dsv4.name = "kv_cache", dsv4.strides = #dsv4.strides<[?], align = 4>},
    %weights: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %context_lens: tensor<?xi32> {dsv4.name = "context_lens", dsv4.dims = ["rows"]},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["rows", "blocks"]},
    %logits: tensor<?x?xf32> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?], align = 4>}) -> tensor<?x?xf32> {
  %scores = dsv4.index_score %q weights(%weights : tensor<?x64xf32>) cache(%kv : !keys)
      pages(%block_table : tensor<?x?xi32>) lengths(%context_lens : tensor<?xi32>)
      outs(%logits : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  return %scores : tensor<?x?xf32>
}
