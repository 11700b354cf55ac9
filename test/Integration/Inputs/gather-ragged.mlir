// Rows of ragged requests with a mask, and pages in a list.
!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @gather_ragged(%cache: !cache {dsv4.name = "cache"},
                         %list: tensor<?xi32> {dsv4.name = "list", dsv4.dims = ["pages"]},
                         %indptr: tensor<?xi32> {dsv4.name = "indptr", dsv4.dims = ["indptr"]},
                         %starts: tensor<?xi32> {dsv4.name = "starts", dsv4.dims = ["requests"]},
                         %lens: tensor<?xi32> {dsv4.name = "lens", dsv4.dims = ["requests"]},
                         %last: tensor<?xi32> {dsv4.name = "last", dsv4.dims = ["requests"]},
                         %out: tensor<?x64xf32> {dsv4.name = "out", dsv4.dims = ["rows", ""]},
                         %mask: tensor<?xi1> {dsv4.name = "mask", dsv4.dims = ["rows"]})
    -> (tensor<?x64xf32>, tensor<?xi1>) {
  %rows, %valid = dsv4.paged_gather %cache pages(%list : tensor<?xi32>) indptr(%indptr : tensor<?xi32>)
      row_starts(%starts : tensor<?xi32>) seq_lens(%lens : tensor<?xi32>) gather_lens(%last : tensor<?xi32>)
      outs(%out : tensor<?x64xf32>) mask(%mask : tensor<?xi1>) : !cache
  return %rows, %valid : tensor<?x64xf32>, tensor<?xi1>
}
