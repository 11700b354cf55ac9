// What: TensorRT-LLM's compressor_paged_kv_compress and compressor_postprocess_scatter (rows of
// bf16, cache_scale_type 0) in one program: entries by cu_kv_comp, tokens by cu_seq_lens, the plan
// and the slots made on the device. Values and scores of the state are in two paged arrays, which
// have a table each; position and request of a token are operands of the appends. The step's tokens
// are kept afterwards, so a window may also be in both. As there, entries are bf16 between the two
// calls, and f32 from the norm to the store.
// Bytes: last bits; exponentials and the order of sums are those of dsv4
// NVRTC: --max-stack=96 sm_90a
// Dims: --dim tokens=300 --dim entries=90 --dim requests=8 --dim starts=9 --dim max_pages=16 --dim max_score_pages=14 --dim max_blocks=3 --dim positions=320 --dim cache.pages=24 --dim paged_kv.pages=128 --dim paged_score.pages=112
// Dims: --dim tokens=4 --dim entries=4 --dim requests=4 --dim starts=5 --dim max_pages=8 --dim max_score_pages=9 --dim max_blocks=2 --dim positions=64 --dim cache.pages=8 --dim paged_kv.pages=32 --dim paged_score.pages=40
// Dims: --dim tokens=4 --dim entries=0 --dim requests=4 --dim starts=5 --dim max_pages=8 --dim max_score_pages=9 --dim max_blocks=2 --dim positions=64 --dim cache.pages=8 --dim paged_kv.pages=32 --dim paged_score.pages=40
// Parameters: window = 4 (2 to 64), page_size = 32 (1 to 4096), state_page_size = 8 (1 to 4096),
//   eps = 1.0e-06 (0.0 to 1.0)
// Uses: window {window} | tensor<{window}x | !cache = !dsv4.cache<{page_size} x |
//    page {page_size} | state = !dsv4.cache<{state_page_size} x | eps = {eps}

!cache = !dsv4.cache<32 x <[<"kv" : 512 x bf16 in row>]>>
!kv_state = !dsv4.cache<8 x <[<"kv" : 1024 x f32 in row>]>>
!score_state = !dsv4.cache<8 x <[<"score" : 1024 x f32 in row>]>>

func.func @compressor_paged_kv_compress(
    %values: tensor<?x1024xf32> {dsv4.name = "kv", dsv4.dims = ["tokens", ""],
                                 dsv4.strides = #dsv4.strides<[?]>},
    %scores: tensor<?x1024xf32> {dsv4.name = "score", dsv4.dims = ["tokens", ""],
                                 dsv4.strides = #dsv4.strides<[?]>},
    %bias: tensor<4x1024xf32> {dsv4.name = "ape"},
    %paged_kv: !kv_state {dsv4.name = "paged_kv"},
    %paged_score: !score_state {dsv4.name = "paged_score"},
    %block_table_kv: tensor<?x?xi32> {dsv4.name = "block_table_kv", dsv4.dims = ["requests", "max_pages"]},
    %block_table_score: tensor<?x?xi32> {dsv4.name = "block_table_score", dsv4.dims = ["requests", "max_score_pages"]},
    %lengths: tensor<?xi32> {dsv4.name = "kv_lens", dsv4.dims = ["requests"]},
    %starts: tensor<?xi32> {dsv4.name = "cu_seq_lens", dsv4.dims = ["starts"]},
    %entry_starts: tensor<?xi32> {dsv4.name = "cu_kv_comp", dsv4.dims = ["starts"]},
    %weight: tensor<512xbf16> {dsv4.name = "rms_weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "cos_sin_table", dsv4.dims = ["positions", ""]},
    %block_offsets: tensor<?x?xi32> {dsv4.name = "block_offsets", dsv4.dims = ["requests", "max_blocks"]},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %token_position: tensor<?xi32> {dsv4.name = "token_position", dsv4.dims = ["tokens"]},
    %token_request: tensor<?xi32> {dsv4.name = "token_request", dsv4.dims = ["tokens"]},
    %position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["entries"]},
    %slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["entries"]},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %row = tensor.empty(%entries) : tensor<?x512xbf16>
  %wide = tensor.empty(%entries) : tensor<?x512xf32>

  %list, %at, %to = dsv4.compress_plan window 4 lengths(%lengths : tensor<?xi32>)
      starts(%starts : tensor<?xi32>) entry_starts(%entry_starts : tensor<?xi32>)
      pages(%block_offsets : tensor<?x?xi32>) page 32
      outs(%plan, %position, %slot : tensor<?x4xi32>, tensor<?xi32>, tensor<?xi32>)
  %pooled = dsv4.compress %values, %scores window 4 overlap plan(%list : tensor<?x4xi32>)
      bias(%bias : tensor<4x1024xf32>)
      state(%paged_kv : !kv_state) pages(%block_table_kv : tensor<?x?xi32>)
      score_state(%paged_score : !score_state) score_pages(%block_table_score : tensor<?x?xi32>)
      outs(%row : tensor<?x512xbf16>) : tensor<?x1024xf32>, tensor<?x1024xf32>
  %normed = dsv4.rms_norm %pooled weight(%weight : tensor<512xbf16>)
      outs(%wide : tensor<?x512xf32>) {eps = 1.0e-06 : f32} : tensor<?x512xbf16>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%at : tensor<?xi32>) outs(%row : tensor<?x512xbf16>) : tensor<?x512xf32>
  dsv4.paged_append %cache[%to] unique fields(%rotated : tensor<?x512xbf16>)
      : !cache, tensor<?xi32>
  dsv4.paged_append %paged_kv[%token_position] unique requests(%token_request : tensor<?xi32>)
      pages(%block_table_kv : tensor<?x?xi32>)
      fields(%values : tensor<?x1024xf32>) : !kv_state, tensor<?xi32>
  dsv4.paged_append %paged_score[%token_position] unique requests(%token_request : tensor<?xi32>)
      pages(%block_table_score : tensor<?x?xi32>)
      fields(%scores : tensor<?x1024xf32>) : !score_state, tensor<?xi32>
  return
}
