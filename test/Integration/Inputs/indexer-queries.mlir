// The indexer from projections to scores: keys and queries are rotated, transformed and quantised,
// and weights are scaled.

#fp4 = #dsv4.format<f4E2M1FN, [<f8E8M0FNU per 32>]>
#fp8 = #dsv4.format<f8E4M3FN, [<f32 per row>]>
#pow2 = #dsv4.quantizer<floor = 7.0529661e-38 : f32, limit = reciprocal, rounding = up_pow2>
#reciprocal = #dsv4.quantizer<floor = 1.0e-04 : f32, payload = reciprocal>

func.func @keys4(
    %x: tensor<?x128xbf16> {dsv4.name = "x", dsv4.dims = ["keys", ""]},
    %table: tensor<?x64xf32> {dsv4.name = "table", dsv4.dims = ["positions", ""]},
    %first: tensor<?xi32> {dsv4.name = "first", dsv4.dims = ["keys"]},
    %k: tensor<?x128xf4E2M1FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?x4xf8E8M0FNU> {dsv4.name = "ks", dsv4.dims = ["keys", ""]})
    -> (tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %keys = tensor.dim %x, %c0 : tensor<?x128xbf16>
  %row = tensor.empty(%keys) : tensor<?x128xf32>
  %rotated = dsv4.rope %x table(%table : tensor<?x64xf32>) interleaved positions(%first : tensor<?xi32>)
      outs(%row : tensor<?x128xf32>) : tensor<?x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%row : tensor<?x128xf32>) {scale = 0.0883883461} : tensor<?x128xf32>
  %0:2 = dsv4.quantize %transformed outs(%k, %ks : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>)
      {format = #fp4, recipe = #pow2} : tensor<?x128xf32>
  return %0#0, %0#1 : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E8M0FNU>
}

func.func @scores4(
    %x: tensor<?x4x128xbf16> {dsv4.name = "x", dsv4.dims = ["rows", "", ""]},
    %weight: tensor<?x4xbf16> {dsv4.name = "weight", dsv4.dims = ["rows", ""]},
    %table: tensor<?x64xf32> {dsv4.name = "table", dsv4.dims = ["positions", ""]},
    %t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %k: tensor<?x128xf4E2M1FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?x4xf8E8M0FNU> {dsv4.name = "ks", dsv4.dims = ["keys", ""]},
    %q: tensor<?x4x128xf4E2M1FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %qs: tensor<?x4x4xf8E8M0FNU> {dsv4.name = "qs", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x4xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]})
    -> (tensor<?x4x128xf4E2M1FN>, tensor<?x4x4xf8E8M0FNU>, tensor<?x4xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x128xbf16>
  %heads = tensor.empty(%rows) : tensor<?x4x128xf32>
  %rotated = dsv4.rope %x table(%table : tensor<?x64xf32>) interleaved positions(%t : tensor<?xi32>)
      outs(%heads : tensor<?x4x128xf32>) : tensor<?x4x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%heads : tensor<?x4x128xf32>) {scale = 0.0883883461} : tensor<?x4x128xf32>
  %payload, %scales = dsv4.quantize %transformed outs(%q, %qs : tensor<?x4x128xf4E2M1FN>, tensor<?x4x4xf8E8M0FNU>)
      {format = #fp4, recipe = #pow2} : tensor<?x4x128xf32>
  %weights = dsv4.scale_weights %weight constants [0.0883883461, 0.5] outs(%w : tensor<?x4xf32>) : tensor<?x4xbf16>
  %scores = dsv4.index_score %payload scales(%scales : tensor<?x4x4xf8E8M0FNU>) weights(%weights : tensor<?x4xf32>)
      keys(%k : tensor<?x128xf4E2M1FN>) key_scales(%ks : tensor<?x4xf8E8M0FNU>) lengths(%t : tensor<?xi32>) ratio 4
      outs(%out : tensor<?x?xf32>) {query_transforms = ["rope", "hadamard"], key_transforms = ["rope", "hadamard"]}
      : tensor<?x4x128xf4E2M1FN>
  return %payload, %scales, %weights, %scores
      : tensor<?x4x128xf4E2M1FN>, tensor<?x4x4xf8E8M0FNU>, tensor<?x4xf32>, tensor<?x?xf32>
}

func.func @keys8(
    %x: tensor<?x128xbf16> {dsv4.name = "x", dsv4.dims = ["keys", ""]},
    %table: tensor<?x64xf32> {dsv4.name = "table", dsv4.dims = ["positions", ""]},
    %first: tensor<?xi32> {dsv4.name = "first", dsv4.dims = ["keys"]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]}) -> (tensor<?x128xf8E4M3FN>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %keys = tensor.dim %x, %c0 : tensor<?x128xbf16>
  %row = tensor.empty(%keys) : tensor<?x128xf32>
  %rotated = dsv4.rope %x table(%table : tensor<?x64xf32>) interleaved positions(%first : tensor<?xi32>)
      outs(%row : tensor<?x128xf32>) : tensor<?x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%row : tensor<?x128xf32>) {scale = 0.0883883461} : tensor<?x128xf32>
  %0:2 = dsv4.quantize %transformed outs(%k, %ks : tensor<?x128xf8E4M3FN>, tensor<?xf32>)
      {format = #fp8, recipe = #reciprocal} : tensor<?x128xf32>
  return %0#0, %0#1 : tensor<?x128xf8E4M3FN>, tensor<?xf32>
}

func.func @scores8(
    %x: tensor<?x4x128xbf16> {dsv4.name = "x", dsv4.dims = ["rows", "", ""]},
    %weight: tensor<?x4xbf16> {dsv4.name = "weight", dsv4.dims = ["rows", ""]},
    %table: tensor<?x64xf32> {dsv4.name = "table", dsv4.dims = ["positions", ""]},
    %t: tensor<?xi32> {dsv4.name = "t", dsv4.dims = ["rows"]},
    %k: tensor<?x128xf8E4M3FN> {dsv4.name = "k", dsv4.dims = ["keys", ""]},
    %ks: tensor<?xf32> {dsv4.name = "ks", dsv4.dims = ["keys"]},
    %q: tensor<?x4x128xf8E4M3FN> {dsv4.name = "q", dsv4.dims = ["rows", "", ""]},
    %w: tensor<?x4xf32> {dsv4.name = "w", dsv4.dims = ["rows", ""]},
    %out: tensor<?x?xf32> {dsv4.name = "out", dsv4.dims = ["rows", "columns"]})
    -> (tensor<?x4x128xf8E4M3FN>, tensor<?x4xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4x128xbf16>
  %heads = tensor.empty(%rows) : tensor<?x4x128xf32>
  %scale = tensor.empty(%rows) : tensor<?x4xf32>
  %rotated = dsv4.rope %x table(%table : tensor<?x64xf32>) interleaved positions(%t : tensor<?xi32>)
      outs(%heads : tensor<?x4x128xf32>) : tensor<?x4x128xbf16>
  %transformed = dsv4.hadamard %rotated outs(%heads : tensor<?x4x128xf32>) {scale = 0.0883883461} : tensor<?x4x128xf32>
  %payload, %scales = dsv4.quantize %transformed outs(%q, %scale : tensor<?x4x128xf8E4M3FN>, tensor<?x4xf32>)
      {format = #fp8, recipe = #reciprocal} : tensor<?x4x128xf32>
  %weights = dsv4.scale_weights %weight scales(%scales : tensor<?x4xf32>) constants [0.0883883461, 0.5]
      outs(%w : tensor<?x4xf32>) : tensor<?x4xbf16>
  %scores = dsv4.index_score %payload weights(%weights : tensor<?x4xf32>) keys(%k : tensor<?x128xf8E4M3FN>)
      key_scales(%ks : tensor<?xf32>) lengths(%t : tensor<?xi32>) ratio 4
      outs(%out : tensor<?x?xf32>) {query_transforms = ["rope", "hadamard"], key_transforms = ["rope", "hadamard"]}
      : tensor<?x4x128xf8E4M3FN>
  return %payload, %weights, %scores : tensor<?x4x128xf8E4M3FN>, tensor<?x4xf32>, tensor<?x?xf32>
}
