// Scores of the pages of a cache, and entries by index.

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
func.func @select_and_gather(
    %cache: !cache {dsv4.name = "cache"},
    %scores: tensor<?x?xf32> {dsv4.name = "scores", dsv4.dims = ["rows", "cache.pages"]},
    %indices: tensor<?x8xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %rows: tensor<?x8x512xbf16> {dsv4.name = "gathered", dsv4.dims = ["rows", "", ""]})
    -> (tensor<?x8xi32>, tensor<?x8x512xbf16>) attributes {dsv4.policies = {rows = #dsv4.policy<bucket>, cache.pages = #dsv4.policy<bucket, multiple = 4>}} {
  %0 = dsv4.topk %scores order sorted outs(%indices : tensor<?x8xi32>) : tensor<?x?xf32>
  %1 = dsv4.paged_gather %cache[%0] outs(%rows : tensor<?x8x512xbf16>) : !cache, tensor<?x8xi32>
  return %0, %1 : tensor<?x8xi32>, tensor<?x8x512xbf16>
}
