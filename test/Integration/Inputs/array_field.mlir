!cache = !dsv4.cache<4 x <[
    <"v" : 64 x f8E4M3FN in row>,
    <"s" : 2 x f32 in array scales "v" per 32>]>>

func.func @append(
    %slots: tensor<?xi32> {dsv4.name = "slots", dsv4.dims = ["tokens"]},
    %v: tensor<?x64xf8E4M3FN> {dsv4.name = "v", dsv4.dims = ["tokens", ""]},
    %s: tensor<?x2xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""]},
    %cache: !cache {dsv4.name = "cache"}) {
  dsv4.paged_append %cache[%slots] unique
      fields(%v, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf32>) : !cache, tensor<?xi32>
  return
}
