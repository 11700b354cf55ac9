// Decodes selected rows of an NVFP4 cache that is kept in three arrays, without
// a page table: an index is the entry itself.
//
//   dsv4-run examples/dequant_nvfp4_selective.mlir --random=1 --check \
//     --dim k=512 --dim cache.pages=40

!cache = !dsv4.cache<128 x #dsv4.record<seed_292>>

func.func @dequant_nvfp4_selective(
    %cache: !cache {dsv4.name = "cache"},
    %indices: tensor<?xi32> {dsv4.name = "indices", dsv4.dims = ["k"]},
    %out: tensor<?x512xbf16> {dsv4.name = "out", dsv4.dims = ["k", ""]})
    -> tensor<?x512xbf16> {
  %rows = dsv4.paged_gather %cache[%indices]
      outs(%out : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return %rows : tensor<?x512xbf16>
}
