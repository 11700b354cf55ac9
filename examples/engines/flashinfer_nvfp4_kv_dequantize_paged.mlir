// What: FlashInfer's nvfp4_kv_dequantize_paged: NVFP4 values and scales in arrays of pages, decoded
// to bf16. Its page tables are lists: the pages of request r are those from kv_indptr[r] on.
// Bytes: equal
// Dims: --dim rows=301 --dim starts=6 --dim requests_1=6 --dim pages=17 --dim cache.pages=20
// Dims: --dim rows=12 --dim starts=2 --dim requests_1=2 --dim pages=2 --dim cache.pages=2
// Dims: --dim rows=12 --dim starts=9 --dim requests_1=7 --dim pages=0 --dim cache.pages=2
// Parameters: page_size = 16 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<16 x <nvfp4_arrays_288>>

func.func @nvfp4_kv_dequantize_paged(
    %cache: !cache {dsv4.name = "cache"},
    %kv_indices: tensor<?xi32> {dsv4.name = "kv_indices", dsv4.dims = ["pages"]},
    %kv_indptr: tensor<?xi32> {dsv4.name = "kv_indptr", dsv4.dims = ["requests_1"]},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]}) -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %cache pages(%kv_indices : tensor<?xi32>) indptr(%kv_indptr : tensor<?xi32>)
      cu_seq_lens(%cu_seq_lens : tensor<?xi32>) outs(%out : tensor<?x512xbf16>) : !cache
  return %rows : tensor<?x512xbf16>
}
