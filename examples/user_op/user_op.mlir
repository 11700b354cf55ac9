// Keeps the tokens of CSA's compressor (m = 4, overlapping) in the state: their projections, and
// their scores with the bias of their position in the window, so that dsv4.compress reads the state
// as `biased`. user.add_window_bias belongs to a dialect outside of dsv4. Still the chain is one
// kernel, and the biased scores are only in the state.
//
//   dsv4-example-user-op --cuda examples/user_op/user_op.mlir

!state = !dsv4.cache<8 x <[<"values" : 1024 x f32 in row>, <"scores" : 1024 x f32 in row>]>>

func.func @keep_biased(
    %values: tensor<?x1024xf32> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x1024xf32> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<4x1024xf32> {dsv4.name = "bias"},
    %position: tensor<?xi32> {dsv4.name = "position", dsv4.dims = ["tokens"]},
    %request: tensor<?xi32> {dsv4.name = "request", dsv4.dims = ["tokens"]},
    %length: tensor<?xi32> {dsv4.name = "length", dsv4.dims = ["requests"]},
    %state: !state {dsv4.name = "state"}) {
  %c0 = arith.constant 0 : index
  %tokens = tensor.dim %scores, %c0 : tensor<?x1024xf32>
  %row = tensor.empty(%tokens) : tensor<?x1024xf32>
  %biased = user.add_window_bias %scores bias(%bias : tensor<4x1024xf32>)
      positions(%position : tensor<?xi32>) outs(%row : tensor<?x1024xf32>) : tensor<?x1024xf32>
  dsv4.paged_append %state[%position] ring 8
      requests(%request : tensor<?xi32>) lengths(%length : tensor<?xi32>)
      fields(%values, %biased : tensor<?x1024xf32>, tensor<?x1024xf32>) : !state, tensor<?xi32>
  return
}
