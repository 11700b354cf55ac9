// What: SGLang's compress_forward(is_online=True) and compress_norm_rope_store (rows of bf16) in one
// program. The segments are made on the device from lengths, cu_seq_lens and the number of windows
// that each request touches. The state is two entries per request that take turns, so a graph can
// be replayed. As there, rows are f32 up to the store.
// Bytes: last bits; exponentials and the order of sums are those of dsv4
// Dims: --dim tokens=300 --dim segments=24 --dim requests=9 --dim starts=10 --dim positions=900 --dim cache.pages=9 --dim state.pages=24 --dim max_pages=1
// Dims: --dim tokens=5 --dim segments=5 --dim requests=5 --dim starts=6 --dim positions=900 --dim cache.pages=5 --dim state.pages=10 --dim max_pages=1
// Dims: --dim tokens=0 --dim segments=3 --dim requests=1 --dim starts=2 --dim positions=900 --dim cache.pages=1 --dim state.pages=2 --dim max_pages=1
// Parameters: window = 128 (2 to 1024), page_size = 2 (1 to 4096), eps = 1.0e-06 (0.0 to 1.0)
// Uses: window {window} | tensor<{window}x | !cache = !dsv4.cache<{page_size} x |
//   page {page_size} | eps = {eps}

!cache = !dsv4.cache<2 x <[<"kv" : 512 x bf16 in row>]>>
!state = !dsv4.cache<1 x <[<"max" : 512 x f32 in row>, <"sum" : 512 x f32 in row>,
                           <"kv" : 512 x f32 in row>]>>

func.func @compress_forward_online(
    %values: tensor<?x512xf32> {dsv4.name = "kv", dsv4.dims = ["tokens", ""],
                                dsv4.strides = #dsv4.strides<[?]>},
    %scores: tensor<?x512xf32> {dsv4.name = "score", dsv4.dims = ["tokens", ""],
                                dsv4.strides = #dsv4.strides<[?]>},
    %bias: tensor<128x512xf32> {dsv4.name = "ape"},
    %lengths: tensor<?xi32> {dsv4.name = "seq_lens", dsv4.dims = ["requests"]},
    %starts: tensor<?xi32> {dsv4.name = "extend_start_loc", dsv4.dims = ["starts"]},
    %first: tensor<?xi32> {dsv4.name = "first_segment", dsv4.dims = ["starts"]},
    %from: tensor<?xi32> {dsv4.name = "state_before", dsv4.dims = ["requests"]},
    %to: tensor<?xi32> {dsv4.name = "state_after", dsv4.dims = ["requests"]},
    %table: tensor<?x?xi32> {dsv4.name = "page_table", dsv4.dims = ["requests", "max_pages"]},
    %weight: tensor<512xbf16> {dsv4.name = "norm_weight"},
    %angles: tensor<?x64xf32> {dsv4.name = "freqs", dsv4.dims = ["positions", ""]},
    %plan: tensor<?x5xi32> {dsv4.name = "plan", dsv4.dims = ["segments", ""]},
    %position: tensor<?xi32> {dsv4.name = "entry_position", dsv4.dims = ["segments"]},
    %slot: tensor<?xi32> {dsv4.name = "entry_slot", dsv4.dims = ["segments"]},
    %state: !state {dsv4.name = "state"},
    %cache: !cache {dsv4.name = "cache"}) {
  %c0 = arith.constant 0 : index
  %segments = tensor.dim %plan, %c0 : tensor<?x5xi32>
  %row = tensor.empty(%segments) : tensor<?x512xf32>
  %stored = tensor.empty(%segments) : tensor<?x512xbf16>

  %list, %at, %where = dsv4.compress_plan window 128 algorithm online
      lengths(%lengths : tensor<?xi32>) starts(%starts : tensor<?xi32>)
      entry_starts(%first : tensor<?xi32>) from(%from : tensor<?xi32>) to(%to : tensor<?xi32>)
      pages(%table : tensor<?x?xi32>) page 2
      outs(%plan, %position, %slot : tensor<?x5xi32>, tensor<?xi32>, tensor<?xi32>)
  %pooled = dsv4.compress %values, %scores window 128 algorithm online
      plan(%list : tensor<?x5xi32>) bias(%bias : tensor<128x512xf32>) state(%state : !state)
      outs(%row : tensor<?x512xf32>) : tensor<?x512xf32>, tensor<?x512xf32>
  %normed = dsv4.rms_norm %pooled weight(%weight : tensor<512xbf16>)
      outs(%row : tensor<?x512xf32>) {eps = 1.0e-06 : f32} : tensor<?x512xf32>
  %rotated = dsv4.rope %normed table(%angles : tensor<?x64xf32>)
      positions(%at : tensor<?xi32>) outs(%stored : tensor<?x512xbf16>) : tensor<?x512xf32>
  dsv4.paged_append %cache[%where] unique fields(%rotated : tensor<?x512xbf16>)
      : !cache, tensor<?xi32>
  return
}
