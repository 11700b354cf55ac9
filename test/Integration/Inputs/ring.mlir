// Rows to rings of four entries, one per request.
!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @store(%c: !cache {dsv4.name = "pool"}, %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
                 %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
                 %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
                 %rows: tensor<?x64xbf16> {dsv4.name = "rows", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %c[%position] ring 4 requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%rows : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}
