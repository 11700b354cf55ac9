// Rings with and without a page table, with the length of its request for every token.
!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @append(%cache: !cache {dsv4.name = "cache"}, %pool: !cache {dsv4.name = "pool"},
                  %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
                  %table: tensor<?x2xi32> {dsv4.name = "table", dsv4.dims = ["requests", ""]},
                  %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
                  %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["tokens"]},
                  %rows: tensor<?x64xbf16> {dsv4.name = "rows", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %cache[%position] ring 8 requests(%request : tensor<?xi32>)
      pages(%table : tensor<?x2xi32>) lengths per token(%length : tensor<?xi32>)
      fields(%rows : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  dsv4.paged_append %pool[%position] ring 4 requests(%request : tensor<?xi32>)
      lengths per token(%length : tensor<?xi32>)
      fields(%rows : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}
