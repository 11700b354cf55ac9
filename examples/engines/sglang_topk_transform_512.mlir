// What: topk_transform_512 of SGLang, and topk_transform_512_v2, whose plan (plan_topk_v2) may be
// empty: slots of a cache of 64 tokens a page, and the indices (out_raw_indices). A row is a
// request. Scores and page tables are views of wider tensors.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4000 --dim pages=63
// Dims: --dim rows=2 --dim columns=66000 --dim pages=1032
// Parameters: k = 512 (1 to 4096), page_size = 64 (1 to 4096)
// Uses: ?x{k}x |  page {page_size}

func.func @sglang_topk_transform_512(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?], align = 4>},
    %seq_lens: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["rows"]},
    %page_tables: tensor<?x?xi32> {dsv4.name = "page_tables", dsv4.dims = ["rows", "pages"],
                                   dsv4.strides = #dsv4.strides<[?], align = 4>},
    %out_raw_indices: tensor<?x512xi32> {dsv4.name = "out_raw_indices", dsv4.dims = ["rows", ""]},
    %out_page_indices: tensor<?x512xi32> {dsv4.name = "out_page_indices", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xi32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0, %r1 = dsv4.topk %scores lengths(%seq_lens : tensor<?xi32>)
      pages(%page_tables : tensor<?x?xi32>) page 64
      outs(%out_raw_indices, %out_page_indices : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x?xf32>
  return %r0, %r1 : tensor<?x512xi32>, tensor<?x512xi32>
}
