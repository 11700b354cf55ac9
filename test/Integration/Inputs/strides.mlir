// Every op with operands and results that are not contiguous.

#any = #dsv4.strides<[?]>
#any2 = #dsv4.strides<[?, ?]>
#bf16 = #dsv4.strides<[?], align = 2>
#word = #dsv4.strides<[?], align = 4>
#byte = #dsv4.strides<[?], align = 1>
#nvfp4 = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>]>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<limit = reciprocal>
#up = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>
!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!index = !dsv4.cache<16 x <[<"k" : 128 x f8E4M3FN in array>, <"s" : 1 x f32 in array scales "k" per row>]>>
!state = !dsv4.cache<8 x <[<"values" : 64 x f32 in row>, <"scores" : 64 x f32 in row>]>>
!online = !dsv4.cache<16 x <[<"max" : 64 x f32 in row>, <"sum" : 64 x f32 in row>, <"acc" : 64 x f32 in row>]>>

func.func @norm(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #any},
                %w: tensor<512xbf16> {dsv4.name = "w"},
                %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""], dsv4.strides = #any})
    -> tensor<?x512xbf16> {
  %0 = dsv4.rms_norm %x weight(%w : tensor<512xbf16>) outs(%o : tensor<?x512xbf16>) {eps = 1.0e-6 : f32}
      : tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// Of one element's alignment.
func.func @norm_unaligned(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #bf16},
                %w: tensor<512xbf16> {dsv4.name = "w", dsv4.strides = #dsv4.strides<[], align = 2>},
                %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""], dsv4.strides = #bf16})
    -> tensor<?x512xbf16> {
  %0 = dsv4.rms_norm %x weight(%w : tensor<512xbf16>) outs(%o : tensor<?x512xbf16>) {eps = 1.0e-6 : f32}
      : tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// Heads of tokens: one axis contiguous, both run-time ones, and none.
func.func @heads(%x: tensor<?x24x128xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", "", ""], dsv4.strides = #dsv4.strides<[?, 256]>},
                 %o: tensor<?x24x128xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", "", ""], dsv4.strides = #any2})
    -> tensor<?x24x128xbf16> {
  %0 = dsv4.rms_norm %x outs(%o : tensor<?x24x128xbf16>) {eps = 1.0e-6 : f32} : tensor<?x24x128xbf16>
  return %0 : tensor<?x24x128xbf16>
}

func.func @deep(%x: tensor<?x3x?x128xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", "", "heads", ""], dsv4.strides = #dsv4.strides<[?, ?, ?]>},
                %o: tensor<?x3x?x128xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", "", "heads", ""]})
    -> tensor<?x3x?x128xbf16> {
  %0 = dsv4.hadamard %x outs(%o : tensor<?x3x?x128xbf16>) {scale = 0.0883883461 : f32} : tensor<?x3x?x128xbf16>
  return %0 : tensor<?x3x?x128xbf16>
}

func.func @rope(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #any},
                %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""], dsv4.strides = #word},
                %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["rows"]},
                %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""], dsv4.strides = #bf16})
    -> tensor<?x512xbf16> {
  %0 = dsv4.rope %x table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>) outs(%o : tensor<?x512xbf16>)
      : tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

func.func @quantize(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["rows", ""], dsv4.strides = #bf16},
                    %d: tensor<?x512xf4E2M1FN> {dsv4.name = "d", dsv4.dims = ["rows", ""], dsv4.strides = #byte},
                    %s: tensor<?x32xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""], dsv4.strides = #byte})
    -> (tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>) {
  %0, %1 = dsv4.quantize %x outs(%d, %s : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>)
      {format = #nvfp4, recipe = #recipe} : tensor<?x512xbf16>
  return %0, %1 : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>
}

func.func @dequantize(%d: tensor<?x512xf4E2M1FN> {dsv4.name = "d", dsv4.dims = ["rows", ""], dsv4.strides = #any},
                      %s: tensor<?x32xf8E4M3FN> {dsv4.name = "s", dsv4.dims = ["rows", ""], dsv4.strides = #byte},
                      %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""], dsv4.strides = #any})
    -> tensor<?x512xbf16> {
  %0 = dsv4.dequantize %d scales(%s : tensor<?x32xf8E4M3FN>) outs(%o : tensor<?x512xbf16>) {format = #nvfp4}
      : tensor<?x512xf4E2M1FN>
  return %0 : tensor<?x512xbf16>
}

func.func @gather(%c: !cache {dsv4.name = "c", dsv4.strides = #any},
                  %i: tensor<?x?xi32> {dsv4.name = "i", dsv4.dims = ["tokens", "topk"], dsv4.strides = #word},
                  %t: tensor<?x?xi32> {dsv4.name = "t", dsv4.dims = ["requests", "max_pages"], dsv4.strides = #word},
                  %r: tensor<?xi32> {dsv4.name = "r", dsv4.dims = ["tokens"]},
                  %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["tokens"]},
                  %o: tensor<?x?x512xbf16> {dsv4.name = "o", dsv4.dims = ["tokens", "topk", ""], dsv4.strides = #any2},
                  %m: tensor<?x?xi1> {dsv4.name = "m", dsv4.dims = ["tokens", "topk"], dsv4.strides = #byte})
    -> (tensor<?x?x512xbf16>, tensor<?x?xi1>) {
  %0, %1 = dsv4.paged_gather %c[%i] pages(%t : tensor<?x?xi32>) requests(%r : tensor<?xi32>) lengths(%l : tensor<?xi32>)
      outs(%o : tensor<?x?x512xbf16>) mask(%m : tensor<?x?xi1>) : !cache, tensor<?x?xi32>
  return %0, %1 : tensor<?x?x512xbf16>, tensor<?x?xi1>
}

// A page of a slab, and arrays with pages of their own.
func.func @slab(%c: !cache {dsv4.name = "c", dsv4.strides = #dsv4.strides<[1300480]>},
                %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
                %o: tensor<?x512xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""]}) -> tensor<?x512xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x512xbf16>) : !cache, tensor<?xi32>
  return %0 : tensor<?x512xbf16>
}

func.func @arrays(%c: !index {dsv4.name = "c", dsv4.strides = #dsv4.strides<[?], align = 4>},
                  %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["rows"]},
                  %o: tensor<?x128xbf16> {dsv4.name = "o", dsv4.dims = ["rows", ""], dsv4.strides = #bf16})
    -> tensor<?x128xbf16> {
  %0 = dsv4.paged_gather %c[%i] outs(%o : tensor<?x128xbf16>) : !index, tensor<?xi32>
  return %0 : tensor<?x128xbf16>
}

func.func @append_arrays(%c: !index {dsv4.name = "c", dsv4.strides = #any},
                         %i: tensor<?xi32> {dsv4.name = "i", dsv4.dims = ["tokens"]},
                         %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["tokens", ""], dsv4.strides = #byte},
                         %s: tensor<?x1xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""], dsv4.strides = #word}) {
  dsv4.paged_append %c[%i] unique fields(%k, %s : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>) : !index, tensor<?xi32>
  return
}

func.func @append(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""], dsv4.strides = #any},
                  %t: tensor<?x64xf32> {dsv4.name = "t", dsv4.dims = ["positions", ""], dsv4.strides = #any},
                  %p: tensor<?xi32> {dsv4.name = "p", dsv4.dims = ["tokens"]},
                  %r: tensor<?xi32> {dsv4.name = "r", dsv4.dims = ["tokens"]},
                  %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["requests"]},
                  %pages: tensor<?x?xi32> {dsv4.name = "pages", dsv4.dims = ["requests", "max_pages"], dsv4.strides = #word},
                  %c: !cache {dsv4.name = "c", dsv4.strides = #any}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %x, %c0 : tensor<?x512xbf16>
  %row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %rotated = dsv4.rope %x table(%t : tensor<?x64xf32>) positions(%p : tensor<?xi32>) outs(%row : tensor<?x512xbf16>)
      : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #up} : tensor<?x512xbf16>
  dsv4.paged_append %c[%p] ring 128 requests(%r : tensor<?xi32>) pages(%pages : tensor<?x?xi32>) lengths(%l : tensor<?xi32>)
      fields(%payload, %rotated, %scales : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}

func.func @compress(%v: tensor<?x64xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""], dsv4.strides = #any},
                    %s: tensor<?x64xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""], dsv4.strides = #word},
                    %b: tensor<4x64xf32> {dsv4.name = "b", dsv4.strides = #word},
                    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""], dsv4.strides = #word},
                    %pages: tensor<?x?xi32> {dsv4.name = "pages", dsv4.dims = ["requests", "max_pages"], dsv4.strides = #word},
                    %state: !state {dsv4.name = "state", dsv4.strides = #any},
                    %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["entries", ""], dsv4.strides = #bf16})
    -> tensor<?x64xbf16> {
  %0 = dsv4.compress %v, %s window 4 plan(%plan : tensor<?x4xi32>) bias(%b : tensor<4x64xf32>) state(%state : !state)
      pages(%pages : tensor<?x?xi32>) outs(%o : tensor<?x64xbf16>) : tensor<?x64xf32>, tensor<?x64xf32>
  return %0 : tensor<?x64xbf16>
}

// The halves of one product: the scores alone are strided.
func.func @halves(%v: tensor<?x64xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""]},
                  %s: tensor<?x64xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""], dsv4.strides = #dsv4.strides<[512]>},
                  %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
                  %o: tensor<?x32xf32> {dsv4.name = "o", dsv4.dims = ["entries", ""]}) -> tensor<?x32xf32> {
  %0 = dsv4.compress %v, %s window 4 overlap plan(%plan : tensor<?x4xi32>) outs(%o : tensor<?x32xf32>)
      : tensor<?x64xf32>, tensor<?x64xf32>
  return %0 : tensor<?x32xf32>
}

func.func @online(%v: tensor<?x64xf32> {dsv4.name = "v", dsv4.dims = ["tokens", ""], dsv4.strides = #word},
                  %s: tensor<?x64xf32> {dsv4.name = "s", dsv4.dims = ["tokens", ""], dsv4.strides = #any},
                  %b: tensor<32x64xf32> {dsv4.name = "b", dsv4.strides = #any},
                  %plan: tensor<?x5xi32> {dsv4.name = "plan", dsv4.dims = ["segments", ""], dsv4.strides = #word},
                  %state: !online {dsv4.name = "state", dsv4.strides = #any},
                  %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["segments", ""], dsv4.strides = #any})
    -> tensor<?x64xbf16> {
  %0 = dsv4.compress %v, %s window 32 algorithm online plan(%plan : tensor<?x5xi32>) bias(%b : tensor<32x64xf32>)
      state(%state : !online) outs(%o : tensor<?x64xbf16>) : tensor<?x64xf32>, tensor<?x64xf32>
  return %0 : tensor<?x64xbf16>
}

func.func @topk(%s: tensor<?x?xf32> {dsv4.name = "s", dsv4.dims = ["queries", "columns"], dsv4.strides = #word},
                %l: tensor<?xi32> {dsv4.name = "l", dsv4.dims = ["queries"]},
                %t: tensor<?x?xi32> {dsv4.name = "t", dsv4.dims = ["requests", "pages"], dsv4.strides = #word},
                %r: tensor<?xi32> {dsv4.name = "r", dsv4.dims = ["queries"]},
                %i: tensor<?x64xi32> {dsv4.name = "i", dsv4.dims = ["queries", ""], dsv4.strides = #word},
                %v: tensor<?x64xf32> {dsv4.name = "v", dsv4.dims = ["queries", ""], dsv4.strides = #any},
                %slots: tensor<?x64xi32> {dsv4.name = "slots", dsv4.dims = ["queries", ""], dsv4.strides = #any})
    -> (tensor<?x64xi32>, tensor<?x64xf32>, tensor<?x64xi32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>, queries = #dsv4.policy<bucket>}} {
  %0, %1, %2 = dsv4.topk %s lengths(%l : tensor<?xi32>) pages(%t : tensor<?x?xi32>) page 16 requests(%r : tensor<?xi32>)
      outs(%i, %v, %slots : tensor<?x64xi32>, tensor<?x64xf32>, tensor<?x64xi32>) : tensor<?x?xf32>
  return %0, %1, %2 : tensor<?x64xi32>, tensor<?x64xf32>, tensor<?x64xi32>
}

// Whole vectors of columns, of rows that begin at any element.
func.func @columns(%s: tensor<?x?xbf16> {dsv4.name = "s", dsv4.dims = ["queries", "columns"], dsv4.strides = #bf16},
                   %i: tensor<?x16xi32> {dsv4.name = "i", dsv4.dims = ["queries", ""], dsv4.strides = #any})
    -> tensor<?x16xi32>
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket, multiple = 8>, queries = #dsv4.policy<bucket>}} {
  %0 = dsv4.topk %s outs(%i : tensor<?x16xi32>) : tensor<?x?xbf16>
  return %0 : tensor<?x16xi32>
}

func.func @router(%logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""], dsv4.strides = #word},
                  %e: tensor<?x6xi32> {dsv4.name = "e", dsv4.dims = ["tokens", ""], dsv4.strides = #word},
                  %w: tensor<?x6xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""], dsv4.strides = #any})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>) : tensor<?x256xf32>
  %chosen = dsv4.topk %scores order sorted outs(%e : tensor<?x6xi32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 1.5 outs(%w : tensor<?x6xf32>)
      : tensor<?x256xf32>, tensor<?x6xi32>
  return %chosen, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}

func.func @hash(%t: tensor<?x6xi32> {dsv4.name = "t", dsv4.dims = ["vocabulary", ""], dsv4.strides = #any},
                %ids: tensor<?xi32> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
                %logits: tensor<?x256xf32> {dsv4.name = "logits", dsv4.dims = ["tokens", ""], dsv4.strides = #any},
                %e: tensor<?x6xi32> {dsv4.name = "e", dsv4.dims = ["tokens", ""], dsv4.strides = #any},
                %w: tensor<?x6xf32> {dsv4.name = "w", dsv4.dims = ["tokens", ""], dsv4.strides = #word})
    -> (tensor<?x6xi32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x256xf32>
  %row = tensor.empty(%tokens) : tensor<?x256xf32>
  %found = dsv4.lookup %t[%ids] outs(%e : tensor<?x6xi32>) : tensor<?x6xi32>, tensor<?xi32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x256xf32>) : tensor<?x256xf32>
  %shares = dsv4.route_weights %scores[%found] renormalize scale 1.5 outs(%w : tensor<?x6xf32>)
      : tensor<?x256xf32>, tensor<?x6xi32>
  return %found, %shares : tensor<?x6xi32>, tensor<?x6xf32>
}
