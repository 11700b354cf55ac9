// Rows to the slots of a pool; the caller promises that no slot comes twice.
!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>
func.func @store(%c: !cache {dsv4.name = "pool"}, %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
                 %rows: tensor<?x64xbf16> {dsv4.name = "rows", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %c[%slot] unique fields(%rows : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}
