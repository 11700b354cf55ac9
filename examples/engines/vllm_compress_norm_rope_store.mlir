// What: vLLM's compress_norm_rope_store_triton, overlapping windows of 4: the plan from the
// positions on the device, all tokens from the paged state, norm, rotation, FP8 and store, in one
// program. save_partial_states has written the state before, with the bias in its scores. Pages of
// both caches may lie in a slab. Besides the operands of the call there are `values` and `scores`
// without rows, and the buffers of the plan.
// Bytes: last bits; exponentials and the order of sums are those of dsv4
// Dims: --dim tokens=65 --dim new=0 --dim requests=8 --dim max_pages=48 --dim positions=160 --dim cache.pages=2 --dim state.pages=400
// Dims: --dim tokens=3 --dim new=0 --dim requests=3 --dim max_pages=8 --dim positions=64 --dim cache.pages=1 --dim state.pages=24
// Dims: --dim tokens=0 --dim new=0 --dim requests=1 --dim max_pages=1 --dim positions=1 --dim cache.pages=1 --dim state.pages=1
// NVRTC: --max-stack=16 sm_90a
// Parameters: window = 4 (2 to 64), page_size = 64 (1 to 4096), state_page_size = 4 (1 to 4096),
//   eps = 1.0e-06 (0.0 to 1.0)
// Uses: window {window} | !cache = !dsv4.cache<{page_size} x |
//   !state = !dsv4.cache<{state_page_size} x | eps = {eps}

!cache = !dsv4.cache<64 x #dsv4.record<v4_584>>
!state = !dsv4.cache<4 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>
#fp8 = #dsv4.format<f8E4M3FN, [<f8E8M0FNU per 64>]>
#recipe = #dsv4.quantizer<floor = 1.0e-04 : f32, limit = reciprocal, rounding = up_pow2>

func.func @compress_norm_rope_store(
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %requests: tensor<?xi32> {dsv4.name = "token_to_req_indices", dsv4.dims = ["tokens"]},
    %slots: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]},
    %state: !state {dsv4.name = "state", dsv4.strides = #dsv4.strides<[?]>},
    %block_table: tensor<?x?xi32> {dsv4.name = "block_table", dsv4.dims = ["requests", "max_pages"],
                                   dsv4.strides = #dsv4.strides<[?], align = 4>},
    %values: tensor<?x1024xf32> {dsv4.name = "values", dsv4.dims = ["new", ""]},
    %scores: tensor<?x1024xf32> {dsv4.name = "scores", dsv4.dims = ["new", ""]},
    %weight: tensor<512xbf16> {dsv4.name = "rms_norm_weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "cos_sin_cache", dsv4.dims = ["positions", ""]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["tokens", ""]},
    %position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["tokens"]},
    %slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["tokens"]},
    %cache: !cache {dsv4.name = "cache", dsv4.strides = #dsv4.strides<[?]>}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %positions, %c0 : tensor<?xi64>
  %row = tensor.empty(%tokens) : tensor<?x512xf32>
  %rounded = tensor.empty(%tokens) : tensor<?x512xbf16>
  %payload_of_row = tensor.empty(%tokens) : tensor<?x448xf8E4M3FN>
  %scales_of_row = tensor.empty(%tokens) : tensor<?x7xf8E8M0FNU>

  %list, %at, %to = dsv4.compress_plan window 4 positions(%positions : tensor<?xi64>)
      requests(%requests : tensor<?xi32>) slots(%slots : tensor<?xi64>)
      outs(%plan, %position, %slot : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  %pooled = dsv4.compress %values, %scores window 4 overlap plan(%list : tensor<?x4xi32>)
      state(%state : !state) pages(%block_table : tensor<?x?xi32>)
      outs(%row : tensor<?x512xf32>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %normed = dsv4.rms_norm %pooled weight(%weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xf32>) {eps = 1.0e-06 : f32} : tensor<?x512xf32>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%at : tensor<?xi32>) outs(%rounded : tensor<?x512xbf16>) : tensor<?x512xf32>
  %payload, %scales = dsv4.quantize %rotated columns [0, 448]
      outs(%payload_of_row, %scales_of_row : tensor<?x448xf8E4M3FN>, tensor<?x7xf8E8M0FNU>)
      {format = #fp8, recipe = #recipe} : tensor<?x512xbf16>
  dsv4.paged_append %cache[%to] unique
      fields(%payload, %rotated, %scales
             : tensor<?x448xf8E4M3FN>, tensor<?x512xbf16>, tensor<?x7xf8E8M0FNU>)
      columns [0, 448, 0] : !cache, tensor<?xi32>
  return
}
