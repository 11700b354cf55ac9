// Gathers entries by index, of the 288-byte FP4 record of DeepSeek-V4.1.
//
//   dsv4-run examples/gather.mlir --random=1 --check --dim k=64 --dim cache.pages=16

!cache = !dsv4.cache<64 x <v41_fp4_288>>

func.func @gather(
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["k"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["k", ""]})
    -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %cache[%indices] outs(%out : tensor<?x512xbf16>)
      : !cache, tensor<?xi32>
  return %rows : tensor<?x512xbf16>
}
