// What: sgl_kernel.fast_topk_transform_fused of SGLang: indices become entries of a page table
// of pages of one token. Rows belong to requests by cu_seqlens_q, which the kernel reads.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4001 --dim requests=2 --dim starts=3 --dim pages=4001
// Dims: --dim rows=2 --dim columns=33000 --dim requests=1 --dim starts=2 --dim pages=33000
// Dims: --dim rows=9 --dim columns=3000 --dim requests=9 --dim starts=10 --dim pages=3000
// Parameters: k = 2048 (1 to 4096), page_size = 1 (1 to 4096)
// Uses: ?x{k}x |  page {page_size}

func.func @sglang_fast_topk_transform_fused(
    %score: tensor<?x?xf32> {dsv4.name = "score", dsv4.dims = ["rows", "columns"],
                             dsv4.strides = #dsv4.strides<[?], align = 4>},
    %row_starts: tensor<?xi32> {dsv4.name = "row_starts", dsv4.dims = ["rows"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %page_table_size_1: tensor<?x?xi32> {dsv4.name = "page_table_size_1", dsv4.dims = ["requests", "pages"],
                                        dsv4.strides = #dsv4.strides<[?]>},
    %cu_seqlens_q: tensor<?xi32> {dsv4.name = "cu_seqlens_q", dsv4.dims = ["starts"]},
    %indices: tensor<?x2048xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %slots: tensor<?x2048xi32> {dsv4.name = "slots", dsv4.dims = ["rows", ""]})
    -> (tensor<?x2048xi32>, tensor<?x2048xi32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0, %r1 = dsv4.topk %score starts(%row_starts : tensor<?xi32>) lengths(%lengths : tensor<?xi32>)
      pages(%page_table_size_1 : tensor<?x?xi32>) page 1 cu_seq_lens(%cu_seqlens_q : tensor<?xi32>)
      outs(%indices, %slots : tensor<?x2048xi32>, tensor<?x2048xi32>) : tensor<?x?xf32>
  return %r0, %r1 : tensor<?x2048xi32>, tensor<?x2048xi32>
}
