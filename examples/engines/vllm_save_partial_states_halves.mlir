// What: vLLM's save_partial_states(kv, score, ...) with the f32 tensor kv_score, of which its caller takes
// kv and score as halves: the program takes the halves.
// Bytes: equal
// Dims: --dim tokens=37 --dim state_cache.pages=12
// Dims: --dim tokens=0 --dim state_cache.pages=1
// Parameters: window = 4 (2 to 1024), page_size = 4 (1 to 4)
// Uses: tensor<{window}x | cache<{page_size} x

!state = !dsv4.cache<4 x <[<"kv" : 1024 x f32 in row>, <"score" : 1024 x f32 in row>], align 37440>>

func.func @save_partial_states(
    %kv_score: tensor<?x2048xf32> {dsv4.name = "kv_score", dsv4.dims = ["tokens", ""],
                                   dsv4.strides = #dsv4.strides<[?]>},
    %ape: tensor<4x1024xf32> {dsv4.name = "ape"},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %state_cache: !state {dsv4.name = "state_cache"},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %kv_score, %c0 : tensor<?x2048xf32>
  %kv = tensor.extract_slice %kv_score[0, 0] [%tokens, 1024] [1, 1]
      : tensor<?x2048xf32> to tensor<?x1024xf32>
  %score = tensor.extract_slice %kv_score[0, 1024] [%tokens, 1024] [1, 1]
      : tensor<?x2048xf32> to tensor<?x1024xf32>
  %row = tensor.empty(%tokens) : tensor<?x1024xf32>
  %biased = dsv4.add_rows %score bias(%ape : tensor<4x1024xf32>)
      positions(%positions : tensor<?xi64>) outs(%row : tensor<?x1024xf32>) : tensor<?x1024xf32>
  dsv4.paged_append %state_cache[%slot_mapping] unique
      fields(%kv, %biased : tensor<?x1024xf32>, tensor<?x1024xf32>) : !state, tensor<?xi64>
  return
}
