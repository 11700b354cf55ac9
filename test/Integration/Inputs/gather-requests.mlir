// Positions of tokens, with the lengths of their requests.
!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @gather(%cache: !cache {dsv4.name = "cache"},
                  %index: tensor<?x?xi32> {dsv4.name = "index", dsv4.dims = ["tokens", "topk"]},
                  %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
                  %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
                  %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
                  %out: tensor<?x?x64xf32> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]},
                  %mask: tensor<?x?xi1> {dsv4.name = "mask", dsv4.dims = ["tokens", "topk"]})
    -> (tensor<?x?x64xf32>, tensor<?x?xi1>) {
  %rows, %valid = dsv4.paged_gather %cache[%index] pages(%table : tensor<?x?xi32>)
      requests(%request : tensor<?xi32>) lengths per request(%length : tensor<?xi32>)
      outs(%out : tensor<?x?x64xf32>) mask(%mask : tensor<?x?xi1>) : !cache, tensor<?x?xi32>
  return %rows, %valid : tensor<?x?x64xf32>, tensor<?x?xi1>
}
