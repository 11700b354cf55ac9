// What: flashinfer.top_k_page_table_transform: slots of a paged cache, rows of requests
// (row_to_batch), rows that begin at row_starts, tie_break = LARGE. The pages of a row begin at
// column page_table_row_starts of the table; without it the call takes row_starts for both.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=6 --dim columns=4001 --dim requests=2 --dim pages=251
// Dims: --dim rows=2 --dim columns=36001 --dim requests=2 --dim pages=2251
// Parameters: k = 512 (1 to 4096), page_size = 16 (1 to 4096)
// Uses: ?x{k}x |  page {page_size}

func.func @flashinfer_top_k_page_table_transform(
    %input: tensor<?x?xf32> {dsv4.name = "input", dsv4.dims = ["rows", "columns"]},
    %row_starts: tensor<?xi32> {dsv4.name = "row_starts", dsv4.dims = ["rows"]},
    %lengths: tensor<?xi32> {dsv4.name = "lengths", dsv4.dims = ["rows"]},
    %src_page_table: tensor<?x?xi32> {dsv4.name = "src_page_table", dsv4.dims = ["requests", "pages"]},
    %row_to_batch: tensor<?xi32> {dsv4.name = "row_to_batch", dsv4.dims = ["rows"]},
    %page_table_row_starts: tensor<?xi32> {dsv4.name = "page_table_row_starts", dsv4.dims = ["rows"]},
    %out_raw_indices: tensor<?x512xi32> {dsv4.name = "out_raw_indices", dsv4.dims = ["rows", ""]},
    %out: tensor<?x512xi32> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> (tensor<?x512xi32>, tensor<?x512xi32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0, %r1 = dsv4.topk %input starts(%row_starts : tensor<?xi32>) lengths(%lengths : tensor<?xi32>)
      pages(%src_page_table : tensor<?x?xi32>) page 16 requests(%row_to_batch : tensor<?xi32>)
      page_starts(%page_table_row_starts : tensor<?xi32>) ties high
      outs(%out_raw_indices, %out : tensor<?x512xi32>, tensor<?x512xi32>) : tensor<?x?xf32>
  return %r0, %r1 : tensor<?x512xi32>, tensor<?x512xi32>
}
