// The cache work of one decode step in a CSA layer, as one program of four kernels:
//
//   1. write the rows of new tokens to the sliding window: norm, rotation, quantisation and store;
//   2. pool windows of four tokens that become complete into entries of the compressed cache;
//   3. keep the projections of the tokens for later windows;
//   4. gather the entries that attention selected as bf16, from pages that 2 has just written.
//
//   dsv4-run examples/decode_step.mlir --random=1 --check --dim tokens=16 --dim entries=16 \
//     --dim requests=16 --dim positions=4096 --dim topk=512 --dim max_pages=16 \
//     --dim window.pages=32 --dim state.pages=16 --dim cache.pages=256

!window = !dsv4.cache<64 x #dsv4.record<v4_584>>
!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!state = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @decode_step(
    %kv: tensor<?x512xbf16> {dsv4.name = "kv", dsv4.dims = ["tokens", ""]},
    %values: tensor<?x1024xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x1024xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %entry_position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["entries"]},
    %entry_slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["entries"]},
    %bias: tensor<4x1024xf32> {dsv4.name = "bias"},
    %kv_weight: tensor<512xbf16> {dsv4.name = "kv_weight"},
    %entry_weight: tensor<512xbf16> {dsv4.name = "entry_weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "angles", dsv4.dims = ["positions", ""]},
    %indices: tensor<?x?xi32> {dsv4.name = "indices", dsv4.dims = ["tokens", "topk"]},
    %table: tensor<?x?xi32> {dsv4.name = "table", dsv4.dims = ["requests", "max_pages"]},
    %window: !window {dsv4.name = "window"},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"},
    %selected: tensor<?x?x512xbf16> {dsv4.name = "selected", dsv4.dims = ["tokens", "topk", ""]},
    %valid: tensor<?x?xi1> {dsv4.name = "valid", dsv4.dims = ["tokens", "topk"]})
    -> (tensor<?x?x512xbf16>, tensor<?x?xi1>)
    attributes {dsv4.policies = {topk = #dsv4.policy<exact>, entries = #dsv4.policy<bucket>}} {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv, %c0 : tensor<?x512xbf16>
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %row = tensor.empty(%tokens) : tensor<?x512xbf16>
  %row_payload = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %row_scales = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>
  %entry = tensor.empty(%entries) : tensor<?x512xbf16>
  %entry_payload = tensor.empty(%entries) : tensor<?x448xf8E4M3FN>
  %entry_scales = tensor.empty(%entries) : tensor<?x7xf8E8M0FNU>

  // The sliding window.
  %normed = dsv4.rms_norm %kv weight(%kv_weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xbf16>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%row_payload, %row_scales : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %window[%position] ring 128
      requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !window, tensor<?xi32>

  // Entries of windows that are complete now.
  %pooled = dsv4.compress %values, %scores window 4 overlap plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<4x1024xf32>) state(%state : !state) ring 8
      outs(%entry : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %normed_entry = dsv4.rms_norm %pooled weight(%entry_weight : tensor<512xbf16>)
      outs(%entry : tensor<?x512xbf16>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %rotated_entry = dsv4.rope %normed_entry table(%angles : tensor<?x64xf32>)
      positions(%entry_position : tensor<?xi32>) outs(%entry : tensor<?x512xbf16>)
      : tensor<?x512xbf16>
  %payload_of_entry, %scales_of_entry = dsv4.quantize %rotated_entry columns [0, 448]
      outs(%entry_payload, %entry_scales : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%entry_slot] unique
      fields(%payload_of_entry, %rotated_entry, %scales_of_entry
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  dsv4.paged_append %state[%position] ring 8
      requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%values, %scores : tensor<?x1024xf32>, tensor<?x1024xf32>) : !state, tensor<?xi32>

  // What attention reads.
  %rows, %is_valid = dsv4.paged_gather %cache[%indices] pages(%table : tensor<?x?xi32>)
      requests(%request : tensor<?xi32>) outs(%selected : tensor<?x?x512xbf16>)
      mask(%valid : tensor<?x?xi1>) : !cache, tensor<?x?xi32>
  return %rows, %is_valid : tensor<?x?x512xbf16>, tensor<?x?xi1>
}
