// One index per token, with its request and its length.
!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @gather_tokens(%cache: !cache {dsv4.name = "cache"},
                         %index: tensor<?xi32> {dsv4.name = "index", dsv4.dims = ["tokens"]},
                         %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
                         %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
                         %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["tokens"]},
                         %out: tensor<?x64xbf16> {dsv4.name = "out", dsv4.dims = ["tokens", ""]},
                         %mask: tensor<?xi1> {dsv4.name = "mask", dsv4.dims = ["tokens"]})
    -> (tensor<?x64xbf16>, tensor<?xi1>) {
  %rows, %valid = dsv4.paged_gather %cache[%index] pages(%table : tensor<?x?xi32>) requests(%request : tensor<?xi32>)
      lengths(%length : tensor<?xi32>) outs(%out : tensor<?x64xbf16>) mask(%mask : tensor<?xi1>)
      : !cache, tensor<?xi32>
  return %rows, %valid : tensor<?x64xbf16>, tensor<?xi1>
}
