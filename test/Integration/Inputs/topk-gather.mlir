!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
func.func @select_and_gather(
    %scores: tensor<?x640xf32> {dsv4.name = "scores", dsv4.dims = ["rows", ""]},
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?x8xi32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %rows: tensor<?x8x512xbf16> {dsv4.name = "gathered", dsv4.dims = ["rows", "", ""]})
    -> (tensor<?x8xi32>, tensor<?x8x512xbf16>) {
  %0 = dsv4.topk %scores order sorted outs(%indices : tensor<?x8xi32>) : tensor<?x640xf32>
  %1 = dsv4.paged_gather %cache[%0] outs(%rows : tensor<?x8x512xbf16>) : !cache, tensor<?x8xi32>
  return %0, %1 : tensor<?x8xi32>, tensor<?x8x512xbf16>
}
