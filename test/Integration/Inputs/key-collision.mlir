// The second entry has the first one's name and dim in its own name.
func.func @f(%x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["r", ""]},
             %w: tensor<64xbf16> {dsv4.name = "w"},
             %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["r", ""]})
    -> tensor<?x64xbf16>
    attributes {dsv4.policies = {r = #dsv4.policy<exact>}} {
  %v = dsv4.rms_norm %x weight(%w : tensor<64xbf16>) outs(%o : tensor<?x64xbf16>)
      {eps = 1.0e-06 : f32} : tensor<?x64xbf16>
  return %v : tensor<?x64xbf16>
}
func.func @"f\0Adim r 3"(
             %x: tensor<?x64xbf16> {dsv4.name = "x", dsv4.dims = ["r", ""]},
             %w: tensor<64xbf16> {dsv4.name = "w"},
             %o: tensor<?x64xbf16> {dsv4.name = "o", dsv4.dims = ["r", ""]})
    -> tensor<?x64xbf16> {
  %v = dsv4.rms_norm %x weight(%w : tensor<64xbf16>) outs(%o : tensor<?x64xbf16>)
      {eps = 1.0 : f32} : tensor<?x64xbf16>
  return %v : tensor<?x64xbf16>
}
