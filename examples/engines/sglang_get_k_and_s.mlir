// What: SGLang's accessors of the indexer's buffer (GetK, GetS, GetKAndS): the stored keys and
// scales of the first positions of each request, by its pages. The requests follow each other in
// the results. The page table is a view.
// Bytes: equal
// Dims: --dim rows=301 --dim starts=6 --dim requests=5 --dim pages=4 --dim buffer.pages=17
// Dims: --dim rows=64 --dim starts=2 --dim requests=1 --dim pages=1 --dim buffer.pages=1
// Parameters: page_size = 64 (1 to 4096)
// Uses: cache<{page_size} x

!cache = !dsv4.cache<64 x <index_fp8_132>>

func.func @get_k_and_s(
    %buffer: !cache {dsv4.name = "buffer"},
    %page_indices: tensor<?x?xi32> {dsv4.name = "page_indices", dsv4.dims = ["requests", "pages"],
                                    dsv4.strides = #dsv4.strides<[?], align = 4>},
    %cu_seq_lens: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]},
    %k_out: tensor<?x128xf8E4M3FN> {dsv4.name = "k_out", dsv4.dims = ["rows", ""]},
    %s_out: tensor<?xf32> {dsv4.name = "s_out", dsv4.dims = ["rows"]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
  %k, %s = dsv4.paged_gather %buffer pages(%page_indices : tensor<?x?xi32>) cu_seq_lens(%cu_seq_lens : tensor<?xi32>)
      fields(%k_out, %s_out : tensor<?x128xf8E4M3FN>, tensor<?xf32>) : !cache
  return %k, %s : tensor<?x128xf8E4M3FN>, tensor<?xf32>
}
