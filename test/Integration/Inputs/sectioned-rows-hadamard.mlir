func.func @f(%x: tensor<?x65536xbf16> {dsv4.name = "x", dsv4.dims = ["r", ""]}, %o: tensor<?x65536xbf16> {dsv4.name = "o", dsv4.dims = ["r", ""]}) -> tensor<?x65536xbf16> {
%y = dsv4.hadamard %x outs(%o : tensor<?x65536xbf16>) {scale = 1.0 : f32} : tensor<?x65536xbf16>
return %y : tensor<?x65536xbf16>
}
