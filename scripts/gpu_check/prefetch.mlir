// A window reduction whose result takes weights and angles that are fetched while the window is.
func.func @compress(
    %values: tensor<?x128xbf16> {dsv4.name = "values", dsv4.dims = ["tokens", ""]},
    %scores: tensor<?x128xbf16> {dsv4.name = "scores", dsv4.dims = ["tokens", ""]},
    %bias: tensor<4x128xf32> {dsv4.name = "bias"},
    %plan: tensor<?x4xi32> {dsv4.name = "plan", dsv4.dims = ["entries", ""]},
    %positions: tensor<?xi32> {dsv4.name = "positions_of", dsv4.dims = ["entries"]},
    %angles: tensor<?x32xbf16> {dsv4.name = "angles", dsv4.dims = ["positions", ""], dsv4.strides = #dsv4.strides<[64], align = 16>},
    %out: tensor<?x128xbf16> {dsv4.name = "out", dsv4.dims = ["entries", ""]}) -> tensor<?x128xbf16> {
  %c0 = arith.constant 0 : index
  %entries = tensor.dim %plan, %c0 : tensor<?x4xi32>
  %a = tensor.empty(%entries) : tensor<?x128xbf16>
  %b = tensor.empty(%entries) : tensor<?x128xf32>
  %0 = dsv4.compress %values, %scores window 4 plan(%plan : tensor<?x4xi32>)
      bias(%bias : tensor<4x128xf32>) outs(%a : tensor<?x128xbf16>) : tensor<?x128xbf16>, tensor<?x128xbf16>
  %1 = dsv4.rms_norm %0 outs(%b : tensor<?x128xf32>) {eps = 1.0e-06 : f32} : tensor<?x128xbf16>
  %2 = dsv4.rope %1 table(%angles : tensor<?x32xbf16>) positions(%positions : tensor<?xi32>)
      outs(%out : tensor<?x128xbf16>) : tensor<?x128xf32>
  return %2 : tensor<?x128xbf16>
}
