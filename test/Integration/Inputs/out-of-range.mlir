// Operands whose indices may be out of range.

!cache = !dsv4.cache<4 x <[<"a" : 64 x bf16 in row>]>>

func.func @ragged(%c: !cache {dsv4.name = "c"},
                  %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
                  %cu: tensor<?xi32> {dsv4.name = "cu", dsv4.dims = ["starts"]},
                  %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x64xbf16> {
  %r = dsv4.paged_gather %c pages(%table : tensor<?x?xi32>) cu_seq_lens(%cu : tensor<?xi32>)
      outs(%o : tensor<?x64xbf16>) : !cache
  return %r : tensor<?x64xbf16>
}

func.func @starts(%c: !cache {dsv4.name = "c"},
                  %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
                  %first: tensor<?xi32> {dsv4.name = "first", dsv4.dims = ["requests"]},
                  %lens: tensor<?xi32> {dsv4.name = "lens", dsv4.dims = ["requests"]},
                  %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x64xbf16> {
  %r = dsv4.paged_gather %c pages(%table : tensor<?x?xi32>) row_starts(%first : tensor<?xi32>)
      seq_lens(%lens : tensor<?xi32>) outs(%o : tensor<?x64xbf16>) : !cache
  return %r : tensor<?x64xbf16>
}

func.func @slots(%c: !cache {dsv4.name = "c"}, %i: tensor<?xi64> {dsv4.name = "i", dsv4.dims = ["rows"]},
                 %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x64xbf16> {
  %r = dsv4.paged_gather %c[%i] outs(%o : tensor<?x64xbf16>) : !cache, tensor<?xi64>
  return %r : tensor<?x64xbf16>
}

func.func @listed(%c: !cache {dsv4.name = "c"}, %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["tokens"]},
                  %list: tensor<?xi32> {dsv4.name = "list", dsv4.dims = ["listed"]},
                  %indptr: tensor<?xi32> {dsv4.name = "indptr", dsv4.dims = ["requests_1"]},
                  %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
                  %x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %c[%p] unique requests(%request : tensor<?xi32>) pages(%list : tensor<?xi32>)
      indptr(%indptr : tensor<?xi32>) fields(%x : tensor<?x64xbf16>) : !cache, tensor<?xi32>
  return
}

func.func @plan(%length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
                %cu: tensor<?xi32> {dsv4.name = "cu", dsv4.dims = ["starts"]},
                %entries: tensor<?xi32> {dsv4.name = "entries", dsv4.dims = ["starts"]},
                %p: tensor<?x4xi32> {dsv4.name = "p", dsv4.dims = ["rows", ""]}) -> tensor<?x4xi32> {
  %r = dsv4.compress_plan window 4 lengths(%length : tensor<?xi32>) starts(%cu : tensor<?xi32>)
      entry_starts(%entries : tensor<?xi32>) outs(%p : tensor<?x4xi32>)
  return %r : tensor<?x4xi32>
}

func.func @topk(%s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["rows", "columns"]},
                %first: tensor<?xi32> {dsv4.name = "first", dsv4.dims = ["rows"]},
                %end: tensor<?xi32> {dsv4.name = "end", dsv4.dims = ["rows"]},
                %i: tensor<?x4xi32> {dsv4.name = "i", dsv4.dims = ["rows", ""]}) -> tensor<?x4xi32> {
  %r = dsv4.topk %s starts(%first : tensor<?xi32>) ends(%end : tensor<?xi32>) outs(%i : tensor<?x4xi32>)
      : tensor<?x?xf32>
  return %r : tensor<?x4xi32>
}

// Slots that are byte offsets: those of slots 3 and 0 of page 0, and of slot 0 of page 1.
func.func @offsets(%c: !dsv4.cache<64 x <index_fp8_132>> {dsv4.name = "c"},
                   %at: tensor<?xi64> {dsv4.name = "at", dsv4.dims = ["rows"]},
                   %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["rows", ""]},
                   %s: tensor<?x1xf32> {dsv4.name = "s", dsv4.dims = ["rows", ""]})
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) {
  %r, %scales = dsv4.paged_gather %c[%at] in_bytes
      fields(%k, %s : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>)
      : !dsv4.cache<64 x <index_fp8_132>>, tensor<?xi64>
  return %r, %scales : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
}
