// What: topk_transform_extend_v2 of SGLang: rows of a prefill, which begin anywhere, page tables of
// requests, and offsets that are added to the indices. A call asks for slots or for indices. Scores
// and page table are views of wider tensors.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=7 --dim columns=4003 --dim requests=2 --dim pages=63
// Dims: --dim rows=3 --dim columns=50001 --dim requests=3 --dim pages=782
// Parameters: k = 512 (1 to 4096), page_size = 64 (1 to 4096)
// Uses: ?x{k}x |  page {page_size}

func.func @sglang_topk_transform_extend_v2(
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?], align = 4>},
    %row_starts: tensor<?xi32> {dsv4.name = "row_starts", dsv4.dims = ["rows"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %page_table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "pages"],
                                  dsv4.strides = #dsv4.strides<[?], align = 4>},
    %row_to_batch: tensor<?xi32> {dsv4.name = "row_to_batch", dsv4.dims = ["rows"]},
    %out_offsets: tensor<?xi32> {dsv4.name = "out_offsets", dsv4.dims = ["rows"]},
    %indices: tensor<?x512xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %slots: tensor<?x512xi32> {dsv4.name = "slots", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xi32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0, %r1 = dsv4.topk %scores starts(%row_starts : tensor<?xi32>) lengths(%lengths : tensor<?xi32>)
      pages(%page_table : tensor<?x?xi32>) page 64 requests(%row_to_batch : tensor<?xi32>)
      offsets(%out_offsets : tensor<?xi32>)
      outs(%indices, %slots : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x?xf32>
  return %r0, %r1 : tensor<?x512xi32>, tensor<?x512xi32>
}
