func.func @f(%x: tensor<?x65535xbf16> {dsv4.name = "x", dsv4.dims = ["r", ""]}, %w: tensor<65535xbf16> {dsv4.name = "w", dsv4.dims = [""]}, %o: tensor<?x65535xbf16> {dsv4.name = "o", dsv4.dims = ["r", ""]}) -> tensor<?x65535xbf16> {
%y = dsv4.rms_norm %x weight(%w : tensor<65535xbf16>) outs(%o : tensor<?x65535xbf16>) {eps = 1.0e-6 : f32} : tensor<?x65535xbf16>
return %y : tensor<?x65535xbf16>
}
