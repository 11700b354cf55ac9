// What: vLLM's save_partial_states(kv, score, ape, positions, state_cache, slot_mapping,
// block_size=4, state_width, compress_ratio=4): kv and score are views of the halves of one f32
// tensor. A state entry is kv, then score + ape[position mod 4]. Pages are as far apart as those of
// the shared group: 37,440 bytes, or a slab of all layers.
// Bytes: equal
// Dims: --dim tokens=37 --dim state_cache.pages=12
// Dims: --dim tokens=0 --dim state_cache.pages=1
// Dims: --dim tokens=37 --dim state_cache.pages=12 --dim kv.stride.0=2048 --dim score.stride.0=2048 --dim state_cache.stride.0=1315008
// Parameters: window = 4 (2 to 1024), columns = 1024 (1 to 16384), page_size = 4 (1 to 4096)
// Uses: tensor<{window}x{columns}x | cache<{page_size} x | : {columns} x f32 | ?x{columns}x

!state = !dsv4.cache<4 x <[<"kv" : 1024 x f32 in row>, <"score" : 1024 x f32 in row>]>>

func.func @save_partial_states(
    %kv: tensor<?x1024xf32> {dsv4.name = "kv", dsv4.dims = ["tokens", ""],
                             dsv4.strides = #dsv4.strides<[?]>},
    %score: tensor<?x1024xf32> {dsv4.name = "score", dsv4.dims = ["tokens", ""],
                                dsv4.strides = #dsv4.strides<[?]>},
    %ape: tensor<4x1024xf32> {dsv4.name = "ape"},
    %positions: tensor<?xi64> {dsv4.name = "positions", dsv4.dims = ["tokens"]},
    %state_cache: !state {dsv4.name = "state_cache", dsv4.strides = #dsv4.strides<[?]>},
    %slot_mapping: tensor<?xi64> {dsv4.name = "slot_mapping", dsv4.dims = ["tokens"]}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %score, %c0 : tensor<?x1024xf32>
  %row = tensor.empty(%tokens) : tensor<?x1024xf32>
  %biased = dsv4.add_rows %score bias(%ape : tensor<4x1024xf32>)
      positions(%positions : tensor<?xi64>) outs(%row : tensor<?x1024xf32>) : tensor<?x1024xf32>
  dsv4.paged_append %state_cache[%slot_mapping] unique
      fields(%kv, %biased : tensor<?x1024xf32>, tensor<?x1024xf32>) : !state, tensor<?xi64>
  return
}
