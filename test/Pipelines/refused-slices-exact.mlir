// RUN: dsv4-opt %s --verify-diagnostics --dsv4-specialize="dims=exact=6"

// Beyond the argument, once its extent is known.
func.func @beyond(%x: tensor<?x512xbf16> {dsv4.name = "x", dsv4.dims = ["exact", ""]}, %o: tensor<4x512xbf16>) -> tensor<4x512xbf16>
    attributes {dsv4.policies = {exact = #dsv4.policy<exact>}} {
  // expected-error @+1 {{'tensor.extract_slice' op takes a slice of argument 'x' that begins at 3 and has 4 elements along axis 0, expected an end of at most 6: take fewer elements, or pass a larger argument}}
  %s = tensor.extract_slice %x[3, 0] [4, 512] [1, 1] : tensor<?x512xbf16> to tensor<4x512xbf16>
  %r = dsv4.rms_norm %s outs(%o : tensor<4x512xbf16>) {eps = 1.0e-06 : f32} : tensor<4x512xbf16>
  return %r : tensor<4x512xbf16>
}
