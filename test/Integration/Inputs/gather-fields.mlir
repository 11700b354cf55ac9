// Every kind of field, copied as it is stored: interleaved scales, the high element first, metadata, arrays, padding.
!cache = !dsv4.cache<4 x <[<"a" : 64 x f4E2M1FN in row high_first>, <"s" : 8 x f8E4M3FN in row scales "a" per 8 interleave 4 pad 8>,
                           <"b" : 16 x bf16 in row>, <"e" : 2 x f8E8M0FNU in tail scales "a" per 32 pad 2>,
                           <"f" : 1 x f32 in tail scales "a" per row>, <"i" : 32 x i4 in array>,
                           <"g" : 1 x bf16 in array scales "i" per row>, <"p" : 1 x i32 in array>,
                           <"all" : 1 x f32 in array scales "b" per tensor>], align 16>>
func.func @fields(%cache: !cache {dsv4.name = "cache"},
                  %index: tensor<?x?xi32> {dsv4.name = "index", dsv4.dims = ["tokens", "topk"]},
                  %list: tensor<?xi32> {dsv4.name = "list", dsv4.dims = ["pages"]},
                  %indptr: tensor<?xi32> {dsv4.name = "indptr", dsv4.dims = ["indptr"]},
                  %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
                  %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
                  %a: tensor<?x?x64xf4E2M1FN> {dsv4.name = "a", dsv4.dims = ["tokens", "topk", ""]},
                  %s: tensor<?x?x8xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["tokens", "topk", ""]},
                  %b: tensor<?x?x16xbf16> {dsv4.name = "b", dsv4.dims = ["tokens", "topk", ""]},
                  %e: tensor<?x?x2xf8E8M0FNU> {dsv4.name = "e", dsv4.dims = ["tokens", "topk", ""]},
                  %f: tensor<?x?xf32> {dsv4.name = "f", dsv4.dims = ["tokens", "topk"]},
                  %i: tensor<?x?x32xi4> {dsv4.name = "i", dsv4.dims = ["tokens", "topk", ""]},
                  %g: tensor<?x?x1xbf16> {dsv4.name = "g", dsv4.dims = ["tokens", "topk", ""]},
                  %p: tensor<?x?xi32> {dsv4.name = "p", dsv4.dims = ["tokens", "topk"]},
                  %mask: tensor<?x?xi1> {dsv4.name = "mask", dsv4.dims = ["tokens", "topk"]})
    -> (tensor<?x?x64xf4E2M1FN>, tensor<?x?x8xf8E4M3FN>, tensor<?x?x16xbf16>, tensor<?x?x2xf8E8M0FNU>, tensor<?x?xf32>,
        tensor<?x?x32xi4>, tensor<?x?x1xbf16>, tensor<?x?xi32>, tensor<?x?xi1>) {
  %0:9 = dsv4.paged_gather %cache[%index] pages(%list : tensor<?xi32>) indptr(%indptr : tensor<?xi32>)
      requests(%request : tensor<?xi32>) lengths per request(%length : tensor<?xi32>)
      fields(%a, %s, %b, %e, %f, %i, %g, %p
             : tensor<?x?x64xf4E2M1FN>, tensor<?x?x8xf8E4M3FN>, tensor<?x?x16xbf16>, tensor<?x?x2xf8E8M0FNU>,
               tensor<?x?xf32>, tensor<?x?x32xi4>, tensor<?x?x1xbf16>, tensor<?x?xi32>)
      mask(%mask : tensor<?x?xi1>) : !cache, tensor<?x?xi32>
  return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7, %0#8
      : tensor<?x?x64xf4E2M1FN>, tensor<?x?x8xf8E4M3FN>, tensor<?x?x16xbf16>, tensor<?x?x2xf8E8M0FNU>, tensor<?x?xf32>,
        tensor<?x?x32xi4>, tensor<?x?x1xbf16>, tensor<?x?xi32>, tensor<?x?xi1>
}
