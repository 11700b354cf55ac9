// What: torch.ops.deep_select.topk with sorted_index: row r is [begin[r], end[r]),
// output_idx_offset is added to its indices, and values are returned. Rows of the input and of both
// results may lie farther apart than they are long.
// Bytes: same elements; engines leave ties, and the order of ranks, to a race
// Dims: --dim rows=5 --dim columns=4001
// Dims: --dim rows=3 --dim columns=70001
// Dims: --dim rows=0 --dim columns=100
// Parameters: k = 1024 (1 to 4096)
// Uses: ?x{k}x

func.func @deep_select_topk(
    %input: tensor<?x?xbf16> {dsv4.name = "input", dsv4.dims = ["rows", "columns"],
                              dsv4.strides = #dsv4.strides<[?]>},
    %begin: tensor<?xi32> {dsv4.name = "begin", dsv4.dims = ["rows"]},
    %end: tensor<?xi32> {dsv4.name = "end", dsv4.dims = ["rows"]},
    %output_idx_offset: tensor<?xi32> {dsv4.name = "output_idx_offset", dsv4.dims = ["rows"]},
    %output_idx: tensor<?x1024xi32> {dsv4.name = "output_idx", dsv4.dims = ["rows", ""],
                                     dsv4.strides = #dsv4.strides<[?]>},
    %output_value: tensor<?x1024xbf16> {dsv4.name = "output_value", dsv4.dims = ["rows", ""],
                                        dsv4.strides = #dsv4.strides<[?]>})
    -> (tensor<?x1024xi32>, tensor<?x1024xbf16>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, rows = #dsv4.policy<bucket>}} {
  %r0, %r1 = dsv4.topk %input starts(%begin : tensor<?xi32>) ends(%end : tensor<?xi32>)
      offsets(%output_idx_offset : tensor<?xi32>) order index_ascending
      outs(%output_idx, %output_value : tensor<?x1024xi32>, tensor<?x1024xbf16>) : tensor<?x?xbf16>
  return %r0, %r1 : tensor<?x1024xi32>, tensor<?x1024xbf16>
}
