// What: deep_gemm.fp8_mqa_logits with `max_seqlen_k`, whose column 0 is the first key of the row, and
// fp8_index of DeepSeek's reference code, whose ranges are all keys. Row r has the keys
// [cu_seq_len_k_start[r], cu_seq_len_k_end[r]).
// Bytes: last bits; sums are added in another order
// Dims: --dim rows=4 --dim keys=700 --dim columns=400
// Dims: --dim rows=2 --dim keys=1 --dim columns=3
// Dims: --dim rows=0 --dim keys=70 --dim columns=64
// Parameters: heads = 64 (1 to 128), dim = 128 (32 to 256, multiple of 32)
// Uses: ?x{heads}x{dim}x | ?x{heads}xf32 | ?x{dim}x

func.func @deepgemm_fp8_mqa_logits(
    %q: tensor<?x64x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %sf: tensor<?xf32> {dsv4.name = "k_sf", dsv4.dims = ["keys"]},
    %weights: tensor<?x64xf32> {dsv4.name = "weights", dsv4.dims = ["rows", ""]},
    %ks: tensor<?xi32> {dsv4.name = "cu_seq_len_k_start", dsv4.dims = ["rows"]},
    %ke: tensor<?xi32> {dsv4.name = "cu_seq_len_k_end", dsv4.dims = ["rows"]},
    %logits: tensor<?x?xf32> {dsv4.name = "logits", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?], align = 4>}) -> tensor<?x?xf32> {
  %scores = dsv4.index_score %q weights(%weights : tensor<?x64xf32>)
      keys(%k : tensor<?x128xf8E4M3FN>) key_scales(%sf : tensor<?xf32>)
      starts(%ks : tensor<?xi32>) ends(%ke : tensor<?xi32>)
      outs(%logits : tensor<?x?xf32>) : tensor<?x64x128xf8E4M3FN>
  return %scores : tensor<?x?xf32>
}
