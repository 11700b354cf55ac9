// Integers of 64 bits as operands and results, and f16 wherever bf16 may be.
!mixed = !dsv4.cache<4 x <[<"a" : 32 x f16 in row>, <"b" : 32 x f8E4M3FN in row>,
                           <"c" : 32 x bf16 in row>]>>
!half = !dsv4.cache<4 x <[<"a" : 64 x f16 in row>]>>
!state = !dsv4.cache<8 x <[<"values" : 64 x f16 in row>, <"scores" : 64 x f16 in row>]>>
!sums = !dsv4.cache<4 x <[<"max" : 64 x f32 in row>, <"sum" : 64 x f32 in row>,
                          <"acc" : 64 x f32 in row>]>>

func.func @gather(%cache: !dsv4.cache<64 x <v4_584>> {dsv4.name = "cache"},
    %index: tensor<?x?xi64> {dsv4.name = "index", dsv4.dims = ["tokens", "topk"]},
    %table: tensor<?x?xi64> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi64> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi64> {dsv4.name = "length", dsv4.dims = ["tokens"]},
    %out: tensor<?x?x512xf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]},
    %mask: tensor<?x?xi1> {dsv4.name = "mask", dsv4.dims = ["tokens", "topk"]})
    -> (tensor<?x?x512xf16>, tensor<?x?xi1>) {
  %rows, %valid = dsv4.paged_gather %cache[%index] pages(%table : tensor<?x?xi64>)
      requests(%request : tensor<?xi64>) lengths(%length : tensor<?xi64>)
      outs(%out : tensor<?x?x512xf16>) mask(%mask : tensor<?x?xi1>)
      : !dsv4.cache<64 x <v4_584>>, tensor<?x?xi64>
  return %rows, %valid : tensor<?x?x512xf16>, tensor<?x?xi1>
}

func.func @gather_mixed(%cache: !mixed {dsv4.name = "cache"},
    %index: tensor<?x?xi32> {dsv4.name = "index", dsv4.dims = ["tokens", "topk"]},
    %table: tensor<?x?xi64> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi64> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %out: tensor<?x?x96xf16> {dsv4.name = "out", dsv4.dims = ["tokens", "topk", ""]},
    %wide: tensor<?x?x96xf32> {dsv4.name = "wide", dsv4.dims = ["tokens", "topk", ""]})
    -> (tensor<?x?x96xf16>, tensor<?x?x96xf32>) {
  %rows = dsv4.paged_gather %cache[%index] pages(%table : tensor<?x?xi64>)
      requests(%request : tensor<?xi32>) lengths per request(%length : tensor<?xi64>)
      outs(%out : tensor<?x?x96xf16>) : !mixed, tensor<?x?xi32>
  %floats = dsv4.paged_gather %cache[%index] pages(%table : tensor<?x?xi64>)
      requests(%request : tensor<?xi32>) lengths per request(%length : tensor<?xi64>)
      outs(%wide : tensor<?x?x96xf32>) : !mixed, tensor<?x?xi32>
  return %rows, %floats : tensor<?x?x96xf16>, tensor<?x?x96xf32>
}

// Of one token, whose length is of rank 0.
func.func @gather_one(%cache: !half {dsv4.name = "cache"},
    %index: tensor<?xi64> {dsv4.name = "index", dsv4.dims = ["topk"]},
    %table: tensor<?xi64> {dsv4.name = "table", dsv4.dims = ["pages"]},
    %length: tensor<i64> {dsv4.name = "length"},
    %out: tensor<?x64xf32> {dsv4.name = "out", dsv4.dims = ["topk", ""]}) -> tensor<?x64xf32> {
  %rows = dsv4.paged_gather %cache[%index] pages(%table : tensor<?xi64>)
      lengths(%length : tensor<i64>) outs(%out : tensor<?x64xf32>) : !half, tensor<?xi64>
  return %rows : tensor<?x64xf32>
}

// Slots that may repeat.
func.func @append(%cache: !half {dsv4.name = "cache"},
    %slot: tensor<?xi64> {dsv4.name = "slot", dsv4.dims = ["tokens"]},
    %x: tensor<?x64xf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %cache[%slot] fields(%x : tensor<?x64xf16>) : !half, tensor<?xi64>
  return
}

func.func @append_ring(%cache: !half {dsv4.name = "cache"}, %pool: !half {dsv4.name = "pool"},
    %position: tensor<?xi64> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %table: tensor<?x2xi64> {dsv4.name = "table", dsv4.dims = ["requests", ""]},
    %request: tensor<?xi64> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi64> {dsv4.name = "length", dsv4.dims = ["tokens"]},
    %x: tensor<?x64xf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %cache[%position] ring 8 requests(%request : tensor<?xi64>)
      pages(%table : tensor<?x2xi64>) lengths per token(%length : tensor<?xi64>)
      fields(%x : tensor<?x64xf16>) : !half, tensor<?xi64>
  dsv4.paged_append %pool[%position] ring 4 requests(%request : tensor<?xi64>)
      lengths per token(%length : tensor<?xi64>)
      fields(%x : tensor<?x64xf16>) : !half, tensor<?xi64>
  return
}

func.func @append_requests(%cache: !half {dsv4.name = "cache"},
    %position: tensor<?xi64> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi64> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %x: tensor<?x64xf16> {dsv4.name = "x", dsv4.dims = ["tokens", ""]}) {
  dsv4.paged_append %cache[%position] ring 8 requests(%request : tensor<?xi32>)
      lengths(%length : tensor<?xi64>) fields(%x : tensor<?x64xf16>) : !half, tensor<?xi64>
  return
}

func.func @rows(%x: tensor<?x128xf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %weight: tensor<128xf16> {dsv4.name = "weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?xi64> {dsv4.name = "position", dsv4.dims = ["rows"]},
    %data: tensor<?x128xf8E4M3FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x2xf8E8M0FNU> {dsv4.name = "scales", dsv4.dims = ["rows", ""]},
    %out: tensor<?x128xf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]})
    -> (tensor<?x128xf16>, tensor<?x128xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %count = tensor.dim %x, %c0 : tensor<?x128xf16>
  %row = tensor.empty(%count) : tensor<?x128xf16>
  %normed = dsv4.rms_norm %x weight(%weight : tensor<128xf16>) outs(%row : tensor<?x128xf16>)
      {eps = 1.0e-06 : f32} : tensor<?x128xf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi64>) outs(%row : tensor<?x128xf16>) : tensor<?x128xf16>
  %rows = dsv4.hadamard %rotated outs(%out : tensor<?x128xf16>) {scale = 0.0883883461 : f32}
      : tensor<?x128xf16>
  %q, %s = dsv4.quantize %rows
      outs(%data, %scales : tensor<?x128xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      {format = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>,
       recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>}
      : tensor<?x128xf16>
  return %rows, %q, %s : tensor<?x128xf16>, tensor<?x128xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
}

func.func @rope(%x: tensor<?x3x96xf16> {dsv4.name = "x", dsv4.dims = ["rows", "", ""]},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %position: tensor<?x3xi64> {dsv4.name = "position", dsv4.dims = ["rows", ""]},
    %out: tensor<?x3x96xbf16> {dsv4.name = "out", dsv4.dims = ["rows", "", ""]})
    -> tensor<?x3x96xbf16> {
  %rotated = dsv4.rope %x inverse table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?x3xi64>) outs(%out : tensor<?x3x96xbf16>) : tensor<?x3x96xf16>
  return %rotated : tensor<?x3x96xbf16>
}

// The scales of f16 itself, and payload of 4 bits.
func.func @quantize(%x: tensor<?x96xf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %data: tensor<?x96xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x6xf8E4M3FN> {dsv4.name = "scales", dsv4.dims = ["rows", ""]},
    %outer: tensor<?xf32> {dsv4.name = "outer", dsv4.dims = ["rows"]},
    %cast: tensor<?x96xf8E4M3FN> {dsv4.name = "cast", dsv4.dims = ["rows", ""]})
    -> (tensor<?x96xf4E2M1FN>, tensor<?x6xf8E4M3FN>, tensor<?xf32>, tensor<?x96xf8E4M3FN>) {
  %q, %s, %o = dsv4.quantize %x
      outs(%data, %scales, %outer : tensor<?x96xf4E2M1FN>, tensor<?x6xf8E4M3FN>, tensor<?xf32>)
      {format = #dsv4.format<f4E2M1FN, [<f8E4M3FN per 16>, <f32 per row>]>,
       recipe = #dsv4.quantizer<limit = divide, rounding = nearest>} : tensor<?x96xf16>
  %c = dsv4.quantize %x outs(%cast : tensor<?x96xf8E4M3FN>) {format = #dsv4.format<f8E4M3FN>}
      : tensor<?x96xf16>
  return %q, %s, %o, %c
      : tensor<?x96xf4E2M1FN>, tensor<?x6xf8E4M3FN>, tensor<?xf32>, tensor<?x96xf8E4M3FN>
}

func.func @dequantize(%data: tensor<?x96xf4E2M1FN> {dsv4.name = "data", dsv4.dims = ["rows", ""]},
    %scales: tensor<?x6xf16> {dsv4.name = "scales", dsv4.dims = ["rows", ""]},
    %x: tensor<?x96xf16> {dsv4.name = "x", dsv4.dims = ["rows", ""]},
    %out: tensor<?x96xf16> {dsv4.name = "out", dsv4.dims = ["rows", ""]},
    %same: tensor<?x96xbf16> {dsv4.name = "same", dsv4.dims = ["rows", ""]})
    -> (tensor<?x96xf16>, tensor<?x96xbf16>) {
  %values = dsv4.dequantize %data scales(%scales : tensor<?x6xf16>)
      outs(%out : tensor<?x96xf16>) {format = #dsv4.format<f4E2M1FN, [<f16 per 16>]>}
      : tensor<?x96xf4E2M1FN>
  %copied = dsv4.dequantize %x outs(%same : tensor<?x96xbf16>) {format = #dsv4.format<f16>}
      : tensor<?x96xf16>
  return %values, %copied : tensor<?x96xf16>, tensor<?x96xbf16>
}

func.func @compress(%values: tensor<?x64xf16> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x64xf16> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x4xi64> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %table: tensor<?x?xi64> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %state: !state {dsv4.name = "state"},
    %out: tensor<?x64xf16> {dsv4.name = "out", dsv4.dims = ["entries", ""]})
    -> tensor<?x64xf16> {
  %entries = dsv4.compress %values, %scores window 4 plan(%plan : tensor<?x4xi64>)
      state(%state : !state) pages(%table : tensor<?x?xi64>) outs(%out : tensor<?x64xf16>)
      : tensor<?x64xf16>, tensor<?x64xf16>
  return %entries : tensor<?x64xf16>
}

func.func @online(%values: tensor<?x64xf16> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x64xf16> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %plan: tensor<?x5xi64> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %state: !sums {dsv4.name = "state"},
    %out: tensor<?x64xf16> {dsv4.name = "out", dsv4.dims = ["entries", ""]})
    -> tensor<?x64xf16> {
  %entries = dsv4.compress %values, %scores window 8 algorithm online
      plan(%plan : tensor<?x5xi64>) state(%state : !sums) outs(%out : tensor<?x64xf16>)
      : tensor<?x64xf16>, tensor<?x64xf16>
  return %entries : tensor<?x64xf16>
}

func.func @topk(%scores: tensor<?x?xf16> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %length: tensor<?xi64> {dsv4.name = "length", dsv4.dims = ["rows"]},
    %table: tensor<?x?xi64> {dsv4.name = "table", dsv4.dims = ["requests", "pages"]},
    %request: tensor<?xi64> {dsv4.name = "request", dsv4.dims = ["rows"]},
    %indices: tensor<?x24xui32> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x24xf16> {dsv4.name = "values", dsv4.dims = ["rows", ""]},
    %slots: tensor<?x24xi64> {dsv4.name = "slots", dsv4.dims = ["rows", ""]})
    -> (tensor<?x24xui32>, tensor<?x24xf16>, tensor<?x24xi64>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>}} {
  %chosen, %best, %where = dsv4.topk %scores lengths(%length : tensor<?xi64>)
      pages(%table : tensor<?x?xi64>) page 16 requests(%request : tensor<?xi64>)
      outs(%indices, %values, %slots : tensor<?x24xui32>, tensor<?x24xf16>, tensor<?x24xi64>)
      : tensor<?x?xf16>
  return %chosen, %best, %where : tensor<?x24xui32>, tensor<?x24xf16>, tensor<?x24xi64>
}

func.func @topk_block(
    %scores: tensor<?x?xf16> {dsv4.name = "scores", dsv4.dims = ["rows", "columns"]},
    %position: tensor<?xi64> {dsv4.name = "position", dsv4.dims = ["rows"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["rows", "pages"]},
    %indices: tensor<?x100xi64> {dsv4.name = "indices", dsv4.dims = ["rows", ""]},
    %values: tensor<?x100xf32> {dsv4.name = "values", dsv4.dims = ["rows", ""]},
    %slots: tensor<?x100xui32> {dsv4.name = "slots", dsv4.dims = ["rows", ""]})
    -> (tensor<?x100xi64>, tensor<?x100xf32>, tensor<?x100xui32>)
    attributes {dsv4.policies = {columns = #dsv4.policy<bucket>}} {
  %chosen, %best, %where = dsv4.topk %scores lengths(%position : tensor<?xi64>) ratio 4
      pages(%table : tensor<?x?xi32>) page 16
      outs(%indices, %values, %slots : tensor<?x100xi64>, tensor<?x100xf32>, tensor<?x100xui32>)
      : tensor<?x?xf16>
  return %chosen, %best, %where : tensor<?x100xi64>, tensor<?x100xf32>, tensor<?x100xui32>
}

// A router in one kernel, whose indices are i64 or ui32.
func.func @router(%logits: tensor<?x64xf16> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %bias: tensor<64xf32> {dsv4.name = "bias"},
    %experts: tensor<?x6xi64> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xi64>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x64xf16>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %scores = dsv4.gate %logits function sqrt_softplus outs(%row : tensor<?x64xf32>)
      : tensor<?x64xf16>
  %chosen = dsv4.topk %scores bias(%bias : tensor<64xf32>) order sorted
      outs(%experts : tensor<?x6xi64>) : tensor<?x64xf32>
  %shares = dsv4.route_weights %scores[%chosen] renormalize scale 1.5
      outs(%weights : tensor<?x6xf32>) : tensor<?x64xf32>, tensor<?x6xi64>
  return %chosen, %shares : tensor<?x6xi64>, tensor<?x6xf32>
}

func.func @hash_router(%table: tensor<100x6xi64> {dsv4.name = "table"},
    %ids: tensor<?xi64> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %logits: tensor<?x64xf16> {dsv4.name = "logits", dsv4.dims = ["tokens", ""]},
    %experts: tensor<?x6xui32> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x6xui32>, tensor<?x6xf32>) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %logits, %c0 : tensor<?x64xf16>
  %row = tensor.empty(%tokens) : tensor<?x64xf32>
  %found = dsv4.lookup %table[%ids] outs(%experts : tensor<?x6xui32>)
      : tensor<100x6xi64>, tensor<?xi64>
  %scores = dsv4.gate %logits function softmax outs(%row : tensor<?x64xf32>) : tensor<?x64xf16>
  %shares = dsv4.route_weights %scores[%found] outs(%weights : tensor<?x6xf32>)
      : tensor<?x64xf32>, tensor<?x6xui32>
  return %found, %shares : tensor<?x6xui32>, tensor<?x6xf32>
}

// Rows of several vectors per lane, and of one lane.
func.func @lookup(%table: tensor<50x132xi64> {dsv4.name = "table"},
    %small: tensor<50x7xi32> {dsv4.name = "small"},
    %ids: tensor<?xi64> {dsv4.name = "ids", dsv4.dims = ["tokens"]},
    %narrow: tensor<?x132xi32> {dsv4.name = "narrow", dsv4.dims = ["tokens", ""]},
    %same: tensor<?x132xi64> {dsv4.name = "same", dsv4.dims = ["tokens", ""]},
    %wide: tensor<?x7xi64> {dsv4.name = "wide", dsv4.dims = ["tokens", ""]})
    -> (tensor<?x132xi32>, tensor<?x132xi64>, tensor<?x7xi64>) {
  %0 = dsv4.lookup %table[%ids] outs(%narrow : tensor<?x132xi32>)
      : tensor<50x132xi64>, tensor<?xi64>
  %1 = dsv4.lookup %table[%ids] outs(%same : tensor<?x132xi64>)
      : tensor<50x132xi64>, tensor<?xi64>
  %2 = dsv4.lookup %small[%ids] outs(%wide : tensor<?x7xi64>)
      : tensor<50x7xi32>, tensor<?xi64>
  return %0, %1, %2 : tensor<?x132xi32>, tensor<?x132xi64>, tensor<?x7xi64>
}

func.func @weights(%scores: tensor<?x64xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %experts: tensor<?x6xi64> {dsv4.name = "experts", dsv4.dims = ["tokens", ""]},
    %weights: tensor<?x6xf32> {dsv4.name = "weights", dsv4.dims = ["tokens", ""]})
    -> tensor<?x6xf32> {
  %shares = dsv4.route_weights %scores[%experts] renormalize outs(%weights : tensor<?x6xf32>)
      : tensor<?x64xf32>, tensor<?x6xi64>
  return %shares : tensor<?x6xf32>
}

func.func @topk_offsets(
    %scores: tensor<?x64xf32> {dsv4.name = "scores", dsv4.dims = ["rows", ""]},
    %offsets: tensor<?xi64> {dsv4.name = "offsets", dsv4.dims = ["rows"]},
    %chosen: tensor<?x6xi64> {dsv4.name = "chosen", dsv4.dims = ["rows", ""]}) {
  %0 = dsv4.topk %scores offsets(%offsets : tensor<?xi64>) order unordered outs(%chosen : tensor<?x6xi64>)
      : tensor<?x64xf32>
  return
}
