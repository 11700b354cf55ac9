// A gather from pages of five slots before a pool whose plan has five columns.
!state = !dsv4.cache<16 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>, <"acc" : 512 x f32 in row>]>>
!src = !dsv4.cache<5 x <[<"a" : 512 x bf16 in row>]>>
!cache = !dsv4.cache<64 x <[<"a" : 512 x bf16 in row>, <"b" : 512 x bf16 in row>]>>
func.func @mixw(
    %src: !src {dsv4.name = "src"},
    %index: tensor<?xi32> {dsv4.name = "index", dsv4.dims = ["segments"]},
    %values: tensor<?x512xbf16> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x512xbf16> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x5xi32> {dsv4.name = "plan", dsv4.dims = ["segments", ""]},
    %slot: tensor<?xi32> {dsv4.name = "slot", dsv4.dims = ["segments"]},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %segments = tensor.dim %plan, %c0 : tensor<?x5xi32>
  %row = tensor.empty(%segments) : tensor<?x512xbf16>
  %r = dsv4.paged_gather %src[%index] outs(%row : tensor<?x512xbf16>) : !src, tensor<?xi32>
  %p1 = dsv4.compress %values, %scores window 128 algorithm online
      plan(%plan : tensor<?x5xi32>) state(%state : !state)
      outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>, tensor<?x512xbf16>
  dsv4.paged_append %cache[%slot] unique
      fields(%p1, %r : tensor<?x512xbf16>, tensor<?x512xbf16>)
      columns [0, 0] : !cache, tensor<?xi32>
  return
}
