// What: deep_gemm.fp8_fp4_paged_mqa_logits with queries and keys in MXFP4 and two queries per request
// (next_n = 2) that share its length, which is that of the last one. The scales of queries and keys
// are those that DeepGEMM reads as one 32-bit integer of four.
// Bytes: last bits; sums are added in another order
// Dims: --dim rows=6 --dim requests=3 --dim blocks=9 --dim columns=560 --dim kv_cache.pages=20
// Dims: --dim rows=0 --dim requests=0 --dim blocks=3 --dim columns=256 --dim kv_cache.pages=4
// Parameters: heads = 64 (1 to 128), page_size = 64 (1 to 4096), next_n = 2 (1 to 16)
// Uses: ?x{heads}x | cache<{page_size} x | next_n {next_n}

!keys = !dsv4.cache<64 x <index_mxfp4_68>>

func.func @deepgemm_fp8_fp4_paged_mqa_logits(
    %q: tensor<?x64x128xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %sf_q: tensor<?x64x4xf8E8M0FNU> {dsv4.name = "sf_q", dsv4.dims = ["rows", "", ""]},
    %kv: !keys {dsv4.name = "kv_cache"},
    %weights: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %context_lens: tensor<?xi32> {dsv4.name = "context_lens", dsv4.dims = ["requests"]},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "blocks"]},
    %logits: tensor<?x?xf32> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"]})
    -> tensor<?x?xf32> {
  %scores = dsv4.index_score %q scales(%sf_q : tensor<?x64x4xf8E8M0FNU>)
      weights(%weights : tensor<?x64xf32>) cache(%kv : !keys) pages(%block_table : tensor<?x?xi32>)
      lengths(%context_lens : tensor<?xi32>) next_n 2
      outs(%logits : tensor<?x?xf32>) : tensor<?x64x128xf4E2M1FN>
  return %scores : tensor<?x?xf32>
}
